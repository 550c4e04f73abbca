/* SPDX-License-Identifier: MIT
 *
 * Calls MPI by both names, at places that wait; what tool.c counts. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, in = 1, out = 0;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int turn = 0; turn < 5; turn++) {
        if (rank == turn % 2)
            usleep(3000);
        MPI_Barrier(comm);
        PMPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
        PMPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
        if (rank == 0) {
            MPI_Send(&in, 1, MPI_INT, 1, 1, comm);
            PMPI_Send(&in, 1, MPI_INT, 1, 1, comm);
            MPI_Isend(&in, 1, MPI_INT, 1, 2, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            PMPI_Recv(&out, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
            MPI_Recv(&out, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
            MPI_Irecv(&out, 1, MPI_INT, 0, 2, comm, &request);
            MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        }
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
