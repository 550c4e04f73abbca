/* SPDX-License-Identifier: MIT
 * ws beside OpenMP. Without -fopenmp the omp pragmas are comments, as in any program. */
#include "check.h"

#define N 100

static void beside_each_other(void)
{
    long s = 0, t = 0;
#pragma omp parallel for reduction(+ : s) schedule(dynamic, 3) num_threads(2)
    for (int i = 0; i < N; i++)
        s += i;
#pragma ws for reduction(+ : t) schedule(dynamic, 3)
    for (int i = 0; i < N; i++)
        t += i;
    CHECK(s == 4950 && t == 4950);
}

static void ws_in_a_parallel_region(void)
{
    int total = 0, threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : total, threads)
    {
        int own = 0;
#pragma ws for reduction(+ : own)
        for (int i = 0; i < N; i++)
            own++;
        total += own;
        threads++;
    }
    CHECK(total == threads * N);
}

static void omp_in_a_ws_loop(void)
{
    int count = 0, locked = 0, first = 0, second = 0;
    long double wide = 0;
    int a[N];
#pragma ws for reduction(+ : first, second)
    for (int i = 0; i < N; i++) {
        long t = 0;
#ifdef _OPENMP
#pragma omp atomic
        count++;
#pragma omp atomic
        wide += 1;
#pragma omp critical
        locked++;
#pragma omp simd reduction(+ : t)
#else
        __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
#endif
        for (int j = 0; j < 10; j++)
            t += j;
        a[i] = (int) t;
        first++;
        second += 2;
        work();
    }
    CHECK(count == N && a[0] == 45 && a[N - 1] == 45 && first == N && second == 2 * N);
#ifdef _OPENMP
    CHECK(wide == N && locked == N);
#else
    (void) wide;
    (void) locked;
#endif
}

static void openmp_is_on_only_if_asked_for(void)
{
#ifdef _OPENMP
    int on = 1;
#else
    int on = 0;
#endif
#ifdef EXPECT_OPENMP
    CHECK(on);
#else
    CHECK(!on);
#endif
}

static void run_all(void)
{
    RUN(beside_each_other);
    RUN(ws_in_a_parallel_region);
    RUN(omp_in_a_ws_loop);
    RUN(openmp_is_on_only_if_asked_for);
}
