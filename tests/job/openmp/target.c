/* SPDX-License-Identifier: MIT
 *
 * Regions in target and teams constructs, which run here, as there is no device. The last rank waits meanwhile. Prints
 * a line for each kind, with what must not depend on where the work was done. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 400, turns = 6 };

#pragma omp declare target
static unsigned long work(unsigned long x)
{
    for (int i = 0; i < 30000; i++)
        x = x * 6364136223846793005ul + 1442695040888963407ul;
    return x;
}
#pragma omp end declare target

/* Returns whether OpenMP tells a thread something wrong. */
static int misled(int teams, int most)
{
    return omp_get_num_teams() != teams || omp_get_team_num() >= teams || !omp_is_initial_device() ||
           omp_get_level() != 1 || omp_get_num_threads() > most || omp_get_thread_num() >= omp_get_num_threads() ||
           omp_get_thread_limit() < omp_get_num_threads();
}

static unsigned long sum, values[n];
static int wrong;

static void combined(void)
{
#pragma omp target teams distribute parallel for reduction(+ : sum, wrong) map(tofrom : sum, wrong)
    for (int i = 0; i < n; i++) {
        sum += work((unsigned long) i);
        wrong += misled(1, 256);
    }
}

static void apart(void)
{
#pragma omp target data map(tofrom : values)
    {
#pragma omp target parallel for
        for (int i = 0; i < n; i++)
            values[i] = work((unsigned long) i);
#pragma omp target map(tofrom : sum, wrong)
        {
#pragma omp parallel for reduction(+ : sum, wrong)
            for (int i = 0; i < n; i++) {
                sum += values[i] * (unsigned long) i;
                wrong += misled(1, 256);
            }
#pragma omp parallel reduction(+ : wrong)
            {
#pragma omp barrier
                wrong += misled(1, 256);
            }
        }
    }
}

static void later(void)
{
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) nowait depend(out : sum)
    for (int i = 0; i < n; i++)
        sum += work((unsigned long) i + 1);
#pragma omp taskwait
}

static void limited(void)
{
#pragma omp target teams thread_limit(2) map(tofrom : sum, wrong)
#pragma omp parallel for reduction(+ : sum, wrong)
    for (int i = 0; i < n; i++) {
        sum += work((unsigned long) i);
        wrong += misled(1, 2);
    }
}

static void leagues(void)
{
#pragma omp target teams num_teams(3) map(tofrom : sum, wrong) reduction(+ : sum, wrong)
#pragma omp distribute parallel for reduction(+ : sum, wrong)
    for (int i = 0; i < n; i++) {
        sum += work((unsigned long) i);
        wrong += misled(omp_get_num_teams(), 256);
    }
#pragma omp teams num_teams(2) reduction(+ : sum, wrong)
#pragma omp distribute parallel for reduction(+ : sum, wrong)
    for (int i = 0; i < n; i++) {
        sum += work((unsigned long) i);
        wrong += misled(omp_get_num_teams(), 256);
    }
}

static void within(void)
{
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        unsigned long one = 0;
        if (i % 50 == 0) {
#pragma omp target teams distribute parallel for reduction(+ : one) map(tofrom : one)
            for (int k = 0; k < 3; k++)
                one += work((unsigned long) k);
        }
        sum += one + work((unsigned long) i);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {{"combined", combined}, {"apart", apart},     {"later", later},
                 {"limited", limited},   {"leagues", leagues}, {"within", within}};
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (argc > 1 && strcmp(argv[1], kinds[k].name) != 0)
            continue;
        sum = 0;
        for (int turn = 0; turn < turns; turn++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank != ranks - 1)
                kinds[k].run();
        }
        if (rank == 0)
            printf("%s %lu %d\n", kinds[k].name, sum, wrong);
    }
    MPI_Finalize();
    return 0;
}
