/* SPDX-License-Identifier: MIT
 *
 *   comes_back TURNS
 *
 * Three ranks. Rank 0 opens a region while rank 1 waits for a message, and gets its cores. Rank 2 sends that message in
 * the middle of the region: rank 1 goes on beside the threads on its cores. Rank 1 prints how long its own region then
 * took, and how many threads it had. All sleep for their work. */
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
    int rank, threads = 0, most = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int turns = argc > 1 ? atoi(argv[1]) : 1;
    double longest = 0;
    for (int turn = 0; turn < turns; turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            work(20); /* rank 1 waits by now */
            #pragma omp parallel
            {
                #pragma omp single
                most = omp_get_num_threads() > most ? omp_get_num_threads() : most;
                work(100);
            }
        } else if (rank == 1) {
            MPI_Recv(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            const double began = MPI_Wtime();
            #pragma omp parallel
            {
                #pragma omp single
                threads = omp_get_num_threads();
                work(10);
            }
            const double took = MPI_Wtime() - began;
            longest = took > longest ? took : longest;
        } else {
            work(60);
            MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("lent %d\n", most);
    if (rank == 1)
        printf("own %d longest %.3f\n", threads, longest);
    MPI_Finalize();
    return 0;
}
