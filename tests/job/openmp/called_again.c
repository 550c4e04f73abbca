/* SPDX-License-Identifier: MIT
 *
 * Makes a job of two ranks of a program that knows no MPI: rank 0 calls its main function, here `tested_main`, TURNS
 * times, as regions are shared from their second execution on; the other rank waits. With LATE=MS, the other rank waits
 * before the first turn begins. In each other turn it computes for MS ms before it waits. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tested_main(int argc, char **argv);

enum { WAITS_BY_NOW = 10000 }; /* us after which the other rank waits */

/* With arguments of its own, which the program may change. */
static int call(int argc, char **argv)
{
    char *own[argc + 1];
    for (int i = 0; i < argc; i++)
        own[i] = strdup(argv[i]);
    own[argc] = NULL;
    return tested_main(argc, own);
}

static void compute_for(double seconds)
{
    for (const double begin = MPI_Wtime(); MPI_Wtime() < begin + seconds;)
        ;
}

static int number(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

int main(int argc, char **argv)
{
    int provided, me, status = 0;
    const int turns = number("TURNS", 1), late = number("LATE", 0);
    const pid_t rank = getpid();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int turn = 0; turn < turns; turn++) {
        if (turn == 0 && late > 0 && me == 0)
            usleep(WAITS_BY_NOW);
        if (turn > 0 && late > 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (me != 0)
                compute_for(late / 1000.0);
        }
        if (me == 0 && status == 0)
            status = call(argc, argv);
        if (getpid() != rank) { /* a child of a test that forks: no rank, so it must not call MPI */
            fflush(NULL);
            _exit(status);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
