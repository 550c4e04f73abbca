/* SPDX-License-Identifier: MIT
 *
 * What -fws=openmp costs a loop that nobody helps, with as many OpenMP threads as OMP_NUM_THREADS says: `omp parallel
 * for`, which becomes libws's, over `omp parallel` with `omp for` in it, which stays OpenMP's, in one program. The
 * other ranks sleep meanwhile, but not in MPI.
 */
#include "variants.h"

enum { VERSIONS = 2 };
enum { TINY = 64, SMALL = 1000, MIDDLE = 4000, SHORT_BODY = 60000, COMPUTE = 4096, MEMORY = 3000000 };
static double *in, *in2, *out;

#define VERSION(version, directive, inner) \
    __attribute__((noinline)) static void triad_##version(double *y, const double *x, const double *z, double a, long n) \
    { \
        directive \
        inner \
        for (long i = 0; i < n; i++) \
            y[i] = x[i] + a * z[i]; \
    } \
    __attribute__((noinline)) static void steps_##version(double *y, const double *x, double a, long n) \
    { \
        directive \
        inner \
        for (long i = 0; i < n; i++) { \
            double v = x[i]; \
            for (int k = 0; k < 40; k++) \
                v = a * v * (1.0 - v); \
            y[i] = v; \
        } \
    } \
    static void tiny_##version(void) { triad_##version(out, in, in2, 0.5, TINY); } \
    static void small_##version(void) { triad_##version(out, in, in2, 0.5, SMALL); } \
    static void middle_##version(void) { triad_##version(out, in, in2, 0.5, MIDDLE); } \
    static void short_##version(void) { triad_##version(out, in, in2, 0.5, SHORT_BODY); } \
    static void compute_##version(void) { steps_##version(out, in, 3.7, COMPUTE); } \
    static void memory_##version(void) { triad_##version(out, in, in2, 0.5, MEMORY); }

VERSION(ws, _Pragma("omp parallel for"), )
VERSION(omp, _Pragma("omp parallel"), _Pragma("omp for"))

static struct variant_loop loops[] = {
    { "tiny", { { "ws", tiny_ws }, { "omp", tiny_omp } }, TINY * sizeof *out, 1, NULL },
    { "small", { { "ws", small_ws }, { "omp", small_omp } }, SMALL * sizeof *out, 1, NULL },
    { "middle", { { "ws", middle_ws }, { "omp", middle_omp } }, MIDDLE * sizeof *out, 1, NULL },
    { "short_body", { { "ws", short_ws }, { "omp", short_omp } }, SHORT_BODY * sizeof *out, 1, NULL },
    { "compute", { { "ws", compute_ws }, { "omp", compute_omp } }, COMPUTE * sizeof *out, 1, NULL },
    { "memory", { { "ws", memory_ws }, { "omp", memory_omp } }, MEMORY * sizeof *out, 4, NULL },
};
enum { LOOPS = sizeof loops / sizeof *loops };

static void prepare(void)
{
    in = (double *) malloc(MEMORY * sizeof(double));
    in2 = (double *) malloc(MEMORY * sizeof(double));
    out = (double *) calloc(MEMORY, sizeof(double));
    for (long i = 0; i < MEMORY; i++)
        in[i] = 0.1 + 0.8 * (double) i / MEMORY, in2[i] = (double) (i % 1000);
    for (int i = 0; i < LOOPS; i++)
        loops[i].result = out;
}

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    return variants_program(argc, argv, "openmp_cost", "loops of OpenMP's under -fws=openmp, over OpenMP itself",
                            prepare, loops, LOOPS, VERSIONS);
}
