/* SPDX-License-Identifier: MIT
 *
 * The former names of task.h, which go with the next release: this program is compiled with them, and libws has them
 * for programs that were linked with it before. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <workshare/task.h>

static void add(void *into, const void *from, void *context)
{
    (void) context;
    *(long *) into += *(const long *) from;
}

static int square(struct ws_task *task)
{
    const long n = *(const long *) task->data, result = n * n;
    return ws_task_result(task, &result, sizeof result);
}

static int is_exported(const char *former, const char *now)
{
    void *const found = dlsym(RTLD_DEFAULT, former);
    if (!found || found != dlsym(RTLD_DEFAULT, now))
        printf("%s is not %s\n", former, now);
    return found && found == dlsym(RTLD_DEFAULT, now);
}

int main(int argc, char **argv)
{
    static const char *const names[][2] = {
        {"ws_tasks_create", "ws_pool_create"},   {"ws_tasks_kind", "ws_pool_register"},
        {"ws_task_put", "ws_pool_put"},          {"ws_task_result", "ws_task_set_result"},
        {"ws_tasks_run", "ws_pool_run"},         {"ws_tasks_reduced", "ws_pool_get_total"},
        {"ws_tasks_future", "ws_pool_get_result"}, {"ws_tasks_counts", "ws_pool_get_counts"},
        {"ws_tasks_free", "ws_pool_free"}};
    const struct ws_task_kind how = {.name = "square", .run = square, .result = sizeof(long), .combine = add},
                               single = {.name = "single", .run = square, .result = sizeof(long)};
    int rank, ranks, kind, kept, right = 1;
    long all = 0, mine = 0;
    size_t bytes;
    ws_tasks *pool;
    struct ws_task_counts counts;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        right &= is_exported(names[i][0], names[i][1]);
    if (ws_tasks_create(MPI_COMM_WORLD, &pool) || ws_tasks_kind(pool, &how, &kind) ||
        ws_tasks_kind(pool, &single, &kept))
        return 1;
    const long n = rank + 1;
    uint64_t future;
    const struct ws_task_options keep = {.future = &future};
    if (ws_task_put(pool, kind, &n, sizeof n, NULL) || ws_task_put(pool, kept, &n, sizeof n, &keep) ||
        ws_tasks_run(pool) ||
        ws_tasks_reduced(pool, kind, &all, sizeof all) || ws_tasks_future(pool, future, &mine, sizeof mine, &bytes) ||
        ws_tasks_counts(pool, &counts) || ws_tasks_free(&pool))
        return 1;
    right &= mine == n * n && counts.put == 2 && all == ranks * (ranks + 1L) * (2L * ranks + 1) / 6;
    if (rank == 0)
        printf("%s\n", right ? "right" : "wrong");
    MPI_Finalize();
    return !right;
}
