/* SPDX-License-Identifier: MIT
 *
 * tasks TURNS: rank 0 sorts, by tasks that put tasks within a parallel region, while the others wait. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 20, LEAST = 1 << 12 };
static int numbers[COUNT], scratch[COUNT];

static int by_value(const void *a, const void *b)
{
    const int x = *(const int *) a, y = *(const int *) b;
    return (x > y) - (x < y);
}

static void sort(int *first, int *room, int n)
{
    if (n <= LEAST) {
        qsort(first, n, sizeof *first, by_value);
        return;
    }
    const int half = n / 2;
#pragma omp task
    sort(first, room, half);
#pragma omp task
    sort(first + half, room + half, n - half);
#pragma omp taskwait
    int a = 0, b = half;
    for (int i = 0; i < n; i++)
        room[i] = b == n || (a < half && first[a] <= first[b]) ? first[a++] : first[b++];
    memcpy(first, room, n * sizeof *first);
}

int main(int argc, char **argv)
{
    int rank, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; rank == 0 && turn < atoi(argv[1]); turn++) {
        for (unsigned i = 0, x = turn + 1; i < COUNT; i++)
            numbers[i] = (int) ((x = x * 1664525 + 1013904223) >> 4);
#pragma omp parallel
#pragma omp single nowait
        sort(numbers, scratch, COUNT);
        for (int i = 1; i < COUNT; i++)
            bad += numbers[i - 1] > numbers[i];
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", bad ? "wrong" : "right");
    MPI_Finalize();
    return bad != 0;
}
