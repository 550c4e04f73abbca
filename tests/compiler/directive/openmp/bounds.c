/* SPDX-License-Identifier: MIT
 * OpenMP's loops whose bounds are numbers of threads: the compiler keeps them in variables without a name. And collapsed
 * loops whose bounds depend on each other. */
#include "../accept/check.h"

#include <omp.h>

struct team {
    int threads;
};

static struct team the_team;
static int all;

static void bounds(void)
{
    long sum = 0;
    const int n = omp_get_max_threads();
    the_team.threads = n;
#pragma omp parallel for reduction(+ : sum) /* stays OpenMP: depends on the number of threads */
    for (int i = 0; i < omp_get_max_threads(); i++)
        sum += i + 1;
#pragma omp parallel for reduction(+ : sum) /* stays OpenMP: depends on the number of threads */
    for (int i = omp_get_max_threads() - 1; i >= 0; i--)
        sum += i + 1;
#pragma omp parallel for reduction(+ : sum) /* stays OpenMP: depends on the number of threads */
    for (int i = 0; i < the_team.threads; i++)
        sum += i + 1;
    all = n;
#pragma omp parallel for reduction(+ : sum) /* stays OpenMP: depends on the number of threads */
    for (int i = 0; i < all; i++)
        sum += i + 1;
    CHECK(sum == 4l * n * (n + 1) / 2);
}

static void triangles(void)
{
    long sum = 0;
    int i, j, x = -1;
#pragma omp parallel for collapse(2) lastprivate(x) reduction(+ : sum) /* stays OpenMP: the bounds of one of its loops depend on another */
    for (i = 1; i < 40; i++)
        for (j = 0; j < i; j++) {
            x = i * 100 + j;
            sum += x;
        }
    CHECK(x == 3938 && sum == 2063880);
}

static void run_all(void)
{
    RUN(bounds);
    RUN(triangles);
}
