/* SPDX-License-Identifier: MIT
 *
 * Small programs in the shapes of real ones. Each is built three times from one source: as it is (directives are
 * unknown pragmas), with -fws, and with -fopenmp, where one process has the whole problem. A turn is one run of the
 * program from the same state, with its own communication; the results of all turns, builds and numbers of ranks are
 * the same bits. For C11 and C++17.
 */
#ifndef WS_BENCH_PROGRAM_H
#define WS_BENCH_PROGRAM_H

#include "../bench.h"

#include <stdint.h>

/* False in the turn that is the reference: there every loop runs whole, by its own rank. */
static bool program_shared;
/* Seconds that this rank was in MPI in this turn. */
static double program_in_mpi;

#define PROGRAM_PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef _OPENMP
#define LOOP PROGRAM_PRAGMA(omp parallel for schedule(runtime) if(program_shared))
#define LOOP_REDUCE(operation, variable) \
    PROGRAM_PRAGMA(omp parallel for schedule(runtime) reduction(operation : variable) if(program_shared))
#define ATOMIC PROGRAM_PRAGMA(omp atomic)
#else
#define LOOP PROGRAM_PRAGMA(ws for if(program_shared))
#define LOOP_REDUCE(operation, variable) PROGRAM_PRAGMA(ws for reduction(operation : variable) if(program_shared))
#define ATOMIC PROGRAM_PRAGMA(ws atomic)
#endif

/* An MPI call of a turn. */
#define IN_MPI(call) \
    do { \
        const double program_began = bench_now(); \
        call; \
        program_in_mpi += bench_now() - program_began; \
    } while (0)

struct program {
    const char *name;
    void (*begin)(void);        /* makes the state that a turn starts from; not timed */
    void (*turn)(void);         /* ends with a call that all ranks wait in */
    /* Returns a hash of what a turn has computed on this rank. With `of_all`, the sum over all ranks is the same for
     * any number of ranks; the call is collective then, and ranks may have summed their results before. */
    uint64_t (*hash)(bool of_all);
};

/* splitmix64: random numbers that are the same everywhere. */
static inline uint64_t program_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline double program_random(uint64_t x)     /* in [0, 1) */
{
    return (double) (program_mix(x) >> 11) * 0x1p-53;
}

/* The part of a hash that value number `place` of all ranks' gives; the sum over all is the hash. */
static inline uint64_t program_hash(uint64_t place, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return program_mix(bits ^ program_mix(place));
}

/* Runs, times, checks and prints; the rest of a program's main() after its options. */
static inline void program_run(const struct program *p, long repeats, long warmup, bool json)
{
#if defined(_OPENMP) && !defined(UNMODIFIED) /* -DUNMODIFIED: as an MPI+OpenMP program for several ranks */
    if (bench_ranks != 1)
        bench_fail(2, "%s: needs 1 rank when it is built for OpenMP, not %d", p->name, bench_ranks);
#endif
    double *turns = (double *) malloc(sizeof(double) * (size_t) repeats),
           *useful = (double *) malloc(sizeof(double) * (size_t) repeats),
           *slowest = (double *) malloc(sizeof(double) * (size_t) repeats);
    long wrong = 0;
    double all_turns = 0;
    p->begin();
    p->turn();
    const uint64_t reference = p->hash(false);
    program_shared = true;
    for (long r = -warmup; r < repeats; r++) {
        p->begin();
        program_in_mpi = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const double began = bench_now();
        p->turn();
        const double took = bench_now() - began;
        all_turns += took;
        if (r >= 0) {
            turns[r] = took;
            useful[r] = took - program_in_mpi;
        }
        wrong += p->hash(false) != reference;
    }
    uint64_t hash = p->hash(true);
    MPI_Allreduce(MPI_IN_PLACE, &hash, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld results of a turn differ from that without help", p->name, wrong);
    MPI_Reduce(turns, slowest, (int) repeats, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    const double mine = bench_summary(useful, repeats).median;
    double *all = (double *) malloc(sizeof(double) * (size_t) bench_ranks);
    MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (bench_rank == 0) {
        const struct bench_times t = bench_summary(slowest, repeats);
        double most = 0, sum = 0;
        for (int r = 0; r < bench_ranks; r++) {
            most = all[r] > most ? all[r] : most;
            sum += all[r];
        }
        const double possible = most * bench_ranks / sum;
        if (json) {
            printf("{\"program\": \"%s\", \"ranks\": %d, \"repeats\": %ld, \"hash\": \"%016lx\", \"possible\": %.5f",
                   p->name, bench_ranks, repeats, (unsigned long) hash, possible);
            printf(", \"all_turns_us\": %.3f", all_turns * 1e6);
            bench_json_times("us", t);
            for (int r = 0; r < bench_ranks; r++)
                printf("%s%.1f%s", r ? ", " : ", \"useful_us\": [", all[r] * 1e6, r == bench_ranks - 1 ? "]" : "");
        } else {
            bench_print_times("turn", t);
            for (int r = 0; r < bench_ranks; r++)
                printf("rank %d     %.1f us outside of MPI\n", r, all[r] * 1e6);
            printf("possible   %.3f times as fast as this, if this run had no help\n", possible);
        }
    }
    bench_json_end(json);
    free(turns);
    free(useful);
    free(slowest);
    free(all);
}

/* A program's own option: a whole number. */
struct program_option {
    const char *name, *about;   /* about: its line of --help */
    long *value, least, most;
};

struct program_repeats {
    long repeats, warmup;
    bool json;
};

/* Reads what all of these programs take, and `own`, which ends with a name of NULL. False after --help, MPI
 * finalized. */
static inline bool program_options(const char *me, const char *about, int argc, char **argv,
                                   const struct program_option *own, struct program_repeats *o)
{
    enum { REPEATS = 1, WARMUP, JSON, HELP, OWN };
    struct option options[12] = { { "repeats", required_argument, 0, REPEATS },
                                  { "warmup", required_argument, 0, WARMUP },
                                  { "json", no_argument, 0, JSON },
                                  { "help", no_argument, 0, HELP } };
    for (int k = 0; own && own[k].name; k++) {
        const struct option one = { own[k].name, required_argument, 0, OWN + k };
        options[4 + k] = one;
    }
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case REPEATS: o->repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case WARMUP: o->warmup = bench_count(me, "warmup", optarg, 0, 1000000); break;
        case JSON: o->json = true; break;
        case HELP:
            if (bench_rank == 0) {
                printf("%s: %s\n", me, about);
                for (int k = 0; own && own[k].name; k++)
                    printf("  --%s (%ld)\n", own[k].about, *own[k].value);
                printf("  --repeats R   timed turns (%ld)\n  --warmup W    turns before them (%ld)\n"
                       "  --json        one JSON object instead of text\n",
                       o->repeats, o->warmup);
            }
            MPI_Finalize();
            return false;
        default: {
            const struct program_option *one = &own[c - OWN];
            *one->value = bench_count(me, one->name, optarg, one->least, one->most);
        }
        }
    return true;
}

#endif
