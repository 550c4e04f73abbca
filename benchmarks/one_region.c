/* SPDX-License-Identifier: MIT
 *
 * Shaped like the NAS codes: one parallel region around many loops with barriers between them, a scratch array of each
 * thread's own, single and reductions. Or a region whose threads wait for each other by spinning on flags, a pipeline
 * over the rows; or one of tasks. Rank 0 computes, the others wait: MPI+OpenMP as a compiler makes it, which knows
 * nothing of Workshare.
 *
 * Built with -fws instead of -fopenmp each loop is a ws for, and there is no region around them.
 */
#include "bench.h"

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef _OPENMP
#include <omp.h>
#define REGION PRAGMA(omp parallel)
#define LOOP(...) PRAGMA(omp for __VA_ARGS__)
#define SINGLE PRAGMA(omp single)
#define REGION_OF_LOOP PRAGMA(omp parallel for)
#define HAS_THREADS true
#else
#define REGION
#define LOOP(...) PRAGMA(ws for __VA_ARGS__)
#define SINGLE
#define REGION_OF_LOOP PRAGMA(ws for)
#define HAS_THREADS false
#endif

enum { ROWS = 96, SCRATCH = 256, SHORT_REGIONS = 1000, MOST_REPEATS = 100000 };

static double now_at[ROWS], next_at[ROWS], right[ROWS];
static long sweeps = 10, steps = 500;
static bool on_flags, of_tasks, is_short;

/* `left`: the row before it, which is not always in `a` any more. */
static double row(const double *a, long i, double left, const double *scratch)
{
    double x = a[i] + left * 0.5;
    for (long j = 0; j < steps; j++)
        x = x * 0.999 + scratch[j % SCRATCH];
    return x;
}

static double left_of(const double *a, long i) { return i ? a[i - 1] : 0.25; }

static void fill(double *scratch, long sweep)
{
    for (long i = 0; i < SCRATCH; i++)
        scratch[i] = 1e-3 * (double) (i + sweep);
}

static void many_loops(void)
{
    double largest = 0;
    REGION
    {
        double scratch[SCRATCH];
        for (long s = 0; s < sweeps; s++) {
            fill(scratch, s);
            LOOP()
            for (long i = 0; i < ROWS; i++)
                next_at[i] = row(now_at, i, left_of(now_at, i), scratch);
            LOOP(reduction(max : largest))
            for (long i = 0; i < ROWS; i++)
                largest = next_at[i] > largest ? next_at[i] : largest;
            SINGLE
            largest = largest > 0 ? largest : 1;
            LOOP(schedule(dynamic, 3))
            for (long i = 0; i < ROWS; i++)
                now_at[i] = row(next_at, i, left_of(next_at, i), scratch) / largest;
        }
    }
}

#ifdef _OPENMP
static volatile int *flags; /* how many sweeps each thread has done, and how many it has begun */

static void pipeline(void)
{
    volatile int *const done = flags, *const begun = flags + omp_get_max_threads();
    memset((void *) flags, 0, 2 * (size_t) omp_get_max_threads() * sizeof *flags);
#pragma omp parallel
    {
        double scratch[SCRATCH];
        const int me = omp_get_thread_num(), all = omp_get_num_threads();
        const long first = (long) ROWS * me / all, end = (long) ROWS * (me + 1) / all;
        for (long s = 0; s < sweeps; s++) {
            fill(scratch, s);
            while (me && __atomic_load_n(&done[me - 1], __ATOMIC_ACQUIRE) <= s)
                ; /* what it reads is not there yet */
            double left = left_of(now_at, first);
            __atomic_store_n(&begun[me], (int) s + 1, __ATOMIC_RELEASE);
            while (me + 1 < all && __atomic_load_n(&begun[me + 1], __ATOMIC_ACQUIRE) < s)
                ; /* what it overwrites is still to be read */
            for (long i = first; i < end; i++)
                left = now_at[i] = row(now_at, i, left, scratch);
            __atomic_store_n(&done[me], (int) s + 1, __ATOMIC_RELEASE);
        }
    }
}

/* A task for each row, none of which reads what another writes before all have ended. */
static void many_tasks(void)
{
    static double scratch[SCRATCH];
#pragma omp parallel
#pragma omp single
    for (long s = 0; s < sweeps; s++) {
        fill(scratch, s);
        for (long i = 0; i < ROWS; i++)
#pragma omp task firstprivate(i)
            next_at[i] = row(now_at, i, left_of(now_at, i), scratch);
#pragma omp taskwait
        for (long i = 0; i < ROWS; i++)
#pragma omp task firstprivate(i)
            now_at[i] = row(next_at, i, left_of(next_at, i), scratch);
#pragma omp taskwait
    }
}

static void short_tasks(void)
{
    for (long r = 0; r < SHORT_REGIONS; r++) {
#pragma omp parallel
#pragma omp single
#pragma omp task
        for (long i = 0; i < ROWS; i++)
            now_at[i] = now_at[i] * 0.999 + 1;
    }
}
#else
static void pipeline(void) {} /* their options are refused */
static void many_tasks(void) {}
static void short_tasks(void) {}
#endif

static void short_regions(void)
{
    if (of_tasks) {
        short_tasks();
        return;
    }
    for (long r = 0; r < SHORT_REGIONS; r++) {
        REGION_OF_LOOP
        for (long i = 0; i < ROWS; i++)
            now_at[i] = now_at[i] * 0.999 + 1;
    }
}

static void turn(void *context)
{
    (void) context;
    if (is_short) {
        memset(now_at, 0, sizeof now_at);
        short_regions();
    } else if (bench_rank == 0) {
        for (long i = 0; i < ROWS; i++)
            now_at[i] = (double) i / ROWS;
        on_flags ? pipeline() : of_tasks ? many_tasks() : many_loops();
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void usage(void)
{
    if (bench_rank == 0)
        puts("one_region: one parallel region with many loops, by rank 0; the others wait\n"
             "  --sweeps N   of three loops (10)\n"
             "  --steps N    of computing in each of 96 rows (500)\n"
             "  --flags      its threads wait for each other by spinning instead\n"
             "  --tasks      it has a task for each row instead\n"
             "  --short      1000 regions of one short loop, or task, instead, by each rank\n"
             "  --repeats R  timed regions (50)\n"
             "  --warmup W   regions before them (5)\n"
             "  --json       one JSON object instead of text");
}

int main(int argc, char **argv)
{
    long repeats = 50, warmup = 5;
    bool json = false;
    enum {
        sweeps_option,
        steps_option,
        flags_option,
        tasks_option,
        short_option,
        repeats_option,
        warmup_option,
        json_option,
        help_option
    };
    static const struct option options[] = {{"sweeps", 1, NULL, sweeps_option},   {"steps", 1, NULL, steps_option},
                                            {"flags", 0, NULL, flags_option},     {"repeats", 1, NULL, repeats_option},
                                            {"warmup", 1, NULL, warmup_option},   {"json", 0, NULL, json_option},
                                            {"short", 0, NULL, short_option},     {"tasks", 0, NULL, tasks_option},
                                            {"help", 0, NULL, help_option},       {NULL, 0, NULL, 0}};
#ifdef _OPENMP
    flags = (volatile int *) calloc(2 * (size_t) omp_get_max_threads(), sizeof *flags);
#endif
    bench_init(&argc, &argv);
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case sweeps_option: sweeps = bench_count(argv[0], "sweeps", optarg, 1, 100000); break;
        case steps_option: steps = bench_count(argv[0], "steps", optarg, 1, 100000000); break;
        case flags_option:
            on_flags = HAS_THREADS;
            if (!on_flags)
                bench_fail(2, "one_region: --flags: a ws for has no threads of its own");
            break;
        case tasks_option:
            of_tasks = HAS_THREADS;
            if (!of_tasks)
                bench_fail(2, "one_region: --tasks: there are none of ws for");
            break;
        case short_option: is_short = true; break;
        case repeats_option: repeats = bench_count(argv[0], "repeats", optarg, 1, MOST_REPEATS); break;
        case warmup_option: warmup = bench_count(argv[0], "warmup", optarg, 0, MOST_REPEATS); break;
        case json_option: json = true; break;
        default: usage(); MPI_Finalize(); return 0;
        }
    turn(NULL); /* makes what all others must come to */
    memcpy(right, now_at, sizeof right);
    struct bench_result r = bench_measure(turn, NULL, NULL, repeats, warmup);
    if (memcmp(right, now_at, sizeof right) != 0)
        bench_fail(1, "one_region: WRONG: the last region's result is not the first one's");
    if (bench_rank == 0 && json) {
        printf("{\"program\": \"one_region\", \"ranks\": %d, \"sweeps\": %ld, \"steps\": %ld, \"regions\": %d",
               bench_ranks, sweeps, steps, is_short ? SHORT_REGIONS : 1);
        bench_json_times("us", r.parallel);
    } else if (bench_rank == 0)
        bench_print_times(is_short ? "1000 regions" : on_flags ? "flags" : of_tasks ? "tasks" : "loops", r.parallel);
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
