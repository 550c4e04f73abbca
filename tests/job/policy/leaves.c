/* SPDX-License-Identifier: MIT
 *
 *   leaves TURNS [OWN]
 *
 * Three ranks. Rank 0 opens a region while rank 1 waits for a message, and gets its cores: threads there have done
 * their part after 60 ms, and its own after 150. Rank 2 sends that message after 30 ms of it: from then on rank 1
 * computes for 300 ms. All sleep for their work.
 *
 * With OWN: one rank, which has that many cores. Threads beyond them have done their part of a region after 15 ms, the
 * others after 60. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void work(double ms)
{
    const struct timespec t = { 0, (long) (ms * 1e6) };
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    int rank, threads = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int turns = argc > 1 ? atoi(argv[1]) : 1, own = argc > 2 ? atoi(argv[2]) : 0;
    for (int turn = 0; turn < turns; turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (own) {
            #pragma omp parallel
            work(omp_get_thread_num() < own ? 60 : 15);
        } else if (rank == 0) {
            work(20); /* rank 1 waits by now */
            #pragma omp parallel
            {
                #pragma omp master
                threads = omp_get_num_threads();
                work(omp_get_thread_num() < 2 ? 150 : 60);
            }
        } else if (rank == 1) {
            MPI_Recv(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(300);
        } else {
            work(50);
            MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("threads %d\n", threads);
    MPI_Finalize();
    return 0;
}
