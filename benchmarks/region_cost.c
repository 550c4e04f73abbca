/* SPDX-License-Identifier: MIT
 *
 * What it costs to open and close a region that nobody helps: rank 0 runs a tiny `ws for` millions of times while
 * the other ranks sleep, but not in MPI; the same loop without the directive is subtracted. Built with
 * -DWITH_WS_FOR the loop is one of ws_for instead, and as C++ one of ws::for_each.
 */
#include "bench.h"

#ifdef __cplusplus
#include <workshare/ws.hpp>
#elif defined(WITH_WS_FOR)
#include <workshare/ws.h>
#endif

enum { BATCH = 2000 };

static volatile long tiny = 4;          /* iterations; volatile: neither loop is unrolled away */
static long cells[64];

/* One iteration's work: out of line, as it is for both loops, so that only the region differs. */
__attribute__((noinline)) static void touch(long i)
{
    cells[i]++;
}

#ifdef WITH_WS_FOR
static void touch_all(int64_t lo, int64_t hi, void *context)
{
    (void) context;
    for (int64_t i = lo; i < hi; i++)
        touch(i);
}
#endif

__attribute__((noinline)) static void shared_loop(void)
{
    long n = tiny;
#if defined(__cplusplus)
    ws::for_each(0, n, [](long i) { touch(i); });
#elif defined(WITH_WS_FOR)
    if (ws_for(0, n, touch_all, NULL, NULL) != 0)
        abort();
#else
#pragma ws for
    for (long i = 0; i < n; i++)
        touch(i);
#endif
}

__attribute__((noinline)) static void plain_loop(void)
{
    long n = tiny;
    for (long i = 0; i < n; i++)
        touch(i);
}

/* Seconds one call takes, over a batch. */
static double per_call(void (*loop)(void))
{
    double begin = bench_now();
    for (int i = 0; i < BATCH; i++)
        loop();
    return (bench_now() - begin) / BATCH;
}

static void usage(void)
{
    if (bench_rank == 0)
        printf("region_cost: opening and closing a region with no thief\n"
               "  --repeats R     batches of %d regions (1000)\n"
               "  --iterations N  of the tiny loop (4)\n"
               "  --json          one JSON object instead of text\n", BATCH);
}

int main(int argc, char **argv)
{
    enum { REPEATS = 1, ITERATIONS, JSON, HELP };
    static const struct option options[] = {
        { "repeats", required_argument, 0, REPEATS }, { "iterations", required_argument, 0, ITERATIONS },
        { "json", no_argument, 0, JSON }, { "help", no_argument, 0, HELP }, { 0, 0, 0, 0 }
    };
    bench_init(&argc, &argv);
    const char *me = "region_cost";
    long repeats = 1000;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case ITERATIONS: tiny = bench_count(me, "iterations", optarg, 0, 64); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }

    bench_others_sleep();
    long wrong = 0;
    struct bench_times shared = { 0, 0, 0, 0 }, plain = { 0, 0, 0, 0 };
    double open_close = 0;
    if (bench_rank == 0) {
        double *shared_s = (double *) malloc(sizeof(double) * (size_t) repeats);
        double *plain_s = (double *) malloc(sizeof(double) * (size_t) repeats);
        per_call(shared_loop);
        per_call(plain_loop);
        for (long r = 0; r < repeats; r++) {
            shared_s[r] = per_call(shared_loop);
            plain_s[r] = per_call(plain_loop);
        }
        for (long i = 0; i < tiny; i++)
            wrong += cells[i] != 2 * BATCH * (repeats + 1);
        shared = bench_summary(shared_s, repeats);
        plain = bench_summary(plain_s, repeats);
        open_close = shared.median - plain.median;
        free(shared_s);
        free(plain_s);
    }
    bench_others_stop();
    MPI_Bcast(&wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld of %ld iterations did not run once in each region", me, wrong, tiny);

    if (bench_rank == 0 && json)
        printf("{\"program\": \"%s\", \"ranks\": %d, \"repeats\": %ld, \"open_close_ns\": %.2f, \"shared_ns\": %.2f, "
               "\"plain_ns\": %.2f",
               me, bench_ranks, repeats, open_close * 1e9, shared.median * 1e9, plain.median * 1e9);
    else if (bench_rank == 0)
        printf("open + close %.1f ns (loop with region %.1f, plain %.1f; medians of %ld batches of %d)\n",
               open_close * 1e9, shared.median * 1e9, plain.median * 1e9, repeats, BATCH);
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
