/* SPDX-License-Identifier: MIT
 *
 * refused WHAT: what libws asks the system for, while a rank waits and could help.
 *    loop     a ws loop, again and again
 *    region   parallel regions, with and without threads that wait for each other by spinning
 *    pool     a pool of tasks, by a program with several threads */
#include "test.h"
#include "workshare/task.h"
#include <omp.h>

static void loop(void)
{
    for (int turn = 0; turn < 5; turn++) {
        long sum = 0;
#pragma ws for reduction(+ : sum)
        for (int i = 0; i < 200; i++) {
            busy(50e-6);
            sum += i;
        }
        CHECK(sum == 199 * 100);
    }
}

static void region(void)
{
    for (int turn = 0; turn < 4; turn++) {
        long sum = 0;
        int arrived = 0;
#pragma omp parallel reduction(+ : sum)
        {
            const int threads = omp_get_num_threads();
            if (turn % 2) {
                __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
                while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < threads)
                    ;
            }
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < 200; i++) {
                busy(50e-6);
                sum += i;
            }
        }
        CHECK(sum == 199 * 100);
    }
}

static int add_one(struct ws_task *task)
{
    const long one = 1;
    busy(100e-6);
    return ws_task_set_result(task, &one, sizeof one);
}

static void add_long(void *into, const void *from, void *context)
{
    (void) context;
    *(long *) into += *(const long *) from;
}

static void run_pool(void)
{
    const struct ws_task_kind kind = {.name = "add_one", .run = add_one, .result = sizeof(long), .combine = add_long};
    ws_pool *pool = NULL;
    int number = -1;
    long sum = 0;
    CHECK(ws_pool_create(MPI_COMM_WORLD, &pool) == 0);
    CHECK(ws_pool_register(pool, &kind, &number) == 0);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; rank == 0 && i < 400; i++)
            CHECK(ws_pool_put(pool, number, NULL, 0, NULL) == 0);
        CHECK(ws_pool_run(pool) == 0);
        CHECK(ws_pool_get_total(pool, number, &sum, sizeof sum) == 0 && sum == 400);
    }
    CHECK(ws_pool_free(&pool) == 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(what, "pool") == 0)
        run_pool();
    else if (rank == 0 && strcmp(what, "loop") == 0)
        loop();
    else if (rank == 0)
        region();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%s ended\n", what);
    return end();
}
