/* SPDX-License-Identifier: MIT
 *
 * Threads of one region that wait for each other in MPI: between TURNS. Prints how long the longest turn took. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int me, ranks, level, bad = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, turns = atoi(argv[1]);
    double longest = 0;
    for (int turn = 0; turn < turns; turn++) {
        int own = -1, other = -1, sum = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        /* The first thread receives what the last one of the same process sends, or of its neighbour. */
#pragma omp parallel reduction(+ : sum)
        {
            const int thread = omp_get_thread_num(), last = omp_get_num_threads() - 1, value = 1000 * me + turn;
            if (thread == 0) {
                MPI_Recv(&own, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Recv(&other, 1, MPI_INT, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else if (thread == last) {
                MPI_Ssend(&value, 1, MPI_INT, me, 1, MPI_COMM_WORLD);
                MPI_Ssend(&value, 1, MPI_INT, left, 2, MPI_COMM_WORLD);
            }
#pragma omp barrier
            sum += own + other;
        }
        const double took = MPI_Wtime() - begin;
        longest = took > longest ? took : longest;
        bad += own != 1000 * me + turn || other != 1000 * right + turn || sum != omp_get_max_threads() * (own + other);
    }
    MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (bad)
        printf("rank %d: wrong in %d turns\n", me, bad);
    else if (me == 0)
        printf("right, longest turn %.1f ms\n", longest * 1e3);
    MPI_Finalize();
    return bad != 0;
}
