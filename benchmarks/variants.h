/* SPDX-License-Identifier: MIT
 *
 * Times versions of one computation against each other on rank 0, in short samples that take turns, so that what
 * disturbs the machine meets all alike. A figure is the median of the samples' ratios. For C11 and C++17.
 */
#ifndef WS_BENCH_VARIANTS_H
#define WS_BENCH_VARIANTS_H

#include "bench.h"

enum { VARIANTS_MOST = 6 };

struct variant {
    const char *name;
    void (*run)(void);
};

struct quartiles {
    double low, median, high;
};

static inline struct quartiles quartiles_of(double *values, long n)
{
    qsort(values, (size_t) n, sizeof *values, bench_compare_doubles);
    struct quartiles q = { values[n / 4], (values[(n - 1) / 2] + values[n / 2]) / 2, values[n - 1 - n / 4] };
    return q;
}

/* Prints "WHAT": {"us": {NAME: microseconds of one execution, ...}, "over": {NAME: quartiles of first / NAME, ...}}, or
 * lines of text. A sample is as many executions as take about `sample` seconds. */
static inline void variants_measure(const char *what, const struct variant *v, int variants, long repeats,
                                    double sample, bool json)
{
    double *times[VARIANTS_MOST], *ratios = (double *) malloc((size_t) repeats * sizeof(double));
    struct quartiles over[VARIANTS_MOST];
    double us[VARIANTS_MOST];
    for (int k = 0; k < variants; k++) {
        times[k] = (double *) malloc((size_t) repeats * sizeof(double));
        v[k].run();
    }
    double once = 1e30;         /* seconds; the least of a few, as the machine is not quiet */
    for (int i = 0; i < 5; i++) {
        double begin = bench_now();
        v[variants - 1].run();
        double took = bench_now() - begin;
        once = took < once ? took : once;
    }
    long executions = once > 0 && sample / once > 1 ? (long) (sample / once) : 1;
    for (long r = -2; r < repeats; r++)
        for (int i = 0; i < variants; i++) {
            int k = (int) ((r + 2 + i) % variants);
            double begin = bench_now();
            for (long e = 0; e < executions; e++)
                v[k].run();
            if (r >= 0)
                times[k][r] = (bench_now() - begin) / (double) executions;
        }
    for (int k = 0; k < variants; k++) {
        for (long r = 0; r < repeats; r++)
            ratios[r] = times[0][r] / times[k][r];
        over[k] = quartiles_of(ratios, repeats);
    }
    for (int k = 0; k < variants; k++) {
        us[k] = bench_summary(times[k], repeats).median * 1e6;
        free(times[k]);
    }
    free(ratios);
    if (json) {
        printf(", \"%s\": {\"us\": {", what);
        for (int k = 0; k < variants; k++)
            printf("%s\"%s\": %.4f", k ? ", " : "", v[k].name, us[k]);
        printf("}, \"over\": {");
        for (int k = 1; k < variants; k++)
            printf("%s\"%s\": [%.5f, %.5f, %.5f]", k > 1 ? ", " : "", v[k].name, over[k].low, over[k].median,
                   over[k].high);
        printf("}}");
    } else
        for (int k = 0; k < variants; k++)
            printf("%-10s %-14s %12.3f us   %s / it: %.4f (%.4f .. %.4f)\n", what, v[k].name, us[k], v[0].name,
                   over[k].median, over[k].low, over[k].high);
}

/* Reads --repeats and --json. False after --help, which tells `about` the program, MPI finalized; a bad option ends the
 * program. */
static inline bool variants_options(const char *me, const char *about, int argc, char **argv, long *repeats, bool *json)
{
    enum { REPEATS = 1, JSON, HELP };
    static const struct option options[] = { { "repeats", required_argument, 0, REPEATS },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case REPEATS: *repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case JSON: *json = true; break;
        case HELP:
            if (bench_rank == 0)
                printf("%s: %s\n"
                       "  --repeats R   samples of each (%ld)\n"
                       "  --json        one JSON object instead of text\n",
                       me, about, *repeats);
            MPI_Finalize();
            return false;
        }
    return true;
}

/* A loop in several versions, all of which write `bytes` at `result`: what the last one writes is right. */
struct variant_loop {
    const char *name;
    struct variant versions[VARIANTS_MOST];
    size_t bytes;
    long fewer;                 /* takes fewer samples, by this factor */
    void *result;
};

/* Versions whose result differs from the last one's. */
static inline long variants_wrong(const struct variant_loop *loop, int versions)
{
    void *wanted = malloc(loop->bytes);
    long wrong = 0;
    for (int v = versions - 1; v >= 0; v--) {
        memset(loop->result, 0, loop->bytes);
        loop->versions[v].run();
        if (v == versions - 1)
            memcpy(wanted, loop->result, loop->bytes);
        wrong += memcmp(wanted, loop->result, loop->bytes) != 0;
    }
    free(wanted);
    return wrong;
}

/* The rest of a program, after bench_init(): rank 0 measures the loops one by one and looks at their results, while the
 * other ranks sleep. `prepare`: makes the arrays and sets each loop's result. */
static inline int variants_program(int argc, char **argv, const char *me, const char *about, void (*prepare)(void),
                                   const struct variant_loop *loops, int count, int versions)
{
    long repeats = 300, wrong = 0;
    bool json = false;
    if (!variants_options(me, about, argc, argv, &repeats, &json))
        return 0;
    bench_others_sleep();
    if (bench_rank == 0) {
        prepare();
        if (json)
            printf("{\"program\": \"%s\", \"ranks\": %d, \"repeats\": %ld", me, bench_ranks, repeats);
        for (int i = 0; i < count; i++) {
            const long samples = loops[i].fewer > 1 ? repeats / loops[i].fewer + 1 : repeats;
            variants_measure(loops[i].name, loops[i].versions, versions, samples, 500e-6, json);
            wrong += variants_wrong(&loops[i], versions);
        }
    }
    bench_others_stop();
    MPI_Bcast(&wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    bench_json_end(json);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld versions of the loops give other results than '%s'", me, wrong,
                   loops[0].versions[versions - 1].name);
    MPI_Finalize();
    return 0;
}

#endif
