/* SPDX-License-Identifier: MIT
 *
 * Placement by load: ranks get new numbers, so that each core has the same load.
 *
 * Compile: mpicc placement.c -o placement
 * Run:     mpirun -bind-to core -n 4 ./placement
 * Prints:  4 ranks, loads 10 in all
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <workshare/mpix.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    double all;
    MPI_Comm balanced;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *loads = malloc((size_t) ranks * sizeof *loads);
    for (int r = 0; r < ranks; r++)
        loads[r] = r + 1;               /* rank r will have this much to do, in any unit */

    MPIX_Load_create(MPI_COMM_WORLD, loads, MPI_INFO_NULL, &balanced);
    MPI_Comm_rank(balanced, &rank);     /* from here on, this process is this rank */
    MPI_Reduce(&loads[rank], &all, 1, MPI_DOUBLE, MPI_SUM, 0, balanced);
    if (rank == 0)
        printf("%d ranks, loads %g in all\n", ranks, all);
    MPI_Comm_free(&balanced);
    free(loads);
    MPI_Finalize();
}
