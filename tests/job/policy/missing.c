/* SPDX-License-Identifier: MIT
 *
 * missing CASE: some ranks do not make a call in which the others wait for them. A job that hangs ends after 20 s, with
 * status 3. */
#include "workshare/mpix.h"
#include "workshare/task.h"
#include "workshare/xmpi.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

static void end(int signal)
{
    (void) signal;
    _exit(3);
}

static void must(int error)
{
    if (error) {
        fprintf(stderr, "rank %d: %s\n", rank, ws_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void wait_for_ever(void)
{
    int nothing;
    MPI_Recv(&nothing, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int nap(struct ws_task *task)
{
    (void) task;
    usleep(1000);
    return 0;
}

static ws_pool *new_pool(void)
{
    ws_pool *pool;
    int kind;
    must(ws_pool_create(MPI_COMM_WORLD, &pool));
    must(ws_pool_register(pool, &(struct ws_task_kind){.name = "nap", .run = nap}, &kind));
    for (int i = 0; i < 3; i++)
        must(ws_pool_put(pool, kind, NULL, 0, NULL));
    return pool;
}

static void iterate(int iterations)
{
    XMPI_Partition rows;
    MPI_Count count, displ;
    int moved;
    XMPI_Get_wsize(MPI_COMM_WORLD, 100, MPI_INFO_NULL, &rows, &count, &displ);
    double *values = malloc((size_t) count * sizeof *values);
    XMPI_Register(rows, &values, 1, MPI_DOUBLE, XMPI_ROWS);
    for (int i = 0; i < iterations; i++) {
        XMPI_Monitor_begin(rows);
        usleep(1000);
        XMPI_Monitor_end(rows, &count, &displ, &moved);
    }
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int has_threads;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &has_threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    signal(SIGALRM, end);
    alarm(20);
    const int last = rank == ranks - 1;
    if (strcmp(what, "create") == 0) {
        if (last)
            MPI_Barrier(MPI_COMM_WORLD);
        new_pool();
    } else if (strcmp(what, "run") == 0 || strcmp(what, "slow") == 0 || strcmp(what, "node") == 0) {
        ws_pool *pool = new_pool();
        must(ws_pool_run(pool));
        if (strcmp(what, "node") == 0 ? rank % 2 : last) {
            if (strcmp(what, "slow"))
                MPI_Barrier(MPI_COMM_WORLD);
            else
                usleep(13000000);
        }
        must(ws_pool_run(pool));
        must(ws_pool_free(&pool));
    } else if (strcmp(what, "free") == 0) {
        ws_pool *pool = new_pool();
        if (last)
            iterate(1);
        must(ws_pool_free(&pool));
    } else if (strcmp(what, "iterations") == 0) {
        iterate(last ? 4 : 20);
        return 0;
    } else if (strcmp(what, "reorder") == 0) {
        MPI_Comm comm;
        if (last)
            wait_for_ever();
        MPIX_Load_create(MPI_COMM_WORLD, MPIX_LOADS_MEASURED, MPI_INFO_NULL, &comm);
    }
    MPI_Finalize();
    return 0;
}
