/* SPDX-License-Identifier: MIT
 *
 * How long parallel regions take whose iterations sleep for 4 ms each: at_once TURNS static|dynamic|fine. The last rank
 * has three times as many as each other one. fine: a thousand times as many, which do next to nothing.
 *
 * at_once TURNS ending: regions whose first thread computes for 6 to 10 ms, and the others not at all. Some end while
 * libws looks whether threads wait for each other. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { few = 128, many = 384, ms = 4 };

static void work(void)
{
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

static void ending(int turns)
{
    unsigned long all = 0;
    for (int turn = 0; turn < turns; turn++) {
        const double s = 6e-3 + turn % 200 * 20e-6;
#pragma omp parallel reduction(+ : all)
        if (omp_get_thread_num() == 0)
            for (const double end = MPI_Wtime() + s; MPI_Wtime() < end;)
                for (int i = 0; i < 100; i++)
                    all = all * 6364136223846793005UL + 1;
    }
    printf("%lu\n", all);
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(argv[2], "ending") == 0) {
        ending(atoi(argv[1]));
        MPI_Finalize();
        return 0;
    }
    const int turns = atoi(argv[1]), is_static = strcmp(argv[2], "static") == 0, is_fine = strcmp(argv[2], "fine") == 0;
    const int n = (rank == ranks - 1 ? many : few) * (is_fine ? 1000 : 1);
    double least = 1e9;
    for (int turn = 0; turn < turns; turn++) {
        int runs = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        if (is_static) {
#pragma omp parallel for schedule(static) reduction(+ : runs)
            for (int i = 0; i < n; i++) {
                work();
                runs++;
            }
        } else {
#pragma omp parallel for schedule(dynamic) reduction(+ : runs)
            for (int i = 0; i < n; i++) {
                if (!is_fine)
                    work();
                runs++;
            }
        }
        wrong += runs != n;
        MPI_Barrier(MPI_COMM_WORLD);
        const double took = MPI_Wtime() - begin;
        least = took < least ? took : least;
    }
    if (wrong)
        printf("rank %d: wrong\n", rank);
    else if (rank == ranks - 1)
        printf("right, %.3f s, on one core %.3f s\n", least, 1e-3 * ms * (many + few * (ranks - 1)));
    MPI_Finalize();
    return wrong != 0;
}
