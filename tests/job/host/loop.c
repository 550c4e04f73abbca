/* SPDX-License-Identifier: MIT
 *
 * The loop of waits.F90. Returns its time by that of its work. */
#include <mpi.h>

double loop_of_rank_0(void)
{
    enum { N = 200 };
    const double unit = 100e-6, began = MPI_Wtime();
#pragma ws for
    for (int i = 0; i < N; i++)
        for (double since = MPI_Wtime(); MPI_Wtime() - since < unit;)
            ;
    return (MPI_Wtime() - began) / (N * unit);
}
