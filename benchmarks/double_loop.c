/* SPDX-License-Identifier: MIT
 *
 * The double loop: each rank has a slice of an outer loop whose inner loop grows with the outer index, so the
 * last rank has the most to do and the others wait for it in the barrier.
 *
 * The inner step is a chain of dependent floating point operations, so that it costs the same on every core and
 * in every binary: nothing to vectorise, nothing to hoist, no memory traffic.
 */
#include "bench.h"

#include <stdint.h>

enum { MOST_REPEATS = 1000000 };

/* Every execution adds to its iteration's cell, so both a lost and a doubled one show in the end. */
struct cell {
    double sum;
    uint64_t runs;
};

struct work {
    long iterations;            /* of all ranks together */
    double steps_per_index;     /* triangular: iteration i has (i + 1) * this inner steps */
    long balanced_steps;        /* balanced: every iteration has this many; 0 = triangular */
    long first, end;            /* this rank's slice */
    struct cell *mine;          /* its cells, from `first` on */
    struct cell *serial;        /* rank 0: the cells of a serial run of all iterations */
};

static double chain(double x, long steps)
{
    for (long j = 0; j < steps; j++)
        x = x * 0.999999 + 0.5; /* affine: a logistic map ran at two speeds, 1.8 times apart, for no visible cause */
    return x;
}

/* A core begins the next chain while it still computes this one. In a short iteration that is much of the time, and how
 * much it gains varies from run to run: without it the work is the sum of its steps. */
static inline void wait_for_result(double x)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
    (void) x;
#else
    __asm__ volatile("" :: "r"(x == 0.0) : "memory");
#endif
}

/* Not inlined: the serial loop, the plain loop and the shared loop run the very same instructions. */
__attribute__((noinline))
static void iteration(const struct work *w, long i, struct cell *cell)
{
    long steps = w->balanced_steps ? w->balanced_steps : (long) ((double) (i + 1) * w->steps_per_index);
    double x = chain((double) (i + 1) / (double) (w->iterations + 1), steps);
    wait_for_result(x);
    cell->sum += x;
    cell->runs++;
}

static void run_slice(void *context)
{
    const struct work *w = (const struct work *) context;
    long first = w->first, end = w->end;
#pragma ws for
    for (long i = first; i < end; i++)
        iteration(w, i, &w->mine[i - first]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_serial(void *context)
{
    const struct work *w = (const struct work *) context;
    for (long i = 0; i < w->iterations; i++)
        iteration(w, i, &w->serial[i]);
}

static void set_steps(struct work *w, long steps, bool balanced)
{
    w->steps_per_index = 2.0 * (double) steps / ((double) w->iterations * (double) (w->iterations + 1));
    w->balanced_steps = !balanced ? 0 : steps / w->iterations > 0 ? steps / w->iterations : 1;
}

/* Inner steps with which the serial loop takes `seconds`: measured on rank 0 and the same on all ranks. The best of
 * many runs counts, as only disturbances can make one longer. */
static long calibrate(struct work *w, double seconds, bool balanced)
{
    long steps = (long) (seconds * 5e8) + 1;    /* a guess, corrected by what it takes */
    if (bench_rank == 0) {
        for (int round = 0; round < 3; round++) {
            set_steps(w, steps, balanced);
            double best = 1e9, begin = bench_now();
            for (int r = 0; r < 100 && (r < 3 || bench_now() - begin < 0.1); r++) {
                double start = bench_now();
                run_serial(w);
                double t = bench_now() - start;
                best = t < best ? t : best;
            }
            steps = (long) ((double) steps * seconds / best) + 1;
        }
        memset(w->serial, 0, sizeof *w->serial * (size_t) w->iterations);
    }
    MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return steps;
}

/* Collects all cells on rank 0 and compares them with the serial ones; all ranks get the answer. */
static void check(const struct work *w, const char *program, long executions, long serial_executions)
{
    MPI_Datatype cell_type;
    MPI_Type_contiguous(sizeof(struct cell), MPI_BYTE, &cell_type);
    MPI_Type_commit(&cell_type);
    int *counts = malloc(sizeof(int) * (size_t) bench_ranks), *offsets = malloc(sizeof(int) * (size_t) bench_ranks);
    for (int r = 0; r < bench_ranks; r++) {
        offsets[r] = (int) (w->iterations * r / bench_ranks);
        counts[r] = (int) (w->iterations * (r + 1) / bench_ranks) - offsets[r];
    }
    struct cell *all = bench_rank ? NULL : malloc(sizeof(struct cell) * (size_t) w->iterations);
    MPI_Gatherv(w->mine, (int) (w->end - w->first), cell_type, all, counts, offsets, cell_type, 0, MPI_COMM_WORLD);
    long wrong = -1;
    char what[160] = "";
    if (bench_rank == 0) {
        for (long e = serial_executions; e < executions; e++)
            run_serial((void *) w);
        for (long i = 0; i < w->iterations && wrong < 0; i++) {
            int owner = 0;
            while (offsets[owner] + counts[owner] <= i)
                owner++;
            if (all[i].runs != (uint64_t) executions)
                snprintf(what, sizeof what, "ran %lu times instead of %ld", (unsigned long) all[i].runs, executions);
            else if (memcmp(&all[i].sum, &w->serial[i].sum, sizeof(double)))
                snprintf(what, sizeof what, "gave %.17g instead of %.17g", all[i].sum, w->serial[i].sum);
            else
                continue;
            wrong = i;
            size_t used = strlen(what);
            snprintf(what + used, sizeof what - used, " (rank %d's)", owner);
        }
    }
    MPI_Bcast(&wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Type_free(&cell_type);
    free(counts);
    free(offsets);
    free(all);
    if (wrong >= 0)
        bench_fail(1, "%s: WRONG: iteration %ld %s", program, wrong, what);
}

static void usage(void)
{
    if (bench_rank == 0)
        puts("double_loop: an unbalanced double loop, barrier to barrier\n"
             "  --iterations N  of the outer loop, all ranks together (1000)\n"
             "  --work TIME     of the whole loop on one core, e.g. 450us, 20ms (20ms)\n"
             "  --steps N       the same as a number of inner steps: no calibration, equal work in every run\n"
             "  --balanced      every outer iteration costs the same\n"
             "  --repeats R     timed runs (50)\n"
             "  --warmup W      runs before them (5)\n"
             "  --json          one JSON object instead of text");
}

int main(int argc, char **argv)
{
    enum { ITERATIONS = 1, WORK, STEPS, BALANCED, REPEATS, WARMUP, JSON, HELP };
    static const struct option options[] = {
        { "iterations", required_argument, 0, ITERATIONS }, { "work", required_argument, 0, WORK },
        { "steps", required_argument, 0, STEPS }, { "balanced", no_argument, 0, BALANCED },
        { "repeats", required_argument, 0, REPEATS }, { "warmup", required_argument, 0, WARMUP },
        { "json", no_argument, 0, JSON }, { "help", no_argument, 0, HELP }, { 0, 0, 0, 0 }
    };
    bench_init(&argc, &argv);
    const char *me = "double_loop";
    long iterations = 1000, steps = 0, repeats = 50, warmup = 5;
    double seconds = 20e-3;
    bool balanced = false, json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case ITERATIONS: iterations = bench_count(me, "iterations", optarg, 1, 100000000); break;
        case WORK: seconds = bench_seconds(me, "work", optarg); break;
        case STEPS: steps = bench_count(me, "steps", optarg, 1, 1000000000000); break;
        case BALANCED: balanced = true; break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, MOST_REPEATS); break;
        case WARMUP: warmup = bench_count(me, "warmup", optarg, 0, MOST_REPEATS); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    struct work w = { .iterations = iterations };
    w.first = iterations * bench_rank / bench_ranks;
    w.end = iterations * (bench_rank + 1) / bench_ranks;
    w.mine = calloc((size_t) (w.end - w.first) + 1, sizeof(struct cell));
    w.serial = bench_rank ? NULL : calloc((size_t) iterations, sizeof(struct cell));
    if (!steps)
        steps = calibrate(&w, seconds, balanced);
    set_steps(&w, steps, balanced);

    struct bench_result result = bench_measure(run_slice, run_serial, &w, repeats, warmup);
    check(&w, me, bench_executions(repeats, warmup), repeats);

    if (bench_rank == 0 && json) {
        printf("{\"program\": \"%s\", \"ranks\": %d, \"iterations\": %ld, \"steps\": %ld, \"balanced\": %s, \"repeats\": %ld", me,
               bench_ranks, iterations, steps, balanced ? "true" : "false", repeats);
        bench_json_result(result);
    } else if (bench_rank == 0)
        bench_print_result(result);
    bench_json_end(json);
    free(w.mine);
    free(w.serial);
    MPI_Finalize();
    return 0;
}
