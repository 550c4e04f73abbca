/* SPDX-License-Identifier: MIT
 *
 * MPI+OpenMP programs that know nothing of Workshare, called as
 *
 *   PROGRAM TURNS KIND...
 *
 * In each turn each rank but the last runs a kind of region, and the others wait. Iterations sleep, so that who waits
 * is sure to come in time. Each kind is printed with what omp_get_max_threads() said at the start. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { iterations = 240 };
static int done[iterations], turn, told;
static int *marks; /* as many as omp_get_max_threads() said at the start */
static volatile int *flags;

static void work(int i)
{
    const struct timespec nap = {0, 100000};
    nanosleep(&nap, NULL);
    __atomic_fetch_add(&done[i], 1, __ATOMIC_RELAXED);
}

/* What regions have in the turns, too, in which they are watched: a loop with no barrier. */
#define ALL_WORK                                                                                                      \
    _Pragma("omp for nowait") for (int i = 0; i < iterations; i++) work(i);

static int all_done(int n)
{
    for (int i = 0; i < iterations; i++)
        if (done[i] != (i < n))
            return 0;
    return 1;
}
static int sum_to(int n) { return n * (n - 1) / 2; }

struct kind {
    const char *name;
    int (*run)(void); /* whether the result is right */
    int iterations;   /* that it has done at its end; 0: it looks itself */
};

/* What the last rank does of a kind before it waits; NULL: nothing. */
static void (*last_rank)(const char *kind);

static int run_kinds(int argc, char **argv, const struct kind *kinds, size_t count)
{
    told = omp_get_max_threads();
    int provided, me, ranks, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    marks = (int *) calloc((size_t) told + 1, sizeof *marks);
    flags = (volatile int *) calloc((size_t) told + 1, sizeof *flags);
    for (int a = 2; a < argc; a++)
        for (size_t k = 0; k < count; k++)
            if (strcmp(argv[a], kinds[k].name) == 0 || strcmp(argv[a], "all") == 0) {
                int bad = 0;
                for (turn = 0; turn < atoi(argv[1]); turn++) {
                    if (me + 1 < ranks || ranks == 1) {
                        memset(done, 0, sizeof done);
                        if (!kinds[k].run()) {
                            fprintf(stderr, "%s is wrong in turn %d\n", kinds[k].name, turn);
                            bad++;
                        }
                        if (kinds[k].iterations)
                            bad += !all_done(kinds[k].iterations);
                    } else if (last_rank)
                        last_rank(kinds[k].name);
                    MPI_Barrier(MPI_COMM_WORLD);
                }
                if (me == 0)
                    printf("%s %s, told %d\n", kinds[k].name, bad ? "wrong" : "right", told);
                wrong += bad;
            }
    MPI_Finalize();
    return wrong != 0;
}
