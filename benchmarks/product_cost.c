/* SPDX-License-Identifier: MIT
 *
 * What the directive costs the product of a sparse matrix in compressed rows with a vector, of 3, 27, 100 and mixed
 * entries a row, that nobody helps: under `ws for`, under `omp parallel for` with one thread, and plain, in one program
 * compiled with -fws -fopenmp. `again` is the plain function once more, at another address: a short inner loop's time
 * depends on where it lies, and what is within that is not the directive's. The other ranks sleep meanwhile, but not in
 * MPI. Built with several alignments of loops.
 */
#include "variants.h"

#include <omp.h>
#include <stdint.h>

enum { ENTRIES = 2900000, VERSIONS = 4, KINDS = 4 };

struct matrix {
    int rows, *begin, *column;
};

static struct matrix matrices[KINDS];
static double *entry, *vector, *result;

#define PRODUCT(version, directive) \
    __attribute__((noinline)) static void product_##version(double *y, const int *ro, const int *co, const double *a, \
                                                            const double *x, int n) \
    { \
        directive \
        for (int r = 0; r < n; r++) { \
            double s = 0; \
            for (int i = ro[r]; i < ro[r + 1]; i++) \
                s += a[i] * x[co[i]]; \
            y[r] = s; \
        } \
    }

PRODUCT(plain, )
PRODUCT(ws, _Pragma("ws for"))
PRODUCT(omp, _Pragma("omp parallel for"))
PRODUCT(again, )

#define RUN(version, kind) \
    static void run_##version##_##kind(void) \
    { \
        const struct matrix *m = &matrices[kind]; \
        product_##version(result, m->begin, m->column, entry, vector, m->rows); \
    }
#define RUNS(kind) RUN(ws, kind) RUN(omp, kind) RUN(again, kind) RUN(plain, kind)
RUNS(0)
RUNS(1)
RUNS(2)
RUNS(3)

#define LOOP(name, kind) \
    { \
        name, \
            { { "ws", run_ws_##kind }, \
              { "omp", run_omp_##kind }, \
              { "again", run_again_##kind }, \
              { "plain", run_plain_##kind } }, \
            0, 4, NULL \
    }

static struct variant_loop loops[] = { LOOP("rows_3", 0), LOOP("rows_27", 1), LOOP("rows_100", 2),
                                       LOOP("rows_mixed", 3) };

/* splitmix64's finish */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Columns lie near the row, as those of a mesh do. */
static struct matrix make_matrix(int a_row)
{
    const int most = a_row ? ENTRIES / a_row : ENTRIES / 25;
    struct matrix m = { 0, (int *) malloc(sizeof(int) * (size_t) (most + 1)), (int *) malloc(sizeof(int) * ENTRIES) };
    int used = 0;
    for (; m.rows < most; m.rows++) {
        const int length = a_row ? a_row : (int) (mix((uint64_t) m.rows + 1) % 48) + 1;
        if (used + length > ENTRIES)
            break;
        m.begin[m.rows] = used;
        for (int e = 0; e < length; e++) {
            const long column = m.rows + (long) (e - length / 2) * (e % 3 == 0 ? 61 : 1);
            m.column[used++] = (int) (column < 0 ? 0 : column >= most ? most - 1 : column);
        }
    }
    m.begin[m.rows] = used;
    return m;
}

static void prepare(void)
{
    static const int a_row[KINDS] = { 3, 27, 100, 0 };
    int most = 0;
    for (int k = 0; k < KINDS; k++) {
        matrices[k] = make_matrix(a_row[k]);
        most = matrices[k].rows > most ? matrices[k].rows : most;
    }
    entry = (double *) malloc(sizeof(double) * ENTRIES);
    vector = (double *) malloc(sizeof(double) * (size_t) most);
    result = (double *) malloc(sizeof(double) * (size_t) most);
    for (int i = 0; i < ENTRIES; i++)
        entry[i] = 0.25 + (double) (i % 13);
    for (int i = 0; i < most; i++)
        vector[i] = 1.0 / (double) (i + 1);
    for (int k = 0; k < KINDS; k++) {
        loops[k].result = result;
        loops[k].bytes = sizeof(double) * (size_t) matrices[k].rows;
    }
}

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    omp_set_num_threads(1);
    return variants_program(
        argc, argv, "product_cost",
        "sparse products under ws for, under omp parallel for with one thread, and plain, that at two addresses",
        prepare, loops, KINDS, VERSIONS);
}
