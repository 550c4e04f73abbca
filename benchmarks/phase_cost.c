/* SPDX-License-Identifier: MIT
 *
 * What it costs to begin and to end a named phase: rank 0 does so millions of times, with --names different names in
 * turn, while the other ranks sleep, but not in MPI. The same loop without the calls is subtracted.
 */
#include "bench.h"

#include <workshare/ws.h>

enum { BATCH = 10000, MOST = 16000 };

static char names[MOST][32];
static long count = 1;
static volatile long sink;

__attribute__((noinline)) static void with_phases(void)
{
    for (long i = 0, next = 0; i < BATCH; i++) {
        ws_phase_begin(names[next]);
        sink = next;
        ws_phase_end();
        next = next + 1 == count ? 0 : next + 1;
    }
}

__attribute__((noinline)) static void without(void)
{
    for (long i = 0, next = 0; i < BATCH; i++) {
        sink = next;
        next = next + 1 == count ? 0 : next + 1;
    }
}

/* Seconds of one turn, over a batch. */
static double per_turn(void (*loop)(void))
{
    double begin = bench_now();
    loop();
    return (bench_now() - begin) / BATCH;
}

static void usage(void)
{
    if (bench_rank == 0)
        printf("phase_cost: beginning and ending a named phase\n"
               "  --repeats R  batches of %d phases (200)\n"
               "  --names N    different names, in turn (1)\n"
               "  --json       one JSON object instead of text\n", BATCH);
}

int main(int argc, char **argv)
{
    enum { REPEATS = 1, NAMES, JSON, HELP };
    static const struct option options[] = {
        { "repeats", required_argument, 0, REPEATS }, { "names", required_argument, 0, NAMES },
        { "json", no_argument, 0, JSON }, { "help", no_argument, 0, HELP }, { 0, 0, 0, 0 }
    };
    bench_init(&argc, &argv);
    const char *me = "phase_cost";
    long repeats = 200;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case NAMES: count = bench_count(me, "names", optarg, 1, MOST); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    for (long i = 0; i < count; i++)
        snprintf(names[i], sizeof names[i], "phase %ld", i);

    bench_others_sleep();
    struct bench_times phases = { 0, 0, 0, 0 }, plain = { 0, 0, 0, 0 };
    double each = 0;
    if (bench_rank == 0) {
        double *phases_s = (double *) malloc(sizeof(double) * (size_t) repeats);
        double *plain_s = (double *) malloc(sizeof(double) * (size_t) repeats);
        per_turn(with_phases); /* the rows are made */
        per_turn(with_phases);
        per_turn(without);
        for (long r = 0; r < repeats; r++) {
            phases_s[r] = per_turn(with_phases);
            plain_s[r] = per_turn(without);
        }
        phases = bench_summary(phases_s, repeats);
        plain = bench_summary(plain_s, repeats);
        each = (phases.median - plain.median) / 2;
        free(phases_s);
        free(plain_s);
    }
    bench_others_stop();

    if (bench_rank == 0 && json)
        printf("{\"program\": \"%s\", \"ranks\": %d, \"repeats\": %ld, \"names\": %ld, \"call_ns\": %.2f, "
               "\"phases_ns\": %.2f, \"plain_ns\": %.2f",
               me, bench_ranks, repeats, count, each * 1e9, phases.median * 1e9, plain.median * 1e9);
    else if (bench_rank == 0)
        printf("begin or end %.1f ns, %ld names (loop with phases %.1f, plain %.1f; medians of %ld batches of %d)\n",
               each * 1e9, count, phases.median * 1e9, plain.median * 1e9, repeats, BATCH);
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
