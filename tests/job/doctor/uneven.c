/* SPDX-License-Identifier: MIT
 *
 * uneven|balanced: loops with a reduction behind each turn of them, of which the last rank has three quarters, or each
 * rank the same. The work sleeps, so that other load on the machine counts little. Compiled plainly, with marked loops
 * (-fws) and for OpenMP. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef _OPENMP
#define LOOP _Pragma("omp parallel for schedule(guided) reduction(+ : sum)")
#else
#define LOOP _Pragma("ws for reduction(+ : sum)")
#endif

enum { TURNS = 15, REGIONS = 4, ROWS = 60 };

static long row(long sleep_us)
{
    const struct timespec time = { 0, 1000 * sleep_us };
    nanosleep(&time, NULL);
    return 1;
}

int main(int argc, char **argv)
{
    int me, ranks, is_balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long sleep_us = is_balanced ? 200 : me == ranks - 1 ? 300 : 100;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int region = 0; region < REGIONS; region++) {
            LOOP
            for (long i = 0; i < ROWS; i++)
                sum += row(sleep_us);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("%ld\n", sum);
    MPI_Finalize();
    return sum != (long) ranks * TURNS * REGIONS * ROWS;
}
