/* SPDX-License-Identifier: MIT
 *
 * order [right]: regions of OpenMP whose result depends on which thread comes last, unless `right`. Prints the sum of
 * what ten of them give. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

static volatile long last;

int main(int argc, char **argv)
{
    enum { iterations = 64 };
    const int right = argc > 1;
    long sum = 0;
    MPI_Init(&argc, &argv);
    for (int turn = 0; turn < 10; turn++) {
#pragma omp parallel for schedule(static, 1)
        for (long i = 0; i < iterations; i++)
            if (!right || i == iterations - 1)
                last = i;
        sum += last;
    }
    printf("sum %ld\n", sum);
    return MPI_Finalize();
}
