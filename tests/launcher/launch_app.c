/* SPDX-License-Identifier: MIT
 *
 * An MPI program in which each rank needs all others.
 *
 * With `leave` rank 0 exits with status 7 where it should not, and its connection to the launcher is closed after its end was
 * seen: it has a child, which still has it open, and rank 1 keeps the launcher looking. */
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
    for (int i = 0; i < 1000; i++) {    /* it is killed before */
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
