/* SPDX-License-Identifier: MIT
 *
 * A parallel region of OpenMP in one rank, for which the others wait. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 4; turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
            for (int i = 0; i < 200; i++) {
                const double began = MPI_Wtime();
                while (MPI_Wtime() - began < 100e-6)
                    ;
                sum += i;
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
