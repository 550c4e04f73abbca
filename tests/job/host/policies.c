/* SPDX-License-Identifier: MIT
 *
 * policies tasks [MICROSECONDS] | rows | placement: a pool of tasks, rows that move, and placement by load, for
 * policies_test.py. Each task, row and rank is counted by its number. The output does not depend on who ran a task, who
 * had a row, or where a rank was placed. */
#include "../mpi/programs/test.h"
#include <workshare/mpix.h>
#include <workshare/task.h>
#include <workshare/xmpi.h>

enum { TASKS = 600, FUTURES = 20, INNER = 40, LOOP_EVERY = 25, ROWS = 300, WIDTH = 3, ITERATIONS = 60, RESIZE = 20 };

/* Checks that the ranks' counts add up to `want` for each of `n` numbers. Collective. */
static void each_is(const int *counts, int n, int want, const char *what)
{
    int *all = malloc(sizeof *all * (size_t) n), wrong = 0;
    MPI_Allreduce(counts, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        if (all[i] != want && wrong++ == 0 && rank == 0)
            printf("%s %d: counted %d times, wanted %d\n", what, i, all[i], want);
    CHECK(wrong == 0);
    free(all);
}

/* The data of a task: it counts `lo`, and puts tasks for the numbers from lo + 1 to hi - 1. */
struct part {
    int lo, hi, pinned; /* pinned: the rank, or -1 */
    char more[];        /* bytes_of(lo) in all, each byte the low bits of lo */
};

static int ran[TASKS], looped[TASKS / LOOP_EVERY];
static double unit; /* seconds that a task computes */

static size_t bytes_of(int number)
{
    return sizeof(struct part) + (number % 97 == 0 ? 20000 : number % 7 == 0 ? 100 : 0);
}

static void put(ws_pool *pool, int kind, int lo, int hi)
{
    const size_t bytes = bytes_of(lo);
    const struct ws_task_options options = {.pinned = lo % 50 == 9, .priority = lo % 3 == 0};
    struct part *part = malloc(bytes);
    *part = (struct part){lo, hi, options.pinned ? rank : -1};
    memset(part->more, lo & 127, bytes - sizeof *part);
    CHECK(ws_pool_put(pool, kind, part, bytes, &options) == 0);
    free(part);
}

static void loop_in_task(int number)
{
    int done[INNER] = {0}, sum = 0;
#pragma ws for reduction(+ : sum) schedule(dynamic, 1)
    for (int i = 0; i < INNER; i++) {
        busy(unit / INNER);
        done[i]++; /* not atomic: nobody else has iteration i */
        sum += i;
    }
    for (int i = 0; i < INNER; i++)
        CHECK(done[i] == 1);
    CHECK(sum == INNER * (INNER - 1) / 2);
    __atomic_fetch_add(&looped[number / LOOP_EVERY], 1, __ATOMIC_RELAXED);
}

static int count(struct ws_task *task)
{
    const struct part *part = task->data;
    const int number = part->lo, middle = (number + 1 + part->hi) / 2;
    const long result = (long) number * number;
    CHECK(task->bytes == bytes_of(number) && (part->pinned < 0 || part->pinned == rank));
    for (size_t i = 0; i < task->bytes - sizeof *part; i++)
        CHECK(part->more[i] == (char) (number & 127));
    __atomic_fetch_add(&ran[number], 1, __ATOMIC_RELAXED);
    if (middle > number + 1)
        put(task->pool, task->kind, number + 1, middle);
    if (part->hi > middle)
        put(task->pool, task->kind, middle, part->hi);
    if (number % LOOP_EVERY == 0)
        loop_in_task(number);
    else
        busy(unit);
    return ws_task_set_result(task, &result, sizeof result);
}

static void add(void *into, const void *from, void *context)
{
    (void) context;
    *(long *) into += *(const long *) from;
}

static int triple(struct ws_task *task)
{
    const int result = 3 * *(int *) task->data;
    return ws_task_set_result(task, &result, sizeof result);
}

/* Rank 0 puts one task, from which the others come. Each rank puts tasks with futures. The pool runs twice. */
static void tasks(void)
{
    const struct ws_task_kind counts = {.name = "count", .run = count, .result = sizeof(long), .combine = add};
    const struct ws_task_kind triples = {.name = "triple", .run = triple, .result = sizeof(int)};
    struct ws_pool_counts of_rank;
    long mine[4], all[4];
    int number = -1, number_2 = -1;
    ws_pool *pool = NULL;
    CHECK(ws_pool_create(MPI_COMM_WORLD, &pool) == 0);
    CHECK(ws_pool_register(pool, &counts, &number) == 0 && ws_pool_register(pool, &triples, &number_2) == 0);
    for (int turn = 1; turn <= 2; turn++) {
        uint64_t futures[FUTURES];
        long total = -1, want = 0;
        if (rank == 0)
            put(pool, number, 0, TASKS);
        for (int i = 0; i < FUTURES; i++) {
            const struct ws_task_options options = {.future = &futures[i]};
            CHECK(ws_pool_put(pool, number_2, &i, sizeof i, &options) == 0);
        }
        CHECK(ws_pool_run(pool) == 0);
        CHECK(ws_pool_get_total(pool, number, &total, sizeof total) == 0);
        each_is(ran, TASKS, turn, "task");
        each_is(looped, TASKS / LOOP_EVERY, turn, "loop of a task");
        for (int i = 0; i < FUTURES; i++) {
            int got = -1;
            size_t bytes = 0;
            CHECK(ws_pool_get_result(pool, futures[i], &got, sizeof got, &bytes) == 0);
            CHECK(bytes == sizeof got && got == 3 * i);
        }
        for (long i = 0; i < TASKS; i++)
            want += i * i;
        CHECK(total == want);
        if (rank == 0)
            printf("turn %d: %d tasks, sum %ld\n", turn, TASKS, total);
    }
    CHECK(ws_pool_get_counts(pool, &of_rank) == 0);
    mine[0] = (long) of_rank.put, mine[1] = (long) of_rank.run;
    mine[2] = (long) of_rank.moved_out, mine[3] = (long) of_rank.moved_in;
    MPI_Allreduce(mine, all, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == 2L * (TASKS + ranks * FUTURES) && all[1] == all[0] && all[2] == all[3]);
    if (rank == 0)
        printf("moved: %ld\n", all[3]); /* the one line that depends on who ran what */
    CHECK(ws_pool_free(&pool) == 0 && pool == NULL);
}

/* Structures of a partition: each row has its number, how often it was computed, and a sparse row. */
static XMPI_Partition rows;
static MPI_Count n, first;
static double *numbers, *computed;
static int *starts, *columns;
static float *values;

static int length_of(long row)
{
    return (int) (row * 7 % 5);
}

static void *room(size_t bytes)
{
    return malloc(bytes ? bytes : 1);
}

static void make_rows(void)
{
    int at = 0;
    numbers = room(sizeof *numbers * WIDTH * (size_t) n);
    computed = room(sizeof *computed * (size_t) n);
    starts = room(sizeof *starts * (size_t) (n + 1));
    columns = room(sizeof *columns * 4 * (size_t) n);
    values = room(sizeof *values * 4 * (size_t) n);
    starts[0] = 0;
    for (long i = 0; i < n; i++) {
        const long row = (long) first + i;
        computed[i] = 0;
        for (int w = 0; w < WIDTH; w++)
            numbers[i * WIDTH + w] = (double) (row * WIDTH + w);
        for (int k = 0; k < length_of(row); k++, at++) {
            columns[at] = (int) row + k;
            values[at] = (float) (row * 8 + k);
        }
        starts[i + 1] = at;
    }
    CHECK(XMPI_Register(rows, &numbers, WIDTH, MPI_DOUBLE, XMPI_ROWS) == MPI_SUCCESS);
    CHECK(XMPI_Register(rows, &computed, 1, MPI_DOUBLE, XMPI_ROWS) == MPI_SUCCESS);
    CHECK(XMPI_Register_csr(rows, &starts, MPI_INT, &columns, MPI_INT, &values, MPI_FLOAT) == MPI_SUCCESS);
}

/* Each row is with one rank, has its content, and was computed `iterations` times. */
static void check_rows(int iterations)
{
    int with[ROWS] = {0}, at = 0;
    for (long i = 0; i < n; i++) {
        const long row = (long) first + i;
        CHECK(row >= 0 && row < ROWS && computed[i] == iterations);
        with[row < 0 || row >= ROWS ? 0 : row]++;
        for (int w = 0; w < WIDTH; w++)
            CHECK(numbers[i * WIDTH + w] == (double) (row * WIDTH + w));
        CHECK(starts[i + 1] - starts[i] == length_of(row));
        for (int k = 0; k < length_of(row); k++, at++)
            CHECK(columns[at] == (int) row + k && values[at] == (float) (row * 8 + k));
    }
    each_is(with, ROWS, 1, "row");
}

/* Prints how many ranks have rows, which form one range after the other, and a sum in the order of rows. */
static void tell_rows(int iterations)
{
    MPI_Count counts[64] = {0}, displs[64] = {0}, next = 0;
    int having = 0, lengths[64], at[64];
    double all[ROWS], sum = 0;
    CHECK(ranks <= 64 && XMPI_Get_counts(rows, counts, displs) == MPI_SUCCESS);
    CHECK(counts[rank] == n && displs[rank] == first);
    for (int r = 0; r < ranks; r++) {
        CHECK(displs[r] == next);
        having += counts[r] > 0;
        next += counts[r];
        lengths[r] = (int) counts[r];
        at[r] = (int) displs[r];
    }
    CHECK(next == ROWS);
    MPI_Gatherv(computed, (int) n, MPI_DOUBLE, all, lengths, at, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int row = 0; row < ROWS; row++)
            sum += all[row] / (row + 1);
        printf("iteration %d: %lld rows, ranks with rows: %d, %a\n", iterations, (long long) next, having, sum);
    }
}

/* Rows follow speeds, then are with one rank, and then with all. */
static void move_rows(void)
{
    long moves = 0;
    CHECK(XMPI_Get_wsize(MPI_COMM_WORLD, ROWS, MPI_INFO_NULL, &rows, &n, &first) == MPI_SUCCESS);
    make_rows();
    for (int i = 1; i <= ITERATIONS; i++) {
        int moved = 0;
        CHECK(XMPI_Monitor_begin(rows) == MPI_SUCCESS);
        for (long row = 0; row < n; row++)
            computed[row]++;
        if (i == RESIZE || i == 2 * RESIZE)
            CHECK(XMPI_Resize(rows, i == RESIZE ? 1 : ranks) == MPI_SUCCESS);
        if (i % 2) {
            CHECK(XMPI_Monitor_end_begin(rows) == MPI_SUCCESS);
            CHECK(XMPI_Monitor_end_finish(rows, &n, &first, &moved) == MPI_SUCCESS);
        } else
            CHECK(XMPI_Monitor_end(rows, &n, &first, &moved) == MPI_SUCCESS);
        moves += moved;
        check_rows(i);
        if (i % RESIZE == 0)
            tell_rows(i);
    }
    CHECK(XMPI_Partition_free(&rows) == MPI_SUCCESS && rows == XMPI_PARTITION_NULL);
    free(numbers), free(computed), free(starts), free(columns), free(values);
    if (rank == 0)
        printf("moved: %ld\n", moves); /* the one line that depends on where rows were */
}

/* Checks a communicator with all ranks, each once, and prints who is which rank of it. Frees it. */
static void check_placement(const char *name, MPI_Comm comm, const double *loads)
{
    int size = 0, at = -1, olds[64] = {0}, counted[64] = {0}, same = MPI_UNEQUAL;
    double sum = 0, want = 0;
    if (comm == MPI_COMM_NULL) {
        CHECK(!"a communicator");
        return;
    }
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &at);
    MPI_Comm_compare(MPI_COMM_WORLD, comm, &same);
    CHECK(size == ranks && (same == MPI_CONGRUENT || same == MPI_SIMILAR));
    counted[at]++;
    each_is(counted, ranks, 1, "rank");
    MPI_Allgather(&rank, 1, MPI_INT, olds, 1, MPI_INT, comm);
    if (loads) {
        MPI_Allreduce(&loads[at], &sum, 1, MPI_DOUBLE, MPI_SUM, comm); /* small whole numbers: exact */
        for (int r = 0; r < ranks; r++)
            want += loads[r];
        CHECK(sum == want);
    }
    if (rank == 0 && loads) { /* lines of several ranks could run into each other */
        printf("%s: loads %g, ranks", name, sum);
        for (int r = 0; r < ranks; r++)
            printf(" %d", olds[r]);
        printf("\n");
    }
    MPI_Comm_free(&comm);
}

static MPI_Info algorithm(const char *name)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ws_load_algorithm", name);
    return info;
}

static void placement(void)
{
    static const char *const algorithms[] = {"auto", "roundrobin", "lpt", "exact"};
    double loads[64], ratio = 0;
    int error, active = -1;
    MPI_Comm comm = MPI_COMM_NULL;
    for (int r = 0; r < ranks; r++)
        loads[r] = 1 + r * 5 % 7;
    for (int a = 0; a < 4; a++) {
        MPI_Info info = algorithm(algorithms[a]);
        CHECK(MPIX_Load_create(MPI_COMM_WORLD, loads, info, &comm) == MPI_SUCCESS);
        check_placement(algorithms[a], comm, loads);
        MPI_Info_free(&info);
    }
    CHECK(MPIX_Dist_load_create(MPI_COMM_WORLD, 1, &rank, &loads[rank], MPI_INFO_NULL, &comm) == MPI_SUCCESS);
    CHECK(MPIX_Load_active(comm, &active, NULL) == MPI_SUCCESS && active == 1);
    check_placement("each knows its own", comm, loads);

    /* An error that one rank causes is raised in all. */
    MPI_Comm strict, none = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &strict);
    MPI_Comm_set_errhandler(strict, MPI_ERRORS_RETURN);
    double negative = rank == ranks - 1 ? -1 : 1;
    error = MPIX_Dist_load_create(strict, 1, &rank, &negative, MPI_INFO_NULL, &none);
    CHECK(error != MPI_SUCCESS && none == MPI_COMM_NULL);

    /* Measured loads: with Workshare only. */
    busy(1e-3 * (1 + rank));
    error = MPIX_Load_create(strict, MPIX_LOADS_MEASURED, MPI_INFO_NULL, &comm);
    if (error == MPI_SUCCESS) {
        check_placement("measured", comm, NULL);
        busy(1e-3 * (1 + rank));
        CHECK(MPIX_Load_imbalance(strict, &ratio) == MPI_SUCCESS && ratio >= 1);
    } else {
        int class = -1;
        MPI_Error_class(error, &class);
        CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION);
    }
    if (rank == 0)
        printf("measured: %s\n", error == MPI_SUCCESS ? "yes" : "no"); /* the one line that depends on Workshare */
    MPI_Comm_free(&strict);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    unit = argc > 2 ? 1e-6 * atof(argv[2]) : 0;
    begin(&argc, &argv);
    if (strcmp(what, "tasks") == 0)
        tasks();
    else if (strcmp(what, "rows") == 0)
        move_rows();
    else if (strcmp(what, "placement") == 0)
        placement();
    else
        CHECK(!"tasks, rows or placement");
    return end();
}
