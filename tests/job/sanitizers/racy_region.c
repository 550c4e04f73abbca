/* SPDX-License-Identifier: MIT
 *
 * racy_region: threads of a parallel region of OpenMP write one variable, which ThreadSanitizer must report. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    long count = 0;
    MPI_Init(&argc, &argv);
    for (int turn = 0; turn < 100; turn++)
        #pragma omp parallel for schedule(static)
        for (int i = 0; i < 20000; i++)
            count++;
    printf("%ld\n", count);
    MPI_Finalize();
    return 0;
}
