// SPDX-License-Identifier: MIT
//
// Every rank sends to every other one, and rank 0 prints how many there are.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
    int rank, size, sum, mine;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* all = calloc((size_t)size, sizeof *all);
    mine = rank;
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        if (all[i] != i)
            MPI_Abort(MPI_COMM_WORLD, 3);
    mine = 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks\n", sum);
    free(all);
    MPI_Finalize();
    return 0;
}
