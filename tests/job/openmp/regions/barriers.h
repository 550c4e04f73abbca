/* SPDX-License-Identifier: MIT
 *
 * Threads that wait for each other in OpenMP's own ways. */
#pragma once

static int single(void)
{
    int singles = 0, masters = 0;
#pragma omp parallel
    {
#pragma omp single nowait
        singles++;
#pragma omp master
        masters++;
        ALL_WORK
    }
    return singles == 1 && masters == 1;
}

static int barriers(void)
{
    int first = 0, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp for
        for (int i = 0; i < iterations; i++)
            work(i);
#pragma omp atomic
        first++;
        TOUCH_ERRNO(7)
#pragma omp barrier
        TOUCH_ERRNO(8)
        wrong += first != omp_get_num_threads();
    }
    return wrong == 0;
}

/* One region as in codes of one region: many loops that need each other's results, and scratch of each thread's own. */
static int phases(void)
{
    enum { sweeps = 12 };
    static double a[iterations], b[iterations];
    double largest = 0, total = 0;
    int swaps = 0, wrong = 0;
    for (int i = 0; i < iterations; i++)
        a[i] = i;
#pragma omp parallel reduction(+ : wrong)
    {
        double scratch[500];
        const int me = omp_get_thread_num();
        for (int sweep = 0; sweep < sweeps; sweep++) {
            for (int i = 0; i < 500; i++)
                scratch[i] = me + sweep;
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
#pragma omp for schedule(guided) reduction(max : largest) nowait
            for (int i = 0; i < iterations; i++)
                largest = a[i] > largest ? a[i] : largest;
#pragma omp barrier
            for (int i = 0; i < 500; i++)
                wrong += scratch[i] != me + sweep;
            wrong += omp_get_thread_num() != me;
        }
#pragma omp for reduction(+ : total)
        for (int i = 0; i < iterations; i++)
            total += a[i];
        wrong += total != sum_to(iterations);
    }
    return wrong == 0 && swaps == sweeps && largest < iterations;
}

/* A lock that is held over a barrier, and waited for after it. */
static int lock_over_barrier(void)
{
    int inside = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        if (me == 0)
            omp_set_lock(&lock);
#pragma omp for
        for (int i = 0; i < iterations; i++)
            work(i);
        if (me == 0)
            inside += 100;
        else
            omp_set_lock(&lock);
        inside++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return inside > 100;
}
