/* SPDX-License-Identifier: MIT
 *
 * Reductions whose merge takes long: owner and guests come to it at the same time, and must not lose each other's
 * part. */
#include "test.h"

enum { CELLS = 20000, N = 400 };
typedef struct {
    long sum[500];
} table;

static void add(table *into, const table *from)
{
    for (int k = 0; k < 500; k++)
        into->sum[k] += from->sum[k];
}
#pragma ws declare reduction(add : table : add(&omp_out, &omp_in)) initializer(omp_priv = (table) {{0}})

int main(int argc, char **argv)
{
    static long cells[CELLS];
    static table all;
    begin(&argc, &argv);
    for (int r = 0; r < 60; r++) {
        memset(cells, 0, sizeof cells);
        memset(&all, 0, sizeof all);
        if (rank == r % ranks) {
#pragma ws for reduction(+ : cells[:CELLS]) reduction(add : all) schedule(dynamic, 1)
            for (int i = 0; i < N; i++) {
                for (int k = 0; k < 5; k++)
                    cells[(i * 7 + k) % CELLS]++;
                cells[0]++;
                all.sum[i % 500]++;
                all.sum[499]++;
                busy(5e-6);
            }
            long total = 0;
            for (int k = 0; k < CELLS; k++)
                total += cells[k];
            CHECK(total == 6 * N);
            CHECK(cells[0] == N + 1);
            CHECK(all.sum[499] == N);
            for (int k = 0; k < N; k++)
                CHECK(all.sum[k] == 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
