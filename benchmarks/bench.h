/* SPDX-License-Identifier: MIT
 *
 * What all benchmark programs share: options, times, and what they print. For C11 and C++17.
 *
 * Exit status of every program: 0 right, 1 a wrong result or a bad input file, 2 a bad option.
 */
#ifndef WS_BENCH_H
#define WS_BENCH_H

#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int bench_rank, bench_ranks;
static double bench_init_seconds;       /* how long MPI_Init took here */
static int bench_cores;                 /* how many cores a perfect run would use; 0: as many as ranks */
static double bench_loop_left;          /* when this rank had left its loop: set by a body that wants rank_s */

static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static inline void bench_init(int *argc, char ***argv)
{
    double begin = bench_now();
    MPI_Init(argc, argv);
    bench_init_seconds = bench_now() - begin;
    MPI_Comm_rank(MPI_COMM_WORLD, &bench_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench_ranks);
}

/* Ends the program on all ranks; every rank must come here with the same status. Rank 0 prints. */
__attribute__((noreturn, format(printf, 2, 3)))
static inline void bench_fail(int status, const char *format, ...)
{
    if (bench_rank == 0) {
        va_list list;
        va_start(list, format);
        vfprintf(stderr, format, list);
        va_end(list);
        fputc('\n', stderr);
    }
    MPI_Finalize();
    exit(status);
}

/* getopt_long with our messages: one line from one rank, status 2. -1 at the end of the options. */
static inline int bench_option(int argc, char **argv, const struct option *options)
{
    opterr = 0;
    int c = getopt_long(argc, argv, ":", options, NULL);
    if (c == '?')
        bench_fail(2, "%s: unknown option '%s'", argv[0], argv[optind - 1]);
    if (c == ':')
        bench_fail(2, "%s: option '%s' needs a value", argv[0], argv[optind - 1]);
    if (c == -1 && optind < argc)
        bench_fail(2, "%s: unexpected argument '%s'", argv[0], argv[optind]);
    return c;
}

static inline long bench_count(const char *program, const char *name, const char *text, long least, long most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        bench_fail(2, "%s: --%s takes a whole number from %ld to %ld, not '%s'", program, name, least, most, text);
    return value;
}

/* "20ms", "450us", "100ns", "1.5s"; a bare number is microseconds. */
static inline double bench_seconds(const char *program, const char *name, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    double unit = !*end || !strcmp(end, "us") ? 1e-6
                  : !strcmp(end, "ns")        ? 1e-9
                  : !strcmp(end, "ms")        ? 1e-3
                  : !strcmp(end, "s")         ? 1.0
                                              : 0.0;
    if (end == text || !(value * unit > 0) || value * unit > 3600)
        bench_fail(2, "%s: --%s takes a time such as 450us, 20ms or 1.5s, not '%s'", program, name, text);
    return value * unit;
}

struct bench_times {
    double min, median, max, mean;      /* seconds; of the mean, disturbances by others are a part */
};

static int bench_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static inline struct bench_times bench_summary(double *samples, long n)
{
    qsort(samples, (size_t) n, sizeof *samples, bench_compare_doubles);
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += samples[i];
    double median = (samples[(n - 1) / 2] + samples[n / 2]) / 2;
    struct bench_times t = { samples[0], median, samples[n - 1], sum / (double) n };
    return t;
}

/* All ranks leave together, and those that came early sleep: they take no core from the one that works.
 * MPI_Test never lends a core either, so what rank 0 does meanwhile is truly serial. */
static inline void bench_sleep_until_all_came(void)
{
    MPI_Request all;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    while (MPI_Test(&all, &done, MPI_STATUS_IGNORE), !done) {
        struct timespec nap = { 0, 50000 };
        nanosleep(&nap, NULL);
    }
}

/* Rank 0 measures what no thief disturbs, between bench_others_sleep() and bench_others_stop(): the other ranks sleep
 * meanwhile, outside of MPI, and look now and then whether they are to stop; that lends nothing. */
enum { BENCH_STOP_TAG = 1 };

static inline void bench_others_sleep(void)
{
    MPI_Request stop;
    int done = 0;
    MPI_Barrier(MPI_COMM_WORLD);        /* they sleep only when the barrier has let all of them go */
    if (bench_rank == 0)
        return;
    MPI_Irecv(NULL, 0, MPI_BYTE, 0, BENCH_STOP_TAG, MPI_COMM_WORLD, &stop);
    while (MPI_Test(&stop, &done, MPI_STATUS_IGNORE), !done) {
        struct timespec nap = { 0, 5000000 };
        nanosleep(&nap, NULL);
    }
}

static inline void bench_others_stop(void)
{
    if (bench_rank == 0)
        for (int r = 1; r < bench_ranks; r++)
            MPI_Send(NULL, 0, MPI_BYTE, r, BENCH_STOP_TAG, MPI_COMM_WORLD);
}

typedef void (*bench_body) (void *context);

struct bench_result {
    struct bench_times parallel, serial;
    double *rank_s;             /* rank 0: a median per rank, of the seconds until it had left its own loop; or NULL */
};

/* Times `parallel` on all ranks from barrier to barrier (the slowest rank counts; `parallel` ends with its own
 * synchronisation) and `serial` on rank 0 alone. The two alternate in a few blocks, so that a drift of the
 * machine meets both. Each runs `warmup + repeats` times in all, plus `parallel` once at each block's begin, because
 * the other ranks come from sleep there; bench_executions() says how often. `serial` may be NULL. */
enum { BENCH_BLOCKS = 5, BENCH_LEAST_BLOCK = 4 };

static inline long bench_blocks(long repeats)
{
    long blocks = repeats / BENCH_LEAST_BLOCK;
    return blocks < 1 ? 1 : blocks < BENCH_BLOCKS ? blocks : (long) BENCH_BLOCKS;
}

static inline long bench_executions(long repeats, long warmup)
{
    return warmup + repeats + bench_blocks(repeats);
}

static inline struct bench_result bench_measure(bench_body parallel, bench_body serial, void *context, long repeats,
                                                long warmup)
{
    double *parallel_s = (double *) malloc((size_t) repeats * sizeof(double));
    double *serial_s = (double *) malloc((size_t) repeats * sizeof(double));
    double *slowest = (double *) malloc((size_t) repeats * sizeof(double));
    double *left_s = (double *) malloc((size_t) repeats * sizeof(double));
    long blocks = bench_blocks(repeats);
    for (long i = 0; i < warmup; i++)
        parallel(context);
    for (long b = 0; b < blocks; b++) {
        long first = repeats * b / blocks, end = repeats * (b + 1) / blocks;
        if (bench_rank == 0)
            for (long i = first; i < end && serial; i++) {
                double begin = bench_now();
                serial(context);
                serial_s[i] = bench_now() - begin;
            }
        bench_sleep_until_all_came();
        parallel(context);
        for (long i = first; i < end; i++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = bench_now();
            parallel(context);
            parallel_s[i] = bench_now() - begin;
            left_s[i] = bench_loop_left - begin;
        }
    }
    MPI_Reduce(parallel_s, slowest, (int) repeats, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    struct bench_result result = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, NULL };
    if (bench_loop_left > 0) {
        double mine = bench_summary(left_s, repeats).median;
        result.rank_s = (double *) malloc((size_t) bench_ranks * sizeof(double));
        MPI_Gather(&mine, 1, MPI_DOUBLE, result.rank_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    if (bench_rank == 0) {
        result.parallel = bench_summary(slowest, repeats);
        if (serial)
            result.serial = bench_summary(serial_s, repeats);
    }
    free(left_s);
    free(parallel_s);
    free(serial_s);
    free(slowest);
    return result;
}

/* Resident memory now, in KiB: all (Rss), and with shared pages divided among their users (Pss). */
struct bench_memory {
    double rss_kib, pss_kib;
};

static inline struct bench_memory bench_memory_now(void)
{
    struct bench_memory m = { 0, 0 };
    char line[256];
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "Rss: %lf", &m.rss_kib);
        sscanf(line, "Pss: %lf", &m.pss_kib);
    }
    if (f)
        fclose(f);
    return m;
}

static inline void bench_json_times(const char *name, struct bench_times t)
{
    printf(", \"%s\": {\"min\": %.3f, \"median\": %.3f, \"max\": %.3f, \"mean\": %.3f}", name, t.min * 1e6,
           t.median * 1e6, t.max * 1e6, t.mean * 1e6);
}

/* Collective, at the end of a program: what every program's JSON object ends with; the highest rank counts.
 * The object was begun by the caller (rank 0); this closes it. Without `json` nothing is printed. */
static inline void bench_json_end(bool json)
{
    struct bench_memory m = bench_memory_now();
    double mine[3] = { bench_init_seconds * 1e3, m.rss_kib, m.pss_kib }, most[3];
    MPI_Reduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (json && bench_rank == 0)
        printf(", \"init_ms\": %.3f, \"rss_kib\": %.0f, \"pss_kib\": %.0f}\n", most[0], most[1], most[2]);
}

static inline void bench_print_times(const char *what, struct bench_times t)
{
    printf("%-10s min %10.1f  median %10.1f  max %10.1f us\n", what, t.min * 1e6, t.median * 1e6, t.max * 1e6);
}

/* Seconds of the serial run, shared by all cores. */
static inline double bench_perfect(struct bench_result r)
{
    return r.serial.median / (bench_cores ? bench_cores : bench_ranks);
}

static inline void bench_print_result(struct bench_result r)
{
    bench_print_times("parallel", r.parallel);
    if (!(r.serial.median > 0))
        return;
    bench_print_times("serial", r.serial);
    printf("perfect    %.1f us (serial / %d cores); parallel took %.3f times that\n", bench_perfect(r) * 1e6,
           bench_cores ? bench_cores : bench_ranks, r.parallel.median / bench_perfect(r));
}

static inline void bench_json_result(struct bench_result r)
{
    bench_json_times("us", r.parallel);
    bench_json_times("serial_us", r.serial);
    printf(", \"perfect_us\": %.3f", bench_perfect(r) * 1e6);
    for (int k = 0; r.rank_s && k < bench_ranks; k++)
        printf("%s%.1f%s", k ? ", " : ", \"rank_us\": [", r.rank_s[k] * 1e6, k == bench_ranks - 1 ? "]" : "");
}

#endif
