/* SPDX-License-Identifier: MIT
 *
 * Rank 0 counts the ways to place queens on a board, with a task for each of the first rows. Rank 1 waits in the
 * barrier and runs some of the tasks.
 *
 * Compile: mpicc -fws -O3 tasks.c -o tasks
 * Run:     mpirun -workshare -n 2 ./tasks
 * Prints:  ways to place 12 queens: 14200
 */
#include <mpi.h>
#include <stdio.h>

enum { size = 12, rows_of_tasks = 3 };

/* `columns` and the diagonals that run down and up are taken. */
static long place(int row, unsigned columns, unsigned down, unsigned up)
{
    long found[size] = {0}, sum = 0;
    if (row == size)
        return 1;
    for (int i = 0; i < size; i++) {
        const unsigned queen = 1u << i;
        if ((columns | down | up) & queen)
            continue;
#pragma ws task shared(found) final(row >= rows_of_tasks)
        found[i] = place(row + 1, columns | queen, (down | queen) << 1, (up | queen) >> 1);
    }
#pragma ws taskwait
    for (int i = 0; i < size; i++)
        sum += found[i];
    return sum;
}

int main(int argc, char **argv)
{
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0)
        printf("ways to place %d queens: %ld\n", size, place(0, 0, 0, 0));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
