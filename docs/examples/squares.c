/* SPDX-License-Identifier: MIT
 *
 * A pool of tasks in C: rank 0 puts them, all ranks run them.
 *
 * Compile: mpicc -O3 squares.c -o squares -lws
 * Run:     mpirun -workshare -n 2 ./squares
 * Prints:  333332833333500000
 */
#include <mpi.h>
#include <stdio.h>
#include <workshare/task.h>

static int square(struct ws_task *task)
{
    const long n = *(long *) task->data, result = n * n;
    return ws_task_set_result(task, &result, sizeof result);
}

static void add(void *into, const void *from, void *context)
{
    (void) context;
    *(long *) into += *(const long *) from;
}

static void check(int error)
{
    if (error) {
        fprintf(stderr, "%s\n", ws_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    const struct ws_task_kind kind = { .name = "square", .run = square, .result = sizeof(long), .combine = add };
    int rank, number;
    long sum;
    ws_pool *pool;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check(ws_pool_create(MPI_COMM_WORLD, &pool));
    check(ws_pool_register(pool, &kind, &number));
    for (long i = 0; rank == 0 && i < 1000000; i++)
        check(ws_pool_put(pool, number, &i, sizeof i, NULL));
    check(ws_pool_run(pool));
    check(ws_pool_get_total(pool, number, &sum, sizeof sum));    /* the same on all ranks */
    check(ws_pool_free(&pool));
    if (rank == 0)
        printf("%ld\n", sum);
    MPI_Finalize();
}
