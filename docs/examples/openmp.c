/* SPDX-License-Identifier: MIT
 *
 * An MPI+OpenMP program without a directive of Workshare's. It is compiled without -fws.
 *
 * Compile: mpicc -fopenmp -O3 openmp.c -o openmp
 * Run:     mpirun -workshare-openmp=share -n 2 ./openmp
 * Prints:  15719.152364
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    long rows = 4000;
    int me, ranks;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 8)
    for (long i = rows * me / ranks; i < rows * (me + 1) / ranks; i++)
        for (long j = 0; j < 50 * i; j++)
            sum += 1.0 / (i + j + 1);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("%.6f\n", sum);
    MPI_Finalize();
}
