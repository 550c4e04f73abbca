/* SPDX-License-Identifier: MIT
 *
 * fine LEAVES: a binary tree of tasks of some 150 ns each. Prints the seconds that it takes; each task runs once. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <workshare/task.h>

static int kind;

static void add(void *into, const void *from, void *context)
{
    (void) context;
    *(long *) into += *(const long *) from;
}

static int node(struct ws_task *task)
{
    const long leaves = *(long *) task->data, left = leaves / 2, right = leaves - left, one = 1;
    volatile double x = 1;
    for (int i = 0; i < 60; i++)
        x = x * 0.999 + 1;
    if (leaves == 1)
        return ws_task_set_result(task, &one, sizeof one);
    return ws_pool_put(task->pool, kind, &left, sizeof left, NULL) ||
           ws_pool_put(task->pool, kind, &right, sizeof right, NULL);
}

int main(int argc, char **argv)
{
    const struct ws_task_kind how = { .name = "node", .run = node, .result = sizeof(long), .combine = add };
    const long leaves = atol(argv[1]);
    long counted = 0;
    ws_pool *pool;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (ws_pool_create(MPI_COMM_WORLD, &pool) || ws_pool_register(pool, &how, &kind))
        return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    if ((rank == 0 && ws_pool_put(pool, kind, &leaves, sizeof leaves, NULL)) || ws_pool_run(pool))
        return 1;
    const double took = MPI_Wtime() - began;
    if (ws_pool_get_total(pool, kind, &counted, sizeof counted) || ws_pool_free(&pool))
        return 1;
    if (rank == 0)
        printf("%s %.6f\n", counted == leaves ? "right" : "wrong", took);
    return MPI_Finalize();
}
