/* SPDX-License-Identifier: MIT
 *
 * Makes a job of two ranks of a program that knows no MPI: rank 0 calls its main function, here `tested_main`, several
 * times, as regions are shared from their second execution on; the other rank waits. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int tested_main(int argc, char **argv);

int main(int argc, char **argv)
{
    int provided, me, status = 0;
    const char *turns = getenv("TURNS");
    const pid_t rank = getpid();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int turn = 0; me == 0 && status == 0 && turn < atoi(turns ? turns : "1"); turn++)
        status = tested_main(argc, argv);
    if (getpid() != rank) {     /* a child of a test that forks: no rank, so it must not call MPI */
        fflush(NULL);
        _exit(status);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
