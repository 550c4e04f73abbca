/* SPDX-License-Identifier: MIT
 *
 * Named phases and loops: the report shows each of them by itself.
 *
 * Compile: mpicc -fws -O3 phases.c -o phases
 * Run:     mpirun -workshare -workshare-report -n 2 ./phases
 * Prints:  9473.5830 5928.8684
 */
#include <mpi.h>
#include <stdio.h>
#include <workshare/ws.h>

int main(int argc, char **argv)
{
    int me;
    double matrix = 0, solution = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    long n = me == 0 ? 2000 : 20000;

    ws_phase_begin("assemble");
#pragma ws for name("assemble") reduction(+ : matrix)
    for (long i = 0; i < n; i++)
        for (long j = 0; j < 2000; j++)
            matrix += 1.0 / (i + j + 1);
    MPI_Allreduce(MPI_IN_PLACE, &matrix, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ws_phase_end();

    ws_phase_begin("solve");
#pragma ws for name("solve") reduction(+ : solution)
    for (long i = 0; i < n; i++)
        for (long j = 0; j < 1000; j++)
            solution += 1.0 / (i + j + 1);
    MPI_Allreduce(MPI_IN_PLACE, &solution, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ws_phase_end();

    if (me == 0)
        printf("%.4f %.4f\n", matrix, solution);
    MPI_Finalize();
}
