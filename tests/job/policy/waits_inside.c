/* SPDX-License-Identifier: MIT
 *
 *   waits_inside TURNS
 *
 * Two ranks. In each turn rank 1 waits for a message, first in a region of its own, whose other threads work
 * meanwhile, then outside of regions. Rank 0 opens a region during each of the two waits. All sleep for their work. */
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

static int threads_of_region(void)
{
    int threads = 0;
    work(30); /* the other rank waits by now */
    #pragma omp parallel
    {
        #pragma omp master
        threads = omp_get_num_threads();
        work(20);
    }
    MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return threads;
}

int main(int argc, char **argv)
{
    int rank, level, inside = 0, outside = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int turns = argc > 1 ? atoi(argv[1]) : 1;
    for (int turn = 0; turn < turns; turn++)
        for (int in_region = 1; in_region >= 0; in_region--) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0) {
                const int threads = threads_of_region();
                int *most = in_region ? &inside : &outside;
                *most = threads > *most ? threads : *most;
            } else if (in_region) {
                #pragma omp parallel
                {
                    if (omp_get_thread_num() == 0)
                        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    else
                        work(100);
                }
            } else
                MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    if (rank == 0)
        printf("threads %d %d\n", inside, outside);
    MPI_Finalize();
    return 0;
}
