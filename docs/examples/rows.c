/* SPDX-License-Identifier: MIT
 *
 * XMPI: rows of a vector follow the processes' speed. Each iteration adds 1 to every element, slowly.
 *
 * Compile: mpicc -O3 rows.c -o rows
 * Run:     mpirun -workshare -workshare-rows-interval 10 -n 2 ./rows
 * Prints:  1000 rows, each 100
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <workshare/xmpi.h>

int main(int argc, char **argv)
{
    XMPI_Partition rows;
    MPI_Count count, displ;
    int rank, moved;
    long wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    XMPI_Get_wsize(MPI_COMM_WORLD, 1000, MPI_INFO_NULL, &rows, &count, &displ);     /* equal parts, to begin with */
    double *x = calloc((size_t) count, sizeof *x);
    XMPI_Register(rows, &x, 1, MPI_DOUBLE, XMPI_ROWS);
    for (int i = 0; i < 100; i++) {
        XMPI_Monitor_begin(rows);
        for (MPI_Count row = 0; row < count; row++)
            for (int j = 0; j < 1000; j++)
                x[row] += 0.001;
        XMPI_Monitor_end(rows, &count, &displ, &moved);     /* may have changed x, count and displ */
    }
    for (MPI_Count row = 0; row < count; row++)
        wrong += x[row] < 99.999 || x[row] > 100.001;
    long mine = (long) count;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld rows, each %s\n", all, wrong ? "wrong" : "100");
    XMPI_Partition_free(&rows);
    free(x);
    MPI_Finalize();
}
