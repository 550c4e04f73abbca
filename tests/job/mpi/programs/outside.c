/* SPDX-License-Identifier: MIT
 *
 * outside WHAT: loops where nobody can steal must be plain loops: before MPI_Init and after MPI_Finalize, without MPI,
 * inside another `ws for`, on other threads, in OpenMP's parallel regions. */
#include "test.h"
#include <omp.h>
#include <pthread.h>

enum { N = 3000 };

static long squares(int n)
{
    long sum = 0;
#pragma ws for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        sum += (long) i * i;
        busy(1e-6);
    }
    return sum;
}
#define CHECK_SQUARES(n) CHECK(squares(n) == ((long) (n) - 1) * (n) * (2 * (long) (n) - 1) / 6)

static void nested(void)
{
    enum { ROWS = 200, COLUMNS = 50 };
    static int cell[ROWS][COLUMNS];
    memset(cell, 0, sizeof cell);
    long total = 0;
#pragma ws for reduction(+ : total)
    for (int i = 0; i < ROWS; i++) {
        long row = 0;
#pragma ws for reduction(+ : row) schedule(dynamic, 3)
        for (int j = 0; j < COLUMNS; j++) {
            cell[i][j]++;
            row += j;
            busy(1e-6);
        }
        total += row;
    }
    CHECK(total == (long) ROWS * COLUMNS * (COLUMNS - 1) / 2);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            CHECK(cell[i][j] == 1);
}

static void in_openmp(void)
{
    long sums[4] = {0};
#pragma omp parallel num_threads(4)
    sums[omp_get_thread_num()] = squares(N);
    for (int t = 0; t < 4; t++)
        CHECK(sums[t] == (N - 1L) * N * (2L * N - 1) / 6);
    /* An OpenMP region inside a ws loop: guests are ordinary threads to OpenMP. */
    long total = 0;
#pragma ws for reduction(+ : total)
    for (int i = 0; i < 50; i++) {
        long part = 0;
#pragma omp parallel for reduction(+ : part) num_threads(2)
        for (int j = 0; j < 100; j++)
            part += j;
        total += part;
        busy(1e-5);
    }
    CHECK(total == 50L * 4950);
}

static void *other_thread(void *sum)
{
    *(long *) sum = squares(N);
    return NULL;
}

static void on_threads(void)
{
    pthread_t threads[3];
    long sums[4];
    for (int t = 0; t < 3; t++)
        pthread_create(&threads[t], NULL, other_thread, &sums[t]);
    sums[3] = squares(N); /* and the owner's at the same time */
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < 4; t++)
        CHECK(sums[t] == (N - 1L) * N * (2L * N - 1) / 6);
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    int is_off = !strcmp(what, "without_mpi");
    CHECK_SQUARES(0);
    CHECK_SQUARES(1);
    CHECK_SQUARES(N);
    nested();
    in_openmp();
    on_threads();
    if (is_off)
        return failures != 0;
    begin(&argc, &argv);
    for (int r = 0; r < 4; r++) {
        if (rank == r % ranks) {
            if (!strcmp(what, "nested"))
                nested();
            if (!strcmp(what, "openmp"))
                in_openmp();
            if (!strcmp(what, "threads"))
                on_threads();
            CHECK_SQUARES(0);
            CHECK_SQUARES(1);
            CHECK_SQUARES(N);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int status = end();
    CHECK_SQUARES(N);
    nested();
    in_openmp();
    on_threads();
    return status || failures;
}
