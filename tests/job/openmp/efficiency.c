/* SPDX-License-Identifier: MIT
 *
 * efficiency TURNS: parallel regions whose threads lose time in known ways. Work sleeps, so that it lasts the same
 * whatever else runs here. Prints, for all ranks together and by the program's own clock,
 *    threads S scheduling S imbalance S regions S serial S
 * as the report counts them: of each region, what all of its threads lost, and what the others lost besides. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 64 };
static double useful[MOST]; /* of a region's threads */
static struct {
    double threads, scheduling, imbalance, regions, serial;
} all, sum;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static double work(double ms)
{
    const double began = now();
    struct timespec t = { 0, (long) (1e6 * ms) };
    nanosleep(&t, NULL);
    return now() - began;
}

static void works(double ms)
{
    useful[omp_get_thread_num()] += work(ms);
}

static double began;

static void begin(void)
{
    for (int i = 0; i < MOST; i++)
        useful[i] = 0;
    began = now();
}

static void end(int threads)
{
    const double lasted = now() - began;
    double most = 0, mine = 0;
    for (int i = 0; i < threads; i++) {
        mine += useful[i];
        most = useful[i] > most ? useful[i] : most;
    }
    all.threads += threads * lasted;
    all.scheduling += threads * (lasted - most);
    all.imbalance += threads * most - mine;
    all.regions += lasted;
}

static void turn(int threads)
{
    all.serial += work(5);
    begin();
#pragma omp parallel
    works(2 + 3 * omp_get_thread_num());
    end(threads);
    begin();
#pragma omp parallel
    { /* one after the other: all threads wait for at least half of the time */
        if (omp_get_thread_num() == 0)
            works(4);
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            works(4);
#pragma omp barrier
    }
    end(threads);
    begin();
#pragma omp parallel
    { /* barriers at the ends of loops and of single, and pieces that are given out */
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 10; i++)
            works(1);
#pragma omp single
        works(3);
#pragma omp for schedule(static)
        for (int i = 0; i < threads; i++)
            works(1 + i);
    }
    end(threads);
    begin();
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < 7; i++)
        works(1);
    end(threads);
    begin();
#pragma omp parallel num_threads(2)
    works(3);
    end(2);
    begin();
    int waited = 0;
#pragma omp parallel reduction(+ : waited)
    {
        works(1 + omp_get_thread_num());
        waited++;
    }
    end(threads);
    if (waited != threads)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int threads = omp_get_max_threads();
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 5) && threads <= MOST; i++)
        turn(threads);
    MPI_Reduce(&all, &sum, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("threads %.6f scheduling %.6f imbalance %.6f regions %.6f serial %.6f\n", sum.threads, sum.scheduling,
               sum.imbalance, sum.regions, sum.serial);
    MPI_Finalize();
    return 0;
}
