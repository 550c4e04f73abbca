/* SPDX-License-Identifier: MIT
 *
 * What the directive costs a loop that nobody helps: three kinds of loops under `ws for`, under `omp parallel for` with
 * one thread, and without a directive, in one program compiled with -fws -fopenmp. The other ranks sleep meanwhile, but
 * not in MPI.
 */
#include "variants.h"

#include <omp.h>

enum { COMPUTE = 4096, MEMORY = 3000000, SHORT_BODY = 60000 };

enum { VERSIONS = 3 };
/* The same for all versions: where an array lies matters for its speed. */
static double *in, *in2, *out;
static float *fin, *fout;

/* Arguments and locals, as a loop in a program has them. */
#define LOOPS(version, directive) \
    __attribute__((noinline)) static void compute_##version(double *y, const double *x, double a, long n) \
    { \
        directive \
        for (long i = 0; i < n; i++) { \
            double v = x[i]; \
            for (int k = 0; k < 40; k++) \
                v = a * v * (1.0 - v); \
            y[i] = v; \
        } \
    } \
    __attribute__((noinline)) static void memory_##version(double *y, const double *x, const double *z, double a, long n) \
    { \
        directive \
        for (long i = 0; i < n; i++) \
            y[i] = x[i] + a * z[i]; \
    } \
    __attribute__((noinline)) static void short_##version(float *y, const float *x, float a, long n) \
    { \
        directive \
        for (long i = 0; i < n; i++) \
            y[i] = a * y[i] + x[i]; \
    }

LOOPS(ws, _Pragma("ws for"))
LOOPS(omp, _Pragma("omp parallel for"))
LOOPS(plain, )

#define VERSION(version) \
    static void run_compute_##version(void) { compute_##version(out, in, 3.7, COMPUTE); } \
    static void run_memory_##version(void) { memory_##version(out, in, in2, 0.5, MEMORY); } \
    static void run_short_##version(void) { short_##version(fout, fin, 0.25f, SHORT_BODY); }

VERSION(ws)
VERSION(omp)
VERSION(plain)

static struct variant_loop loops[] = {
    { "compute",
      { { "ws", run_compute_ws }, { "omp", run_compute_omp }, { "plain", run_compute_plain } },
      COMPUTE * sizeof *out,
      1,
      NULL },
    { "memory",
      { { "ws", run_memory_ws }, { "omp", run_memory_omp }, { "plain", run_memory_plain } },
      MEMORY * sizeof *out,
      4,
      NULL },
    { "short_body",
      { { "ws", run_short_ws }, { "omp", run_short_omp }, { "plain", run_short_plain } },
      SHORT_BODY * sizeof *fout,
      1,
      NULL },
};

static void prepare(void)
{
    in = (double *) malloc(MEMORY * sizeof(double));
    in2 = (double *) malloc(MEMORY * sizeof(double));
    fin = (float *) malloc(SHORT_BODY * sizeof(float));
    for (long i = 0; i < MEMORY; i++)
        in[i] = 0.1 + 0.8 * (double) i / MEMORY, in2[i] = (double) (i % 1000);
    for (long i = 0; i < SHORT_BODY; i++)
        fin[i] = (float) (i % 7);
    out = (double *) calloc(MEMORY, sizeof(double));
    fout = (float *) calloc(SHORT_BODY, sizeof(float));
    loops[0].result = loops[1].result = out;
    loops[2].result = fout;
}

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    omp_set_num_threads(1);
    return variants_program(argc, argv, "directive_cost",
                            "loops under ws for, under omp parallel for with one thread, and plain", prepare, loops,
                            sizeof loops / sizeof *loops, VERSIONS);
}
