/* SPDX-License-Identifier: MIT
 *
 * Times the loops of placement_loops.c, plain and with directives, each at the same 16 addresses in one process, in
 * turn. tools/dev/figures/placement.py builds it. A figure is the least of many short samples: other users of the
 * machine make some of them longer, and none shorter. Prints {"csr": {"plain": [us at each address], "ws": [...]},
 * ...}.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ADDRESSES = 16,
    LOOPS = 8,
    ROWS = 4000,
    ENTRIES = 12 * ROWS,
    SIDE = 130,
    BINS = 64,
    WIDTH = 600,
    ORDER = 32,
    CALLS = 3
};

typedef void csr_t(double *, const int *, const int *, const double *, const double *, int);
typedef void triad_t(double *, const double *, const double *, double, long);
typedef void stencil_t(double *, const double *, int, int);
typedef double dot_t(const double *, const double *, long);
typedef void histogram_t(int (*)[BINS], const unsigned char *, int, int);
typedef void dense_t(double *, const double *, const double *, int);
typedef void scatter_t(double *, const int *, const double *, long);
typedef double gradients_t(int, const int *, const int *, const double *, const double *, double *, double *, double *,
                           double *, int);

/* One copy of placement_loops.c, at one address. */
struct copy {
    csr_t *csr;
    triad_t *triad;
    stencil_t *stencil;
    dot_t *dot;
    histogram_t *histogram;
    dense_t *dense;
    scatter_t *scatter;
    gradients_t *gradients;
};
#include "placement_table.h" /* plain[], ws[] */

static const char *const names[LOOPS] = {
    "csr", "triad", "stencil", "dot", "histogram", "dense", "scatter", "gradients"
};
static int begin_of[ROWS + 1], column[ENTRIES], count[BINS][BINS];
static double a[ENTRIES], x[ENTRIES], y[ENTRIES], p[ROWS], q[ROWS], r[ROWS], field[2][SIDE * SIDE], m[3][ORDER * ORDER];
static unsigned char bytes[BINS * WIDTH];
static volatile double sink;

static void run(const struct copy *c, int loop)
{
    switch (loop) {
    case 0: c->csr(y, begin_of, column, a, x, ROWS); break;
    case 1: c->triad(y, a, x, 0.5, 4 * ROWS); break;
    case 2: c->stencil(field[0], field[1], SIDE, SIDE); break;
    case 3: sink = c->dot(a, x, 2 * ROWS); break;
    case 4: c->histogram(count, bytes, BINS, WIDTH); break;
    case 5: c->dense(m[0], m[1], m[2], ORDER); break;
    case 6: c->scatter(y, column, a, 2 * ROWS); break;
    case 7: sink = c->gradients(ROWS / 2, begin_of, column, a, x, y, r, p, q, 2); break;
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void prepare(void)
{
    int used = 0;
    for (int i = 0; i < ROWS; i++) {
        begin_of[i] = used;
        for (int j = 0; j < 3 + i * 7 % 10; j++, used++)
            column[used] = (i + 13 * j) % (ROWS / 2);
    }
    begin_of[ROWS] = used;
    for (int i = 0; i < ENTRIES; i++) {
        a[i] = 1.0 / (i + 1);
        x[i] = 1.0 / (i % ROWS + 1);
    }
    for (int i = 0; i < BINS * WIDTH; i++)
        bytes[i] = (unsigned char) (2654435761u * (unsigned) i >> 24);
    for (int i = 0; i < ORDER * ORDER; i++)
        m[1][i] = m[2][i] = i;
}

int main(int argc, char **argv)
{
    const int samples = argc > 1 ? atoi(argv[1]) : 0;
    if (samples < 1) {
        fprintf(stderr, "placement: usage: placement SAMPLES\n");
        return 2;
    }
    prepare();
    for (int loop = 0; loop < LOOPS; loop++) {
        double least[2][ADDRESSES];
        for (int s = 0; s < samples; s++)
            for (int k = 0; k < ADDRESSES; k++)
                for (int v = 0; v < 2; v++) {
                    const struct copy *c = &(v ? ws : plain)[k];
                    run(c, loop);
                    const double t = now();
                    for (int e = 0; e < CALLS; e++)
                        run(c, loop);
                    const double took = (now() - t) / CALLS;
                    if (s == 0 || took < least[v][k])
                        least[v][k] = took;
                }
        printf("%s\"%s\": {", loop ? ", " : "{", names[loop]);
        for (int v = 0; v < 2; v++) {
            printf("%s\"%s\": [", v ? ", " : "", v ? "ws" : "plain");
            for (int k = 0; k < ADDRESSES; k++)
                printf("%s%.3f", k ? ", " : "", 1e6 * least[v][k]);
            printf("]");
        }
        printf("}");
    }
    printf("}\n");
    return 0;
}
