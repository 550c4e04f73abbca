/* SPDX-License-Identifier: MIT
 *
 * watched TURNS: in each turn rank 0 runs one region of each kind while the others wait. A tool is to count the same
 * events whether regions are shared or not. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 64 };
static long done[COUNT];

static void work(int i)
{
    const struct timespec nap = {0, 200000};
    nanosleep(&nap, NULL);
    __atomic_fetch_add(&done[i], 1, __ATOMIC_RELAXED);
}

static long loops(void)
{
    long sum = 0, last = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < COUNT; i++)
            work(i);
#pragma omp for schedule(dynamic, 4) nowait
        for (int i = 0; i < COUNT; i++)
            work(i);
#pragma omp for schedule(static, 3) lastprivate(last)
        for (int i = 0; i < COUNT; i++)
            last = i;
#pragma omp barrier
#pragma omp for schedule(guided) reduction(+ : sum)
        for (int i = 0; i < COUNT; i++)
            sum += i;
    }
    return sum + last;
}

static void combined(void)
{
#pragma omp parallel for
    for (int i = 0; i < COUNT; i++)
        work(i);
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 0; i < COUNT; i++)
        work(i);
}

static long constructs(void)
{
    long singles = 0, masters = 0, sections = 0, critical = 0, order = 0, copied = 0;
#pragma omp parallel
    {
        long mine = 0;
#pragma omp single
        singles++;
#pragma omp single nowait
        singles++;
#pragma omp single copyprivate(mine)
        mine = 7;
#pragma omp master
        masters++;
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp atomic
                sections++;
            }
#pragma omp section
            {
#pragma omp atomic
                sections++;
            }
        }
#pragma omp critical
        {
            critical++;
            copied += mine;
        }
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < COUNT; i++)
#pragma omp ordered
            order = order * 3 % 1000003 + i;
    }
    return singles + 10 * masters + 100 * sections + 1000 * critical + 100000 * copied + order;
}

static long tasks(void)
{
    long sum = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 10; i++)
#pragma omp task firstprivate(i) shared(sum)
        {
            work(i);
#pragma omp atomic
            sum += i;
#pragma omp task shared(sum)
#pragma omp atomic
            sum += 100;
#pragma omp taskwait
        }
#pragma omp taskwait
#pragma omp taskgroup
        {
#pragma omp task shared(sum)
#pragma omp atomic
            sum += 1000;
        }
    }
    return sum;
}

/* Regions of one thread, and of fewer and more. */
static long inner(void)
{
    long sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    {
        sum += 1;
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            sum += omp_get_level();
#pragma omp barrier
#pragma omp for
            for (int i = 0; i < 2; i++)
                sum += 10000;
#pragma omp single
            sum += 100000;
        }
#pragma omp parallel if (0) reduction(+ : sum)
        {
            sum += 100;
#pragma omp task shared(sum)
#pragma omp atomic
            sum += 10;
#pragma omp taskwait
        }
    }
#pragma omp parallel num_threads(1) reduction(+ : sum)
    sum += 1000;
    return sum;
}

int main(int argc, char **argv)
{
    int rank, turns = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int threads = omp_get_max_threads(); /* in each rank: then each has the library, and its tool */
    for (int turn = 0; turn < turns; turn++) {
        if (rank == 0) {
            combined();
            const long a = loops(), b = constructs(), c = tasks(), d = inner();
            if (turn == 0)
                printf("program threads %d results %ld %ld %ld %ld\n", threads, a, b, c, d);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
        long sum = 0;
        for (int i = 0; i < COUNT; i++)
            sum += done[i];
        printf("program done %ld\n", sum);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
