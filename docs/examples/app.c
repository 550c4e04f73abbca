/* SPDX-License-Identifier: MIT
 *
 * A loop in C.
 *
 * Compile: mpicc -fws -O3 app.c -o app
 * Run:     mpirun -workshare -n 2 ./app
 * Prints:  15719.152364
 */
/* app.c: rows of a triangle in equal counts, so the last rank has most of the work */
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
#pragma ws for reduction(+ : sum)
    for (long i = rows * me / ranks; i < rows * (me + 1) / ranks; i++)
        for (long j = 0; j < 50 * i; j++)
            sum += 1.0 / (i + j + 1);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("%.6f\n", sum);
    MPI_Finalize();
}
