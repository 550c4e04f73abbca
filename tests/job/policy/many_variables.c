/* SPDX-License-Identifier: MIT
 *
 * Parallel regions of each kind that a runtime's entry must pass on as it is: with many shared and private variables,
 * an if clause, a num_threads clause, and a region within. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define EIGHTY(m) TEN(m, 1) TEN(m, 2) TEN(m, 3) TEN(m, 4) TEN(m, 5) TEN(m, 6) TEN(m, 7) TEN(m, 8)
#define DEFINE(n) int v##n = n;
#define ADD(n) +v##n
#define CHANGE(n) v##n++;

int main(int argc, char **argv)
{
    EIGHTY(DEFINE)
    const long all = 0 EIGHTY(ADD);
    double d = 2.5;
    float f = 1.5f;
    int wrong = 0;
    MPI_Init(&argc, &argv);
    for (int turn = 0; turn < 60; turn++) {
        long sum = 0, count = 0;
        int threads = 0, usual = omp_get_max_threads();
        #pragma omp parallel reduction(+ : sum) firstprivate(d, f)
        {
            sum += (0 EIGHTY(ADD)) * (d == 2.5) * (f == 1.5f);
            #pragma omp single
            {
                threads = omp_get_num_threads();
                if (argc > 100) {
                    EIGHTY(CHANGE)
                }
            }
        }
        wrong += sum != threads * all || threads > usual;
        #pragma omp parallel num_threads(3) if (turn % 2) reduction(+ : count)
        {
            int level = 0;
            #pragma omp parallel num_threads(2) reduction(max : level)
            level = omp_get_level();
            count += level == 2;
        }
        wrong += count < 1 || count > (turn % 2 ? 3 : 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (wrong)
        printf("%d regions were wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
