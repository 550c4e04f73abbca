/* SPDX-License-Identifier: MIT
 *
 * short_tasks [chain]: rank 0 runs regions of short tasks, each once, while rank 1 waits. A tree of tasks; many tasks
 * of one thread; tasks in an order, by dependences and priorities; untied ones that put others and wait for them; some
 * with copies of an array; a sum of a task group; and, with "chain", tasks that put each other, one after the other.
 * Each task counts itself. Prints "right" or what is wrong, the milliseconds of the tree and of the many, and
 * which parts of them ran on other threads than the one that ran most. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { TREE = 24, MANY = 50000, CHAIN = 300000, LINKS = 4000, UNTIED = 18 };

static long counted[64][8]; /* by thread, each in a line of its own */
static void count(void) { counted[omp_get_thread_num() % 64][0]++; }
/* Some 30 ns. */
static void count_slowly(void)
{
    for (int i = 0; i < 100; i++)
        __asm__ volatile("");
    count();
}
/* `others`: of other threads than the one with most. */
static long take_counts(long *others)
{
    long all = 0, most = 0;
    for (int t = 0; t < 64; t++) {
        all += counted[t][0];
        most = counted[t][0] > most ? counted[t][0] : most;
    }
    *others = all - most;
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
/* Is run in parts: it puts itself again where it waits. */
static long untied_fib(int n)
{
    long sum = 0;
    if (n < 2) {
        count();
        return n;
    }
#pragma omp task untied shared(sum)
    {
        long a, b;
        count();
#pragma omp task shared(a)
        a = untied_fib(n - 1);
#pragma omp task untied shared(b)
        b = untied_fib(n - 2);
#pragma omp taskwait
        sum = a + b;
    }
#pragma omp taskwait
    return sum;
}

/* GCC has a function that copies an array whose length is not known; clang has no such arrays. */
static void copies(int n, long *all)
{
#ifdef __clang__
    int numbers[5];
#else
    int numbers[n];
#endif
    for (int i = 0; i < n; i++)
        numbers[i] = i;
    for (int k = 0; k < MANY; k++) {
        numbers[0] = k;
#pragma omp task firstprivate(numbers)
        {
            long sum = 0;
            count();
            for (int i = 0; i < n; i++)
                sum += numbers[i];
#pragma omp atomic
            *all += sum;
        }
    }
}

static long calls(int n) { return n < 2 ? 1 : 1 + calls(n - 1) + calls(n - 2); }

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

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        long of_tree, of_many, others, sum = 0, last = 0, copied = 0, total = 0;
        const char *wrong = NULL;
        for (const double until = MPI_Wtime() + 2e-3; MPI_Wtime() < until;) /* the others wait now */
            ;
        const double began = MPI_Wtime();
#pragma omp parallel
#pragma omp single
        sum = fib(TREE);
        const double tree = MPI_Wtime() - began;
        if (sum != 46368 || take_counts(&of_tree) != calls(TREE))
            wrong = "the tree";

        const double then = MPI_Wtime();
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < MANY; i++)
#pragma omp task
            count_slowly();
        const double many = MPI_Wtime() - then;
        if (take_counts(&of_many) != MANY)
            wrong = "the many";

#pragma omp parallel
#pragma omp single
        for (long i = 0; i < LINKS; i++) {
#pragma omp task depend(inout : last) firstprivate(i) shared(wrong)
            {
                count();
                if (last != i)
                    wrong = "the order";
                last = i + 1;
            }
#pragma omp task priority(1)
            count();
        }
        if (last != LINKS || take_counts(&others) != 2 * LINKS)
            wrong = "the links";

#pragma omp parallel
#pragma omp single
        sum = untied_fib(UNTIED);
        if (sum != 2584 || take_counts(&others) != calls(UNTIED))
            wrong = "the untied";

#pragma omp parallel
#pragma omp single
        copies(5, &copied);
        if (copied != 10L * MANY + (long) MANY * (MANY - 1) / 2 || take_counts(&others) != MANY)
            wrong = "the copies";

#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : total)
        for (long i = 0; i < MANY; i++)
#pragma omp task in_reduction(+ : total) firstprivate(i)
        {
            count();
            total += i;
        }
        if (total != (long) MANY * (MANY - 1) / 2 || take_counts(&others) != MANY)
            wrong = "the sum";

        if (argc > 1) {
#pragma omp parallel
#pragma omp single
            chain(CHAIN);
            if (take_counts(&others) != CHAIN)
                wrong = "the chain";
        }
        printf("%s %.3f %.3f %.3f %.3f\n", wrong ? wrong : "right", 1e3 * tree, 1e3 * many,
               (double) of_tree / (double) calls(TREE), (double) of_many / MANY);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
