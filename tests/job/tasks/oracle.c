/* SPDX-License-Identifier: MIT
 *
 * oracle TASKS [SPIN_US [SLEEP_US [WHERE [TURNS]]]]: every task exactly once, in each of the pool's TURNS (2) runs. A
 * tree of TASKS tasks grows on rank 0 (WHERE 0), or on each rank (1): each task has the range of numbers of its
 * subtree, keeps one and puts tasks for the rest. What ran is counted by sums and by sums of squares, which one lost or
 * doubled task would change. Tasks have data of three sizes, one in 1000 is pinned, one in 100 has a future. Prints
 * what moved. */
#include "workshare/task.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks;
static double spin_s, sleep_s;

struct range {
    uint64_t lo, hi;            /* numbers; lo is this task's */
    int pinned;                 /* to a rank, or -1 */
    char more[];                /* up to 40,000 bytes */
};

struct sums {
    uint64_t count, sum, squares, wrong;
};

static void add(void *into, const void *from, void *context)
{
    struct sums *a = into;
    const struct sums *b = from;
    (void) context;
    a->count += b->count;
    a->sum += b->sum;
    a->squares += b->squares;
    a->wrong += b->wrong;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static size_t bytes_of(uint64_t number)
{
    return sizeof(struct range) + (number % 10007 == 0 ? 40000 : number % 13 == 0 ? 200 : 0);
}

static void must(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "rank %d: %s: %s\n", rank, what, ws_last_error());
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void put(ws_pool *pool, int kind, uint64_t lo, uint64_t hi)
{
    char room[40064];
    struct range *r = (struct range *) room;
    const size_t bytes = bytes_of(lo);
    struct ws_task_options options = { 0 };
    options.pinned = lo % 1000 == 7;
    options.priority = lo % 5 == 0;
    r->lo = lo;
    r->hi = hi;
    r->pinned = options.pinned ? rank : -1;
    memset(r->more, (int) (lo & 127), bytes - sizeof *r);
    must(ws_pool_put(pool, kind, r, bytes, &options), "put");
}

static int run(struct ws_task *task)
{
    const struct range *r = task->data;
    struct sums mine = { 1, r->lo, r->lo * r->lo, 0 };
    uint64_t rest = r->lo + 1, width;
    mine.wrong += task->bytes != bytes_of(r->lo) || (r->pinned >= 0 && r->pinned != rank);
    for (size_t i = 0; i < task->bytes - sizeof *r; i++)
        mine.wrong += r->more[i] != (char) (r->lo & 127);
    width = (r->hi - rest + 2) / 3;
    while (rest < r->hi) {
        const uint64_t to = rest + width < r->hi ? rest + width : r->hi;
        put(task->pool, task->kind, rest, to);
        rest = to;
    }
    if (sleep_s > 0)
        usleep((useconds_t) (1e6 * sleep_s));
    for (const double end = now() + spin_s; spin_s > 0 && now() < end;)
        ;
    return ws_task_set_result(task, &mine, sizeof mine);
}

static int square(struct ws_task *task)
{
    const uint64_t n = *(uint64_t *) task->data, result = n * n;
    return ws_task_set_result(task, &result, sizeof result);
}

int main(int argc, char **argv)
{
    const uint64_t tasks = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    const int everywhere = argc > 4 && atoi(argv[4]), turns = argc > 5 ? atoi(argv[5]) : 2;
    const struct ws_task_kind kind = {.name = "tree", .run = run, .result = sizeof(struct sums), .combine = add };
    const struct ws_task_kind squares = {.name = "square", .run = square, .result = sizeof(uint64_t) };
    struct sums all, wanted = { 0, 0, 0, 0 };
    uint64_t futures[100];
    struct ws_pool_counts counts;
    unsigned long long mine[4], sum[4];
    ws_pool *pool;
    int number, number_2, failed = 0;
    spin_s = argc > 2 ? 1e-6 * atof(argv[2]) : 0;
    sleep_s = argc > 3 ? 1e-6 * atof(argv[3]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(ws_pool_create(MPI_COMM_WORLD, &pool), "create");
    must(ws_pool_register(pool, &kind, &number), "kind");
    must(ws_pool_register(pool, &squares, &number_2), "kind");
    for (int turn = 0; turn < turns; turn++) {  /* a pool runs more than once */
        const int who = everywhere ? rank : 0;
        const double began = now();
        if (everywhere || rank == 0)
            put(pool, number, tasks * (uint64_t) who, tasks * (uint64_t) (who + 1));
        for (uint64_t i = 0; i < 100; i++) {
            const struct ws_task_options options = {.future = &futures[i] };
            must(ws_pool_put(pool, number_2, &i, sizeof i, &options), "put with a future");
        }
        must(ws_pool_run(pool), "run");
        must(ws_pool_get_total(pool, number, &all, sizeof all), "reduced");
        wanted.count = tasks * (uint64_t) (everywhere ? ranks : 1);
        wanted.sum = wanted.squares = 0;
        for (uint64_t i = 0; i < wanted.count; i++) {
            wanted.sum += i;
            wanted.squares += i * i;
        }
        for (uint64_t i = 0; i < 100; i++) {
            uint64_t result = 0;
            size_t bytes = 0;
            must(ws_pool_get_result(pool, futures[i], &result, sizeof result, &bytes), "future");
            failed += result != i * i || bytes != sizeof result;
        }
        failed += memcmp(&all, &wanted, sizeof all) != 0;
        if (memcmp(&all, &wanted, sizeof all))
            fprintf(stderr, "rank %d: %" PRIu64 " tasks, %" PRIu64 " wanted, %" PRIu64 " wrong\n", rank, all.count,
                    wanted.count, all.wrong);
        if (rank == 0)
            printf("turn %d: %.6f s\n", turn, now() - began);
    }
    must(ws_pool_get_counts(pool, &counts), "counts");
    mine[0] = counts.put, mine[1] = counts.run, mine[2] = counts.moved_out, mine[3] = counts.moved_in;
    MPI_Reduce(mine, sum, 4, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    printf("rank %d: run %" PRIu64 " out %" PRIu64 " in %" PRIu64 " letters %" PRIu64 " worth %" PRIu64 " room %" PRIu64
           " moved %" PRIu64 " none %" PRIu64 "\n",
           rank, counts.run, counts.moved_out, counts.moved_in, counts.letters, counts.kept_worth, counts.kept_room,
           counts.kept_moved, counts.kept_none);
    if (rank == 0) {
        failed += sum[0] != sum[1] || sum[2] != sum[3];
        printf("%s: put %llu run %llu out %llu in %llu\n", failed ? "WRONG" : "right", sum[0], sum[1], sum[2], sum[3]);
    }
    must(ws_pool_free(&pool), "free");
    MPI_Finalize();
    return failed != 0;
}
