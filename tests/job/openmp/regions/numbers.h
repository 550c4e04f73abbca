/* SPDX-License-Identifier: MIT
 *
 * Threads that ask for their numbers, or could be told apart by them. */
#pragma once

static int each_marked_once(void)
{
    for (int i = 0; i < told; i++)
        if (marks[i] != 1)
            return 0;
    return 1;
}

/* Thread numbers: each once, below what was told at the start. */
static int numbers(void)
{
    int wrong = 0, sum = 0;
    memset(marks, 0, (size_t) told * sizeof *marks);
#pragma omp parallel reduction(+ : wrong, sum)
    {
        const int me = omp_get_thread_num(), all = omp_get_num_threads();
        wrong += me >= all || all > told || omp_in_parallel() != (all > 1) || omp_get_level() != 1;
        marks[me]++;
        for (int i = me; i < iterations; i += all) {
            work(i);
            sum += i;
        }
        wrong += omp_get_thread_num() != me || omp_get_num_threads() != all;
    }
    return wrong == 0 && each_marked_once() && sum == sum_to(iterations);
}

/* The same in the order in which GCC's code asks to deal a loop. */
static int numbers_in_a_row(void)
{
    memset(marks, 0, (size_t) told * sizeof *marks);
#pragma omp parallel
    {
        const int all = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = me; i < iterations; i += all)
            work(i);
        marks[me]++;
    }
    return each_marked_once();
}

/* The number by which a loop is distributed is one that the program uses, too. */
static int number_after_loop(void)
{
    memset(marks, 0, (size_t) told * sizeof *marks);
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < iterations; i++)
            work(i);
        marks[omp_get_thread_num()]++;
    }
    return each_marked_once();
}

/* Many loops that need each other's results, in which nobody asks for numbers: the first thread is told from others. */
static int nameless_phases(void)
{
    enum { sweeps = 6 };
    static double a[iterations], b[iterations];
    double total = 0;
    int swaps = 0, masters = 0;
    for (int i = 0; i < iterations; i++)
        a[i] = i;
#pragma omp parallel
    {
        for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp for
            for (int i = 0; i < iterations; i++) {
                if (sweep == 0)
                    work(i);
                b[i] = (a[i] + a[(i + 1) % iterations]) / 2;
            }
#pragma omp for schedule(dynamic, 3)
            for (int i = 0; i < iterations; i++)
                a[i] = b[(i + iterations - 1) % iterations];
#pragma omp single
            swaps++;
#pragma omp master
            masters++;
        }
#pragma omp for reduction(+ : total)
        for (int i = 0; i < iterations; i++)
            total += a[i];
    }
    return total == sum_to(iterations) && swaps == sweeps && masters == sweeps;
}

/* Each thread is there once: as many as the program was told, or as a rank has of its own, while no rank helps. */
static int threads_counted(void)
{
    const char *own = getenv("OMP_NUM_THREADS");
    int threads = 0;
#pragma omp parallel
    {
#pragma omp atomic
        threads++;
    }
    for (int i = 0; i < iterations; i++)
        done[i] = 1;
    return threads == told || (own && threads == atoi(own));
}

/* Asks only in a late turn, in a place where nobody asked before. */
static int asks_late(void)
{
    int wrong = 0;
    memset(marks, 0, (size_t) told * sizeof *marks);
#pragma omp parallel for schedule(dynamic) reduction(+ : wrong)
    for (int i = 0; i < iterations; i++) {
        work(i);
        if (turn > 3) {
            const int me = omp_get_thread_num();
            /* nobody else has it now */
            wrong += me >= told || __atomic_fetch_add(&marks[me], 1, __ATOMIC_RELAXED) != 0;
            work(i);
            __atomic_fetch_add(&marks[me], -1, __ATOMIC_RELAXED);
            __atomic_fetch_add(&done[i], -1, __ATOMIC_RELAXED);
        }
    }
    return wrong == 0;
}
