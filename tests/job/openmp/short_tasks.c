/* SPDX-License-Identifier: MIT
 *
 * short_tasks: rank 0 runs four regions of short tasks, each once, while rank 1 waits. A tree of tasks; many tasks of
 * one thread; tasks that put each other, one after the other; and tasks in an order, by dependences and priorities.
 * Each task counts itself. Prints "right" or "wrong", the milliseconds of the tree and of the many, and how many tasks
 * ran on another thread than the one that opened the region. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { TREE = 24, MANY = 20000, CHAIN = 300000, LINKS = 4000 };

static long counted[64][8]; /* by thread, each in a line of its own */
static void count(void) { counted[omp_get_thread_num() % 64][0]++; }
/* Some 200 ns. */
static void count_slowly(void)
{
    for (int i = 0; i < 300; i++)
        __asm__ volatile("");
    count();
}
static long take_counts(long *elsewhere)
{
    long all = 0;
    for (int t = 0; t < 64; t++) {
        all += counted[t][0];
        *elsewhere += t ? counted[t][0] : 0;
    }
    memset(counted, 0, sizeof counted);
    return all;
}

static long fib(int n)
{
    long a, b;
    count();
    if (n < 2)
        return n;
#pragma omp task untied shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}
static long calls(int n) { return n < 2 ? 1 : 1 + calls(n - 1) + calls(n - 2); }

#ifndef __clang__
/* If each ran within the one before, they would take some 100 MB of stack. */
static void chain(int left)
{
    char here[256];
    count();
    memset(here, left, sizeof here);
    __asm__ volatile("" : : "r"(here) : "memory");
    if (left > 1)
#pragma omp task firstprivate(left)
        chain(left - 1);
}
#endif

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        long elsewhere = 0, sum = 0, wrong = 0, last = 0;
        for (const double until = MPI_Wtime() + 2e-3; MPI_Wtime() < until;) /* the others wait now */
            ;
        const double began = MPI_Wtime();
#pragma omp parallel
#pragma omp single
        sum = fib(TREE);
        const double tree = MPI_Wtime() - began;
        wrong += sum != 46368 || take_counts(&elsewhere) != calls(TREE);

        const double then = MPI_Wtime();
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < MANY; i++)
#pragma omp task
            count_slowly();
        const double many = MPI_Wtime() - then;
        wrong += take_counts(&elsewhere) != MANY;

#ifndef __clang__ /* libomp runs all tasks of one thread at once */
#pragma omp parallel
#pragma omp single
        chain(CHAIN);
        wrong += take_counts(&elsewhere) != CHAIN;
#endif

#pragma omp parallel
#pragma omp single
        for (long i = 0; i < LINKS; i++) {
#pragma omp task depend(inout : last) firstprivate(i) shared(wrong)
            {
                count();
                wrong += last != i;
                last = i + 1;
            }
#pragma omp task priority(1)
            count();
        }
        wrong += last != LINKS || take_counts(&elsewhere) != 2 * LINKS;
        printf("%s %.3f %.3f elsewhere %ld\n", wrong ? "wrong" : "right", 1e3 * tree, 1e3 * many, elsewhere);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
