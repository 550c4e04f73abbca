/* SPDX-License-Identifier: MIT
 *
 * What it costs to take a chunk: a loop with next to no body in chunks of 1. Rank 0 runs it, while the other ranks
 * sleep outside of MPI, or with --helped wait in MPI and so help. Built with -fopenmp the loop is OpenMP's, on
 * --threads threads. The figure is the time of the loop divided by its iterations: what all who take chunks achieve
 * together. As several chunks are claimed at once where one takes less than a claim is worth, --steps gives them a
 * body; the figure is then what a chunk takes beyond it, by the same loop without a directive, run in turn.
 */
#include "work.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef _OPENMP
#define IN_CHUNKS _Pragma("omp parallel for schedule(dynamic, 1) reduction(+ : sum)")
#else
#define IN_CHUNKS _Pragma("ws for schedule(dynamic, 1) steal_schedule(dynamic, 1) reduction(+ : sum)")
#endif

static long iterations = 100000, steps;

static long add_all(void)
{
    long sum = 0, n = iterations;
    IN_CHUNKS
    for (long i = 0; i < n; i++)
        sum += i;
    return sum;
}

/* Not inlined: both loops run the very same instructions. */
__attribute__((noinline))
static long worked(long i)
{
    const double x = work_chain((double) i, steps);
    work_wait_for_result(x);
    return i + (x < 0); /* never: but it must be computed */
}

static long work_all(void)
{
    long sum = 0, n = iterations;
    IN_CHUNKS
    for (long i = 0; i < n; i++)
        sum += worked(i);
    return sum;
}

static long work_without(void)
{
    long sum = 0, n = iterations;
    for (long i = 0; i < n; i++)
        sum += worked(i);
    return sum;
}

/* Nanoseconds an iteration. */
static double timed(long (*loop)(void), long *wrong)
{
    double begin = bench_now();
    *wrong += loop() != iterations * (iterations - 1) / 2;
    return (bench_now() - begin) / (double) iterations * 1e9;
}

static void usage(void)
{
    if (bench_rank == 0)
        puts("claim_cost: nanoseconds a chunk of one iteration\n"
             "  --iterations N  of the loop (100000)\n"
             "  --steps S       of a body, dependent, of some 2 ns each (0: none)\n"
             "  --helped        the other ranks wait in MPI, and may help\n"
             "  --threads T     built for OpenMP: its threads (1)\n"
             "  --repeats R     timed runs (100)\n"
             "  --json          one JSON object instead of text");
}

int main(int argc, char **argv)
{
    enum { ITERATIONS = 1, STEPS, HELPED, THREADS, REPEATS, JSON, HELP };
    static const struct option options[] = {
        { "iterations", required_argument, 0, ITERATIONS }, { "steps", required_argument, 0, STEPS },
        { "helped", no_argument, 0, HELPED }, { "threads", required_argument, 0, THREADS },
        { "repeats", required_argument, 0, REPEATS }, { "json", no_argument, 0, JSON },
        { "help", no_argument, 0, HELP }, { 0, 0, 0, 0 }
    };
    bench_init(&argc, &argv);
    const char *me = "claim_cost";
    long repeats = 100, threads = 1;
    bool json = false, helped = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case ITERATIONS: iterations = bench_count(me, "iterations", optarg, 1, 100000000); break;
        case STEPS: steps = bench_count(me, "steps", optarg, 0, 100000000); break;
        case HELPED: helped = true; break;
        case THREADS: threads = bench_count(me, "threads", optarg, 1, 1000); break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
#ifdef _OPENMP
    omp_set_num_threads((int) threads);
#else
    (void) threads;
#endif

    if (!helped)
        bench_others_sleep();
    long wrong = 0;
    struct bench_times chunk = { 0, 0, 0, 0 };
    double least_body = 1e9;    /* nanoseconds */
    if (bench_rank == 0) {
        double *ns = (double *) malloc(sizeof(double) * (size_t) repeats);
        for (long r = -10; r < repeats; r++) {  /* guests and threads are made in the first ones */
            const double body = steps ? timed(work_without, &wrong) : 0,
                         all = timed(steps ? work_all : add_all, &wrong);
            least_body = body < least_body ? body : least_body;
            if (r >= 0)
                ns[r] = all - body;
        }
        chunk = bench_summary(ns, repeats);
        free(ns);
    }
    if (!helped)
        bench_others_stop();
    MPI_Bcast(&wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld of %ld sums", me, wrong, (repeats + 10) * (steps ? 2 : 1));

    if (bench_rank == 0 && json)
        printf("{\"program\": \"%s\", \"ranks\": %d, \"iterations\": %ld, \"steps\": %ld, \"repeats\": %ld, "
               "\"body_ns\": %.3f, \"chunk_ns\": {\"min\": %.3f, \"median\": %.3f, \"max\": %.3f}",
               me, bench_ranks, iterations, steps, repeats, least_body, chunk.min, chunk.median, chunk.max);
    else if (bench_rank == 0)
        printf("a chunk takes %.1f ns (least %.1f, most %.1f; %ld loops of %ld)\n", chunk.median, chunk.min, chunk.max,
               repeats, iterations);
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
