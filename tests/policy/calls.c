// SPDX-License-Identifier: MIT
//
// calls SECONDS: rank 0 waits for rank 1, which computes so long and meanwhile asks MPI for its rank, and for nothing else.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    volatile double x = 1;
    MPI_Init(&argc, &argv);
    const double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (rank == 1 && MPI_Wtime() < end) {
        for (int i = 0; i < 20000; i++)
            x = x * 0.5 + 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
