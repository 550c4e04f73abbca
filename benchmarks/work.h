/* SPDX-License-Identifier: MIT
 *
 * Work whose cost is known: iterations of a loop that compute, or sleep, for as long as their place in the loop says.
 *
 * Computing: a chain of dependent floating point operations, so that a step costs the same on every core and in every
 * binary: nothing to vectorise, nothing to hoist, no memory traffic. Sleeping: for more ranks than the machine has
 * cores; whatever such a program prints is to be called "sleeping work".
 *
 * Every execution adds to its iteration's cell, so that a lost, a doubled and a wrong one all show in the end.
 */
#ifndef WS_BENCH_WORK_H
#define WS_BENCH_WORK_H

#include "bench.h"

#include <stdint.h>

struct cell {
    double sum;
    uint64_t runs;
};

/* How the cost of an iteration depends on its place. The mean is 1. */
enum shape { RISING, FALLING, FLAT, RANDOM, STEEP, SHAPES };
static const char *const shape_names[SHAPES] = { "rising", "falling", "flat", "random", "steep" };

struct work {
    long iterations;            /* of all ranks together */
    enum shape shape;
    long steps;                 /* inner steps of all iterations together */
    double sleep;               /* sleeping: seconds of all iterations together; else 0 */
    bool by_hand;               /* slices of equal cost, as one would cut them who knows what each iteration costs */
    long first, end;            /* this rank's slice */
    struct cell *mine;          /* its cells, from `first` on */
    struct cell *serial;        /* rank 0: the cells of a serial run of all iterations */
};

static inline double work_weight(const struct work *w, long i)
{
    double n = (double) w->iterations;
    switch (w->shape) {
    case RISING:
        return 2.0 * (double) (i + 1) / (n + 1.0);
    case FALLING:
        return 2.0 * (n - (double) i) / (n + 1.0);
    case STEEP: {               /* 61 % in the first 2 %, as triangle counting has it on a Kronecker graph */
        double head = 0.02 * n < 1.0 ? 1.0 : (double) (long) (0.02 * n);
        return (double) i < head ? 0.61 * n / head : n > head ? 0.39 * n / (n - head) : 1.0;
    }
    case RANDOM: {              /* splitmix64's finish */
        uint64_t x = ((uint64_t) i + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return 2.0 * (double) ((x ^ (x >> 31)) >> 11) * 0x1p-53;
    }
    default:
        return 1.0;
    }
}

static inline double work_chain(double x, long steps)
{
    for (long j = 0; j < steps; j++)
        x = x * 0.999999 + 0.5; /* affine: a logistic map ran at two speeds, 1.8 times apart, for no visible cause */
    return x;
}

/* A core begins the next chain while it still computes this one. In a short iteration that is much of the time, and how
 * much it gains varies from run to run: without it the work is the sum of its steps. */
static inline void work_wait_for_result(double x)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
    (void) x;
#else
    __asm__ volatile("" :: "r"(x == 0.0) : "memory");
#endif
}

/* What a thread's sleeps lasted too long. Built with -DWORK_SLEEPS_TOGETHER a program has no thread-local variables,
 * for which its parallel regions would not be shared: then it is that of all threads. */
#ifdef WORK_SLEEPS_TOGETHER
#define WORK_DEBT static
#else
#define WORK_DEBT static __thread
#endif

/* Sleeps end when they are to, in all threads that the process begins from here on. Not by prctl(): a program that
 * calls it shares no regions of OpenMP's. */
__attribute__((constructor)) static inline void work_exact_sleeps(void)
{
    FILE *file = fopen("/proc/self/timerslack_ns", "w");
    if (file) {
        fputs("1", file);
        fclose(file);
    }
}

/* Sleeps so that the sleeps add up: what one lasted too long, as there are fewer cores than threads to be woken, the
 * next is shorter. */
static inline void work_sleep(double seconds)
{
    WORK_DEBT int64_t debt;     /* nanoseconds; relaxed: it counts, and no more */
    const double begin = bench_now();
    const double wanted = seconds - (double) __atomic_exchange_n(&debt, 0, __ATOMIC_RELAXED) * 1e-9;
    if (wanted > 0) {
        const struct timespec nap = { (time_t) wanted, (long) ((wanted - (double) (time_t) wanted) * 1e9) };
        nanosleep(&nap, NULL);
    }
    __atomic_fetch_add(&debt, (int64_t) ((bench_now() - begin - wanted) * 1e9), __ATOMIC_RELAXED);
}

/* Not inlined: the serial loop, the plain loop and the shared loop run the very same instructions. */
__attribute__((noinline))
static void work_iteration(const struct work *w, long i, struct cell *cell)
{
    double share = work_weight(w, i) / (double) w->iterations;
    double x = work_chain((double) (i + 1) / (double) (w->iterations + 1), (long) ((double) w->steps * share));
    work_wait_for_result(x);
    if (w->sleep > 0)
        work_sleep(w->sleep * share);
    cell->sum += x;
    cell->runs++;
}

/* Makes cells whose values are known to be right, on rank 0. It does not sleep, as sleeping changes no cell. */
static void work_serial(void *context)
{
    struct work awake = *(const struct work *) context;
    awake.sleep = 0;
    for (long i = 0; i < awake.iterations; i++)
        work_iteration(&awake, i, &awake.serial[i]);
}

/* Rank r's first iteration; `owners` ranks share the loop in equal counts, or by hand, the others have none. */
static inline long work_slice(const struct work *w, long owners, long r)
{
    if (r >= owners)
        return w->iterations;
    if (!w->by_hand)
        return w->iterations * r / owners;
    double all = 0, before = 0;
    for (long i = 0; i < w->iterations; i++)
        all += work_weight(w, i);
    long first = 0;             /* the cut that is nearest to an equal share */
    while (first < w->iterations && before + work_weight(w, first) / 2 < all * (double) r / (double) owners)
        before += work_weight(w, first++);
    return first;
}

static inline void work_allocate(struct work *w, long owners)
{
    w->first = work_slice(w, owners, bench_rank);
    w->end = work_slice(w, owners, bench_rank + 1);
    w->mine = (struct cell *) calloc((size_t) (w->end - w->first) + 1, sizeof(struct cell));
    w->serial = bench_rank ? NULL : (struct cell *) calloc((size_t) w->iterations, sizeof(struct cell));
}

/* Inner steps with which the serial loop takes `seconds`: measured on rank 0 and the same on all ranks. The best of
 * many runs counts, as only disturbances can make one longer. */
static inline long work_calibrate(struct work *w, double seconds)
{
    long steps = (long) (seconds * 5e8) + 1;    /* a guess, corrected by what it takes */
    if (bench_rank == 0) {
        for (int round = 0; round < 3; round++) {
            w->steps = steps;
            double best = 1e9, begin = bench_now();
            for (int r = 0; r < 100 && (r < 3 || bench_now() - begin < 0.1); r++) {
                double start = bench_now();
                work_serial(w);
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

/* How long the loop takes at least, as a share of its work, if `cores` take whole iterations in rising order, each the
 * next when it is free: what `dynamic` with chunks of 1 would need if claims cost nothing. */
static inline double work_in_order(const struct work *w, long cores)
{
    double *busy = (double *) calloc((size_t) cores, sizeof(double)), sum = 0, last = 0;
    for (long i = 0; i < w->iterations; i++) {
        long k = 0;
        for (long c = 1; c < cores; c++)
            k = busy[c] < busy[k] ? c : k;
        double cost = work_weight(w, i);
        busy[k] += cost;
        sum += cost;
        last = busy[k] > last ? busy[k] : last;
    }
    free(busy);
    return last / sum;
}

/* Collects all cells on rank 0 and compares them with serial ones; all ranks get the answer. */
static inline void work_check(const struct work *w, const char *program, long owners, long executions,
                              long serial_executions)
{
    MPI_Datatype cell_type;
    MPI_Type_contiguous(sizeof(struct cell), MPI_BYTE, &cell_type);
    MPI_Type_commit(&cell_type);
    int *counts = (int *) malloc(sizeof(int) * (size_t) bench_ranks),
        *offsets = (int *) malloc(sizeof(int) * (size_t) bench_ranks);
    for (int r = 0; r < bench_ranks; r++) {
        offsets[r] = (int) work_slice(w, owners, r);
        counts[r] = (int) work_slice(w, owners, r + 1) - offsets[r];
    }
    struct cell *all = bench_rank ? NULL : (struct cell *) malloc(sizeof(struct cell) * (size_t) w->iterations);
    MPI_Gatherv(w->mine, (int) (w->end - w->first), cell_type, all, counts, offsets, cell_type, 0, MPI_COMM_WORLD);
    long wrong = -1;
    char what[160] = "";
    if (bench_rank == 0) {
        struct work awake = *w;
        awake.sleep = 0;
        for (long i = 0; i < w->iterations && serial_executions < executions; i++) {
            struct cell once = { 0, 0 };    /* the same value each time: computed once, added as often as it was */
            work_iteration(&awake, i, &once);
            for (long e = serial_executions; e < executions; e++)
                w->serial[i].sum += once.sum;
        }
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

#endif
