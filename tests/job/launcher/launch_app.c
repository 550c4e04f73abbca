/* SPDX-License-Identifier: MIT
 *
 * An MPI program in which each rank needs all others.
 *
 * With `leave` rank 0 exits with status 7 where it should not. Its connection to the launcher is closed only after its
 * end was seen: a child of it still has the connection open, and rank 1 keeps the launcher busy. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void leave(int rank)
{
    if (rank == 0) {
        if (fork() == 0) {
            close(STDOUT_FILENO);
            close(STDERR_FILENO);
            usleep(500000);
        }
        _exit(7);
    }
    for (int i = 0; i < 1000; i++) {    /* it is killed before these are over */
        printf(".");
        fflush(stdout);
        usleep(10000);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1)
        leave(rank);
    MPI_Finalize();
    return 0;
}
