/* SPDX-License-Identifier: MIT
 *
 * delivered [apart]: large results that tasks of other ranks need. Each rank puts a grid of tasks, pinned to ranks at
 * random, and each task needs three results of the row before. What comes out must be what the same functions give
 * without a pool. With "apart" each rank is a node, and the bytes that moved must be those of the results: each of
 * them once to each rank that needs it. */
#include "workshare/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 12, columns = 6, needs = 3 };

static int rank, ranks;

struct place {
    uint64_t home, row, column;
};

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 27);
}

static uint64_t number_of(const struct place *p)
{
    return (p->home * rows + p->row) * columns + p->column;
}

static size_t words_of(const struct place *p)
{
    return 2048 + mixed(number_of(p)) % 12000;  /* 16 KB and more */
}

static int rank_of(const struct place *p)
{
    return (int) (mixed(number_of(p) + 77777) % (uint64_t) ranks);
}

/* The result of a task, from those that it needs. */
static void compute(const struct place *p, const uint64_t *const *inputs, const size_t *words, uint64_t *result)
{
    uint64_t x = number_of(p);
    for (size_t n = 0; inputs && n < needs; n++)
        for (size_t i = 0; i < words[n]; i++)
            x = mixed(x ^ inputs[n][i]);
    for (size_t i = 0; i < words_of(p); i++)
        result[i] = x = mixed(x + i);
}

static void must(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "rank %d: %s: %s\n", rank, what, ws_last_error());
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static int run(struct ws_task *task)
{
    const struct place *p = task->data;
    const uint64_t *inputs[needs];
    size_t words[needs];
    uint64_t *const result = malloc(words_of(p) * sizeof *result);
    for (size_t n = 0; p->row && n < needs; n++) {
        const void *data;
        must(ws_task_get_input(task, n, &data, &words[n]), "an input");
        inputs[n] = data;
        words[n] /= sizeof *inputs[n];
    }
    compute(p, p->row ? inputs : NULL, words, result);
    const int error = ws_task_set_result(task, result, words_of(p) * sizeof *result);
    free(result);
    return error ? error : rank == rank_of(p) ? 0 : 1;
}

/* How many bytes a result moves: from its rank to those that need it, or, from its home, within each such task. */
static uint64_t bytes_moved(const struct place *p)
{
    const int from = rank_of(p), home = (int) p->home;
    uint64_t tasks = 0, others = 0;
    int is_needed[1024] = { 0 };
    is_needed[home] = p->row + 1 == rows;
    for (uint64_t c = 0; p->row + 1 < rows && c < columns; c++)
        for (uint64_t n = 0; n < needs; n++)
            if ((c + n) % columns == p->column) {
                const struct place user = { p->home, p->row + 1, c };
                is_needed[rank_of(&user)] = 1;
                tasks += rank_of(&user) != home;
            }
    for (int r = 0; r < ranks; r++)
        others += r != from && is_needed[r];
    return (from == home ? tasks : others) * words_of(p) * sizeof(uint64_t);
}

int main(int argc, char **argv)
{
    const struct ws_task_kind kind = {.name = "grid", .run = run, .result = SIZE_MAX };
    static uint64_t *wanted[rows][columns];
    uint64_t futures[rows][columns], counted[2] = { 0, 0 }, least = 0;
    int number, failed = 0;
    struct ws_pool_counts counts;
    ws_pool *pool;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int is_apart = argc > 1 && strcmp(argv[1], "apart") == 0;
    must(ws_pool_create(MPI_COMM_WORLD, &pool), "create");
    must(ws_pool_register(pool, &kind, &number), "kind");
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t column = 0; column < columns; column++) {
            const struct place p = { (uint64_t) rank, row, column };
            const uint64_t *inputs[needs];
            uint64_t from[needs];
            size_t words[needs];
            for (uint64_t n = 0; row && n < needs; n++) {
                const struct place q = { (uint64_t) rank, row - 1, (column + n) % columns };
                from[n] = futures[q.row][q.column];
                inputs[n] = wanted[q.row][q.column];
                words[n] = words_of(&q);
            }
            wanted[row][column] = malloc(words_of(&p) * sizeof(uint64_t));
            compute(&p, row ? inputs : NULL, words, wanted[row][column]);
            const struct ws_task_options options = {
                .pinned = 1, .future = &futures[row][column], .inputs = from, .inputs_count = row ? needs : 0,
                .has_rank = 1, .rank = rank_of(&p)
            };
            must(ws_pool_put(pool, number, &p, sizeof p, &options), "put");
            least += bytes_moved(&p);
        }
    for (uint64_t row = 0; row + 1 < rows; row++)
        for (uint64_t column = 0; column < columns; column++)
            must(ws_pool_drop_result(pool, futures[row][column]), "drop");
    must(ws_pool_run(pool), "run");
    for (uint64_t column = 0; column < columns; column++) {
        const struct place p = { (uint64_t) rank, rows - 1, column };
        const size_t bytes = words_of(&p) * sizeof(uint64_t);
        size_t came = 0;
        uint64_t *const result = malloc(bytes);
        must(ws_pool_get_result(pool, futures[rows - 1][column], result, bytes, &came), "result");
        failed += came != bytes || memcmp(result, wanted[rows - 1][column], bytes) != 0;
        free(result);
    }
    must(ws_pool_get_counts(pool, &counts), "counts");
    counted[0] = counts.bytes_out, counted[1] = least;
    MPI_Allreduce(MPI_IN_PLACE, counted, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* Beside the results, only what the tasks themselves are. */
    failed +=
        is_apart && (counted[0] < counted[1] || counted[0] > counted[1] + 1000u * rows * columns * (unsigned)ranks);
    if (rank == 0)
        printf("%s: %" PRIu64 " bytes moved, %" PRIu64 " are needed\n", failed ? "WRONG" : "right", counted[0],
               counted[1]);
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t column = 0; column < columns; column++)
            free(wanted[row][column]);
    must(ws_pool_free(&pool), "free");
    MPI_Finalize();
    return failed != 0;
}
