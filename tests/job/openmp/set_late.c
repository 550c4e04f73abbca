/* SPDX-License-Identifier: MIT
 *
 * A program that sets OpenMP's variables itself, between MPI_Init and the first thing that it asks of OpenMP. libomp
 * reads them only then. Each rank prints what it has. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int me, chunk, threads = 0;
    omp_sched_t kind;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    setenv("OMP_NUM_THREADS", "3", 1);
    setenv("OMP_THREAD_LIMIT", "7", 1);
    setenv("OMP_SCHEDULE", "dynamic,5", 1);
#pragma omp parallel reduction(+ : threads)
    threads++;
    omp_get_schedule(&kind, &chunk);
    printf("rank %d threads %d most %d limit %d chunk %d\n", me, threads, omp_get_max_threads(),
           omp_get_thread_limit(), chunk);
    MPI_Finalize();
    return 0;
}
