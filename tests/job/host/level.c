/* SPDX-License-Identifier: MIT
 *
 * Iterations of a shared loop call MPI, so MPI is at MPI_THREAD_MULTIPLE. A tool that initializes MPI_T does not take
 * that back. Prints how far the level is from it before and after. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int before, after, provided, rank, flags = 0;
    MPI_Init(&argc, &argv);
    MPI_Query_thread(&before);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Query_thread(&after);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma ws for reduction(+ : flags)
    for (int i = 0; i < 100; i++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        flags += flag;
    }
    printf("rank %d: %d %d, %d messages\n", rank, before - MPI_THREAD_MULTIPLE, after - MPI_THREAD_MULTIPLE, flags);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
