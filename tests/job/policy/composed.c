/* SPDX-License-Identifier: MIT
 *
 *   composed TURNS
 *
 * In each turn a `ws for` loop, which workers and waiting ranks help with, and two parallel regions of OpenMP, whose
 * threads get the cores of ranks that wait. Even ranks have most of the loop, odd ones most of the regions, and nobody
 * waits between the two: workers of one rank are in the other's loop when its own region comes. All sleep for their
 * work. Every iteration is counted: one that is lost or done twice ends the job. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { most = 64, chunk_us = 4000 };

static void work(double us)
{
    const struct timespec t = { 0, (long) (us * 1000) };
    nanosleep(&t, NULL);
}

static int looped[most], ran[most];

static void check(int rank, const int *counts, int count, const char *what)
{
    for (int i = 0; i < count; i++)
        if (counts[i] != 1) {
            printf("rank %d: iteration %d of %s was done %d times\n", rank, i, what, counts[i]);
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

int main(int argc, char **argv)
{
    int rank, threads = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int turns = argc > 1 ? atoi(argv[1]) : 1, iterations = rank % 2 ? 4 : most;
    const double region_us = rank % 2 ? 80000 : 8000;
    for (int turn = 0; turn < turns; turn++) {
        for (int i = 0; i < most; i++)
            looped[i] = ran[i] = 0;
        #pragma ws for
        for (int i = 0; i < iterations; i++) {
            looped[i]++;
            work(chunk_us);
        }
        check(rank, looped, iterations, "a loop");
        for (int region = 0; region < 2; region++) {
            #pragma omp parallel
            {
                #pragma omp for schedule(static)
                for (int i = 0; i < most; i++)
                    ran[i]++;
                #pragma omp single
                threads = omp_get_num_threads() > threads ? omp_get_num_threads() : threads;
                work(region_us / omp_get_num_threads());
            }
        }
        for (int i = 0; i < most; i++)
            ran[i]--;
        check(rank, ran, most, "a region");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("rank %d had at most %d threads\n", rank, threads);
    MPI_Finalize();
    return 0;
}
