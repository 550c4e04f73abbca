/* SPDX-License-Identifier: MIT
 *
 * slowed TURNS: rank 0 runs two regions in turn while rank 1 waits. In the first, an iteration takes five times as long
 * with more than one thread, as where threads take turns at what they all change; in the second it does not, and every
 * other execution is small and has an if clause that is false. Prints how many executions of each had more than one
 * thread. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS = 100 };

static void busy(double seconds)
{
    for (const double until = omp_get_wtime() + seconds; omp_get_wtime() < until;) { }
}

int main(int argc, char **argv)
{
    int rank, slowed = 0, helped = 0;
    long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int turns = argc > 1 ? atoi(argv[1]) : 1;
    for (int turn = 0; turn < turns && rank == 0; turn++) {
#pragma omp parallel reduction(+ : all)
        {
            const int others = omp_get_num_threads() > 1;
#pragma omp single
            slowed += others;
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < ITERATIONS; i++) {
                busy(others ? 50e-6 : 10e-6);
                all++;
            }
        }
        for (int large = 0; large < 2; large++) {
#pragma omp parallel reduction(+ : all) if (large)
            {
#pragma omp single
                helped += omp_get_num_threads() > 1;
#pragma omp for schedule(dynamic, 1)
                for (int i = 0; i < (large ? ITERATIONS : ITERATIONS / 10); i++) {
                    busy(10e-6);
                    all++;
                }
            }
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %d\n", all == 2L * turns * ITERATIONS + turns * (ITERATIONS / 10) ? "right" : "wrong", slowed,
               helped);
    MPI_Finalize();
}
