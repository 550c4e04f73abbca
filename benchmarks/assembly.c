/* SPDX-License-Identifier: MIT
 *
 * What `ws atomic` costs while nobody shares the loop. Two loops of scattered additions: the assembly of a
 * finite-element operator (gather 8 nodes of an element, 64 multiplications, add to 8 nodes), and bare additions to
 * random places. Versions: plain addition and `ws atomic` under `ws for`, and the loop without directives; compiled
 * with -fopenmp instead of -fws `omp atomic` under `omp parallel for` with one thread, and the loop without. Two
 * programs, because `ws atomic` is never plain in one that has an OpenMP library. The other ranks sleep, but not in
 * MPI.
 */
#include "variants.h"

#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    SIDE = 20,
    ELEMENTS = SIDE * SIDE * SIDE,
    NODES = (SIDE + 1) * (SIDE + 1) * (SIDE + 1),
    ADDITIONS = 100000,
    PLACES = 20000
};

static int (*nodes_of)[8];
static double operator_of[8][8], *x, *y;
static int *place;
static double *weight, *sums;

/* All values are small whole numbers, so sums are exact in any order. */
#define LOOPS(version, directive, atomic) \
    __attribute__((noinline)) static void assemble_##version(double *out, const double *in, const int (*nodes)[8], long n) \
    { \
        directive \
        for (long e = 0; e < n; e++) { \
            double local[8]; \
            for (int i = 0; i < 8; i++) { \
                double sum = 0; \
                for (int j = 0; j < 8; j++) \
                    sum += operator_of[i][j] * in[nodes[e][j]]; \
                local[i] = sum; \
            } \
            for (int i = 0; i < 8; i++) { \
                atomic \
                out[nodes[e][i]] += local[i]; \
            } \
        } \
    } \
    __attribute__((noinline)) static void scatter_##version(double *out, const int *to, const double *w, long n) \
    { \
        directive \
        for (long i = 0; i < n; i++) { \
            atomic \
            out[to[i]] += w[i]; \
        } \
    }

LOOPS(add, , )
#ifdef _OPENMP
LOOPS(omp_atomic, _Pragma("omp parallel for"), _Pragma("omp atomic"))
#else
LOOPS(ws_atomic, _Pragma("ws for"), _Pragma("ws atomic"))
LOOPS(ws_add, _Pragma("ws for"), )
#endif

#define RUN(version) \
    static void run_assemble_##version(void) { assemble_##version(y, x, (const int (*)[8]) nodes_of, ELEMENTS); } \
    static void run_scatter_##version(void) { scatter_##version(sums, place, weight, ADDITIONS); }

/* The plain loop is the last. */
RUN(add)
#ifdef _OPENMP
RUN(omp_atomic)
enum { VERSIONS = 2, PLAIN = VERSIONS - 1 };
static const struct variant loops[2][VERSIONS] = {
    { { "omp_atomic", run_assemble_omp_atomic }, { "add", run_assemble_add } },
    { { "omp_atomic", run_scatter_omp_atomic }, { "add", run_scatter_add } },
};
#else
RUN(ws_atomic)
RUN(ws_add)
enum { VERSIONS = 3, PLAIN = VERSIONS - 1 };
static const struct variant loops[2][VERSIONS] = {
    { { "ws_atomic", run_assemble_ws_atomic }, { "ws_add", run_assemble_ws_add }, { "add", run_assemble_add } },
    { { "ws_atomic", run_scatter_ws_atomic }, { "ws_add", run_scatter_ws_add }, { "add", run_scatter_add } },
};
#endif

static void set_up(void)
{
    uint64_t state = 1;
    nodes_of = (int (*)[8]) malloc(ELEMENTS * sizeof *nodes_of);
    x = (double *) malloc(NODES * sizeof(double));
    place = (int *) malloc(ADDITIONS * sizeof(int));
    weight = (double *) malloc(ADDITIONS * sizeof(double));
    y = (double *) calloc(NODES, sizeof(double));
    sums = (double *) calloc(PLACES, sizeof(double));
    for (int e = 0; e < ELEMENTS; e++)
        for (int c = 0; c < 8; c++) {
            int i = e % SIDE + (c & 1), j = e / SIDE % SIDE + (c >> 1 & 1), k = e / SIDE / SIDE + (c >> 2);
            nodes_of[e][c] = (k * (SIDE + 1) + j) * (SIDE + 1) + i;
        }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            operator_of[i][j] = i == j ? 7 : -1;
    for (int i = 0; i < NODES; i++)
        x[i] = i * 7 % 32;
    for (int i = 0; i < ADDITIONS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        place[i] = (int) ((state >> 33) % PLACES);
        weight[i] = (double) (i % 5);
    }
}

/* Sums that differ from the plain loop's. */
static long count_wrong(void)
{
    double *wanted = (double *) malloc((NODES + PLACES) * sizeof(double));
    long wrong = 0;
    for (int i = 0; i < VERSIONS; i++) {
        int v = (PLAIN + i) % VERSIONS; /* that one first */
        memset(y, 0, NODES * sizeof(double));
        memset(sums, 0, PLACES * sizeof(double));
        loops[0][v].run();
        loops[1][v].run();
        if (v == PLAIN) {
            memcpy(wanted, y, NODES * sizeof(double));
            memcpy(wanted + NODES, sums, PLACES * sizeof(double));
        }
        for (long j = 0; j < NODES; j++)
            wrong += y[j] != wanted[j];
        for (long j = 0; j < PLACES; j++)
            wrong += sums[j] != wanted[NODES + j];
    }
    free(wanted);
    return wrong;
}

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    const char *me = "assembly";
    long repeats = 300, wrong = 0;
    bool json = false;
    if (!variants_options(
            me, "scattered additions: ws atomic, plain under ws for, plain (built with -fopenmp: omp atomic, plain)",
            argc, argv, &repeats, &json))
        return 0;
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    bench_others_sleep();
    if (bench_rank == 0) {
        set_up();
        if (json)
            printf("{\"program\": \"%s\", \"ranks\": %d, \"repeats\": %ld", me, bench_ranks, repeats);
        variants_measure("assembly", loops[0], VERSIONS, repeats, 500e-6, json);
        variants_measure("scatter", loops[1], VERSIONS, repeats, 500e-6, json);
        wrong = count_wrong();
    }
    bench_others_stop();
    MPI_Bcast(&wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    bench_json_end(json);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld sums differ from those of the plain loop", me, wrong);
    MPI_Finalize();
    return 0;
}
