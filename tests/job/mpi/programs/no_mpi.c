/* SPDX-License-Identifier: MIT
 *
 * An OpenMP program without MPI: prints how many threads its regions have. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    printf("%d threads\n", threads);
    return 0;
}
