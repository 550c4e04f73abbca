/* SPDX-License-Identifier: MIT
 *
 * cases CASE: one use of a pool of tasks each, right or wrong. Prints what it found; exit status 1 if that is not as it
 * should be. */
#include "workshare/task.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks, failures;
static ws_pool *pool;

static void expect(int is, const char *what)
{
    if (is)
        return;
    failures++;
    fprintf(stderr, "rank %d: not so: %s (%s)\n", rank, what, ws_last_error());
}

static int refused(int error, int wanted, const char *part)
{
    const int right = error == wanted && strstr(ws_last_error(), part);
    if (right && rank == 0)
        printf("%s\n", ws_last_error());
    return right;
}

static int add_kind(const struct ws_task_kind *kind)
{
    int number = -1;
    expect(ws_pool_register(pool, kind, &number) == 0, "a kind is taken");
    return number;
}

static void add_long(void *into, const void *from, void *context)
{
    (void) context;
    *(long *) into += *(const long *) from;
}

static int count_one(struct ws_task *task)
{
    const long one = 1;
    usleep(1000);
    return ws_task_set_result(task, &one, sizeof one);
}

/* ---- errors of calls */

static int nothing(struct ws_task *task)
{
    (void) task;
    return 0;
}

static int give_one(struct ws_task *task)
{
    const long one = 1;
    return ws_task_set_result(task, &one, sizeof one);
}

/* Pools over what is no group of processes, and a future that another pool is asked for. */
static void belongs(void)
{
    const struct ws_task_kind gives = {.name = "gives",.run = give_one,.result = sizeof(long) };
    ws_pool *other = NULL;
    uint64_t future = 0;
    const struct ws_task_options wants = {.future = &future };
    long result = 0;
    int number = -1;
    MPI_Comm half, inter;
    expect(refused(ws_pool_create(MPI_COMM_NULL, &other), EINVAL, "comm is MPI_COMM_NULL"), "no communicator");
    if (ranks > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 3, &inter);
        expect(refused(ws_pool_create(inter, &other), EINVAL, "comm is an intercommunicator"), "an intercommunicator");
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    expect(!other && ws_pool_create(MPI_COMM_WORLD, &other) == 0, "another pool");
    expect(ws_pool_register(other, &gives, &number) == 0, "its kind");
    expect(ws_pool_put(other, number, NULL, 0, &wants) == 0, "put");
    expect(ws_pool_run(other) == 0, "run");
    expect(refused(ws_pool_get_result(pool, future, &result, sizeof result, NULL), EINVAL, "of another pool"),
           "another pool's future");
    expect(ws_pool_get_result(other, future, &result, sizeof result, NULL) == 0 && result == 1, "its own");
    expect(ws_pool_free(&other) == 0, "it is freed");
}

/* ---- tasks that wait for others, get results of others, or are cancelled */

static int fib_kind, sum_kind, group;

/* Fibonacci's number n: waits for one part, and for a task that adds the two. */
static int fib(struct ws_task *task)
{
    const long n = *(const long *) task->data, less[2] = { n - 1, n - 2 };
    uint64_t parts[2], sum;
    struct ws_task_options o = { 0 };
    long first = 0, result = n;
    size_t bytes = 0;
    if (n < 2)
        return ws_task_set_result(task, &result, sizeof result);
    for (int i = 0; i < 2; i++) {
        o.future = &parts[i];
        expect(ws_pool_put(pool, fib_kind, &less[i], sizeof less[i], &o) == 0, "a part is put");
    }
    o.future = &sum;
    o.inputs = parts;
    o.inputs_count = 2;
    expect(ws_pool_put(pool, sum_kind, NULL, 0, &o) == 0, "the sum is put");
    expect(ws_pool_drop_result(pool, parts[1]) == 0, "only the sum needs it");
    expect(refused(ws_pool_drop_result(pool, parts[1]), EINVAL, "no such future"), "it is gone");
    expect(ws_task_wait(task, parts[0], &first, sizeof first, NULL) == 0, "a part comes");
    expect(ws_task_wait(task, sum, NULL, 0, &bytes) == EMSGSIZE && bytes == sizeof result, "the sum's size");
    expect(ws_task_wait(task, sum, &result, sizeof result, &bytes) == 0 && result >= first, "the sum comes");
    expect(ws_task_wait(task, sum, &result, sizeof result, &bytes) == EINVAL, "only once");
    return ws_task_set_result(task, &result, sizeof result);
}

static int sum_of_inputs(struct ws_task *task)
{
    const void *data[2] = { NULL, NULL };
    size_t bytes[2] = { 0, 0 };
    expect(ws_task_get_input(task, 0, &data[0], &bytes[0]) == 0 && bytes[0] == sizeof(long), "the first input");
    expect(ws_task_get_input(task, 1, &data[1], &bytes[1]) == 0 && bytes[1] == sizeof(long), "the second input");
    expect(ws_task_get_input(task, 2, &data[1], &bytes[1]) == EINVAL, "there is no third");
    expect(refused(ws_task_get_input(task, 0, NULL, NULL), EINVAL, "is NULL"), "nowhere to say where it is");
    const long sum = *(const long *) data[0] + *(const long *) data[1];
    return ws_task_set_result(task, &sum, sizeof sum);
}

static int look_for(struct ws_task *task)
{
    const long n = *(const long *) task->data;
    usleep(300);
    if (n == 3) {
        expect(!ws_task_is_cancelled(task), "it is not cancelled yet");
        expect(ws_pool_cancel(task->pool, group) == 0, "it is cancelled");
        expect(ws_pool_cancel(task->pool, group) == 0, "again, which changes nothing");
        expect(ws_task_is_cancelled(task), "the task knows it");
    }
    return ws_task_set_result(task, &n, sizeof n);
}

static void waits(void)
{
    const struct ws_task_kind kinds[] = {
        {.name = "fib", .run = fib, .result = sizeof(long)},
        {.name = "sum", .run = sum_of_inputs, .result = sizeof(long)},
        {.name = "search", .run = look_for, .result = sizeof(long)},
        {.name = "long",
         .run = give_one,
         .result = sizeof(long),
         .packed = (size_t(*)(const void *, size_t))abort,
         .pack = (void (*)(const void *, size_t, void *))abort,
         .unpack = (void *(*)(const void *, size_t, size_t *))abort,
         .release = (void (*)(void *, size_t))abort},
    };
    enum { searches = 300 };
    uint64_t number, found[searches];
    long n = 14, result = 0, dropped = 0;
    fib_kind = add_kind(&kinds[0]);
    sum_kind = add_kind(&kinds[1]);
    const int search = add_kind(&kinds[2]), packed = add_kind(&kinds[3]);
    expect(refused(ws_pool_add_group(pool, NULL), EINVAL, "group is NULL"), "nowhere to put the group");
    expect(ws_pool_add_group(pool, &group) == 0 && group == 1, "a group");
    struct ws_task_options o = {.future = &number };
    expect(ws_pool_put(pool, fib_kind, &n, sizeof n, &o) == 0, "it is put");
    o.inputs_count = 1;
    expect(refused(ws_pool_put(pool, fib_kind, &n, sizeof n, &o), EINVAL, "1 inputs at NULL"), "no inputs");
    o.inputs = &number;
    expect(refused(ws_pool_put(pool, packed, &n, sizeof n, &o), EINVAL, "is packed"), "inputs of packed data");
    const uint64_t none = number + 1;
    o.inputs = &none;
    expect(refused(ws_pool_put(pool, fib_kind, &n, sizeof n, &o), EINVAL, "ws_pool_put: inputs: there is no such"),
           "no future");
    o = (struct ws_task_options) {.group = 2 };
    expect(refused(ws_pool_put(pool, fib_kind, &n, sizeof n, &o), EINVAL, "group 2, but there are 1"), "no group");
    o = (struct ws_task_options) {.has_rank = 1,.rank = ranks };
    expect(refused(ws_pool_put(pool, fib_kind, &n, sizeof n, &o), EINVAL, "of a pool of"), "no rank");
    expect(refused(ws_pool_cancel(pool, 1), EINVAL, "does not run"), "nothing to cancel");
    expect(refused(ws_pool_cancel(pool, 2), EINVAL, "group 2, but there are 1"), "no group to cancel");
    for (long i = 0; i < searches; i++) {
        o = (struct ws_task_options) {.future = &found[i],.group = group,.has_rank = 1,.rank = (int) (i % ranks) };
        expect(ws_pool_put(pool, search, &i, sizeof i, &o) == 0, "a search");
    }
    expect(ws_pool_run(pool) == 0, "the pool runs");
    expect(ws_pool_get_result(pool, number, &result, sizeof result, NULL) == 0 && result == 377, "fib(14)");
    for (long i = 0; i < searches; i++) {
        const int error = ws_pool_get_result(pool, found[i], &result, sizeof result, NULL);
        expect(error ? refused(error, ECANCELED, "was cancelled") : result == i, "a search has ended");
        dropped += error == ECANCELED;
    }
    MPI_Allreduce(MPI_IN_PLACE, &dropped, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(dropped > 0, "some were cancelled");
}

static void arguments(void)
{
    struct ws_task_kind bad = {.name = "bad" };
    const struct ws_task_kind good = {.name = "good", .run = nothing };
    struct ws_task_options high = {.priority = 8 }, dirty = {.reserved = 1 };
    uint64_t future;
    const struct ws_task_options wants = {.future = &future };
    int number;
    expect(refused(ws_pool_register(pool, &bad, &number), EINVAL, "needs a name and a function"), "no function");
    bad.run = nothing;
    bad.combine = add_long;
    expect(refused(ws_pool_register(pool, &bad, &number), EINVAL, "combine without a result"), "no result");
    bad.combine = NULL;
    bad.release = (void (*)(void *, size_t)) abort;
    expect(refused(ws_pool_register(pool, &bad, &number), EINVAL, "must be given together"), "some of four");
    number = add_kind(&good);
    expect(refused(ws_pool_put(pool, 7, NULL, 0, NULL), EINVAL, "kind 7, but 1 are registered"), "an unknown kind");
    expect(refused(ws_pool_put(pool, -1, NULL, 0, NULL), EINVAL, "kind -1"), "a negative kind");
    expect(refused(ws_pool_put(pool, number, NULL, 5, NULL), EINVAL, "5 bytes of data at NULL"), "no data");
    expect(refused(ws_pool_put(pool, number, NULL, 0, &high), EINVAL, "priority 8"), "a priority");
    expect(refused(ws_pool_put(pool, number, NULL, 0, &dirty), EINVAL, "reserved"), "reserved fields");
    expect(refused(ws_pool_put(pool, number, NULL, 0, &wants), EINVAL, "have no result"), "a future");
    expect(refused(ws_pool_get_result(pool, 99, NULL, 0, NULL), EINVAL, "no such future"), "a future that is not");
    expect(refused(ws_pool_get_total(pool, number, NULL, 0), EINVAL, "combines nothing"), "nothing is combined");
    expect(refused(ws_pool_get_counts(pool, NULL), EINVAL, "counts is NULL"), "no counts");
    belongs();
    expect(ws_pool_run(pool) == 0, "an empty pool runs");
}

static void after_the_end(void)
{
    ws_pool *old = pool;
    const struct ws_task_kind good = {.name = "good", .run = nothing };
    const int number = add_kind(&good);
    expect(ws_pool_run(pool) == 0, "it runs");
    expect(ws_pool_put(pool, number, NULL, 0, NULL) == 0, "a task for the next run");
    expect(ws_pool_run(pool) == 0, "it runs again");
    expect(ws_pool_free(&pool) == 0 && !pool, "it is freed");
    expect(refused(ws_pool_put(old, number, NULL, 0, NULL), EINVAL, "the pool was freed"), "a put after the end");
    expect(refused(ws_pool_run(old), EINVAL, "the pool was freed"), "a run after the end");
    expect(refused(ws_pool_free(&pool), EINVAL, "NULL"), "a second free");
}

static void late(void)
{
    const struct ws_task_kind good = {.name = "good", .run = nothing };
    const int number = add_kind(&good);
    for (int i = 0; i < 100; i++)
        expect(ws_pool_put(pool, number, NULL, 0, NULL) == 0, "put");
    expect(ws_pool_run(pool) == 0, "it runs");
    MPI_Finalize();
    expect(refused(ws_pool_free(&pool), EINVAL, "MPI is finalized"), "a free after MPI_Finalize");
    if (rank == 0)
        puts("right");
    exit(0);
}

static void kinds_differ(void)
{
    const struct ws_task_kind a = {.name = "a", .run = nothing }, b = {.name = "b", .run = nothing };
    const struct ws_task_kind same = {.name = "same", .run = nothing };
    int number = add_kind(&same);
    /* After a run others are known to have nothing: no task may go to them before all have agreed. */
    for (int i = 0; rank == 0 && i < 1000; i++)
        expect(ws_pool_put(pool, number, NULL, 0, NULL) == 0, "put");
    expect(ws_pool_run(pool) == 0, "with the same kinds it runs");
    struct ws_pool_counts counts;
    expect(ws_pool_get_counts(pool, &counts) == 0, "counts");
    expect(ws_pool_get_counts(pool, NULL) == EINVAL, "counts at NULL");
    const uint64_t moved = counts.moved_in, ran_before = counts.run;
    add_kind(rank == ranks - 1 ? &b : &a);
    number = add_kind(rank == ranks - 1 ? &a : &b);
    for (int i = 0; rank == 0 && i < 1000; i++)
        expect(ws_pool_put(pool, number, NULL, 0, NULL) == 0, "put");
    char text[64];
    snprintf(text, sizeof text, "registered on rank %d differ", ranks - 1);
    expect(refused(ws_pool_run(pool), EINVAL, text), "kinds that differ");
    expect(ws_pool_get_counts(pool, &counts) == 0 && counts.moved_in == moved && counts.run == ran_before,
           "nothing of them runs or moves");
}

/* ---- tasks that fail */

static int ran;

static int some_fail(struct ws_task *task)
{
    __sync_fetch_and_add(&ran, 1);
    usleep(200);
    return *(int *) task->data == 37 ? 42 : 0;
}

static void fails(void)
{
    const struct ws_task_kind kind = {.name = "fragile", .run = some_fail };
    const int number = add_kind(&kind);
    int all;
    for (int i = 0; rank == 0 && i < 200; i++)
        expect(ws_pool_put(pool, number, &i, sizeof i, NULL) == 0, "put");
    expect(refused(ws_pool_run(pool), ECANCELED, "a task of kind 'fragile' failed with 42"),
           "the failure is told on all ranks");
    MPI_Allreduce(&ran, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(all == 200, "the others ran all the same");
    expect(ws_pool_run(pool) == 0, "the next run is not concerned");
}

static int too_much(struct ws_task *task)
{
    const char result[9] = { 0 };
    return ws_task_set_result(task, result, sizeof result) == EMSGSIZE ? 0 : 1;
}

static void overflow(void)
{
    const struct ws_task_kind kind = {.name = "wide", .run = too_much, .result = 8 };
    const int number = add_kind(&kind);
    uint64_t future = 0;
    const struct ws_task_options options = {.future = &future };
    char result[8];
    expect(ws_pool_put(pool, number, NULL, 0, &options) == 0, "put");
    expect(refused(ws_pool_run(pool), ECANCELED, "more bytes than its kind says"), "a result that is too large");
    expect(refused(ws_pool_get_result(pool, future, result, sizeof result, NULL), ECANCELED, "failed"),
           "and its future");
}

/* ---- data that is not flat */

struct list {
    struct list *next;
    long value;
};
static long released, packed_wrong;

static size_t list_bytes(const void *data, size_t bytes)
{
    size_t n = 0;
    (void) bytes;
    for (const struct list *l = data; l; l = l->next)
        n += sizeof l->value;
    return n;
}

static void list_pack(const void *data, size_t bytes, void *to)
{
    long *out = to;
    (void) bytes;
    for (const struct list *l = data; l; l = l->next)
        *out++ = l->value;
    for (long i = 0; i < packed_wrong; i++)
        *out++ = 1;
}

static void *list_unpack(const void *from, size_t size, size_t *bytes)
{
    struct list *first = NULL;
    for (size_t n = size / sizeof(long); n-- > 0;) {
        struct list *l = malloc(sizeof *l);
        l->next = first;
        l->value = ((const long *) from)[n];
        first = l;
    }
    *bytes = size;
    return first;
}

static void list_release(void *data, size_t bytes)
{
    (void) bytes;
    for (struct list *l = data, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    __sync_fetch_and_add(&released, 1);
}

static int list_sum(struct ws_task *task)
{
    long sum = 0;
    for (const struct list *l = task->data; l; l = l->next)
        sum += l->value;
    usleep(1000);
    return ws_task_set_result(task, &sum, sizeof sum);
}

static void lists(void)
{
    const struct ws_task_kind kind = {.name = "lists", .run = list_sum, .result = sizeof(long), .combine = add_long,
        .packed = list_bytes, .pack = list_pack, .unpack = list_unpack, .release = list_release };
    const int number = add_kind(&kind);
    struct ws_pool_counts counts;
    long all = 0, moved, sum, wanted = 0;
    for (long i = 0; i < 400; i++) {
        struct list *first = NULL;
        for (long n = i % 50 == 0 ? 3000 : i % 10; n > 0; n--) {     /* some travel as a message of their own */
            struct list *l = malloc(sizeof *l);
            l->next = first;
            l->value = n * i;
            wanted += n * i;
            first = l;
        }
        if (rank == 0)
            expect(ws_pool_put(pool, number, first, 0, NULL) == 0, "put");
        else
            list_release(first, 0);
    }
    released = 0;
    if (packed_wrong) {
        expect(refused(ws_pool_run(pool), ECANCELED, "packed more bytes than it had said"), "an overflow is found");
    } else
        expect(ws_pool_run(pool) == 0, "run");
    expect(ws_pool_get_total(pool, number, &all, sizeof all) == 0 && all == wanted, "the sum of all lists");
    expect(ws_pool_get_counts(pool, &counts) == 0, "counts");
    long mine = (long) counts.moved_out;
    MPI_Allreduce(&mine, &moved, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&released, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == 400 + moved, "each list is released once where it was and once where it came");
    if (rank == 0)
        printf("moved %ld\n", moved);
}

/* ---- large ones, and memory */

static size_t large;

static int check_large(struct ws_task *task)
{
    const unsigned char *p = task->data;
    long wrong = task->bytes != large;
    for (size_t i = 0; i < task->bytes; i += 4093)
        wrong += p[i] != (unsigned char) (p[0] + i / 4093);
    usleep(20000);
    const long result[2] = { 1, wrong };
    return ws_task_set_result(task, result, sizeof result);
}

static void add_two(void *into, const void *from, void *context)
{
    add_long(into, from, context);
    add_long((long *) into + 1, (const long *) from + 1, context);
}

static void many_large(int tasks)
{
    const struct ws_task_kind kind = {
        .name = "large", .run = check_large, .result = 2 * sizeof(long), .combine = add_two};
    const int number = add_kind(&kind);
    const struct ws_task_options takes = {.takes = 1 };
    struct ws_pool_counts counts;
    long all[2] = { 0, 0 };
    for (int i = 0; rank == 0 && i < tasks; i++) {
        unsigned char *data = malloc(large);
        for (size_t at = 0; at < large; at += 4093)
            data[at] = (unsigned char) (i + (int) (at / 4093));
        expect(ws_pool_put(pool, number, data, large, &takes) == 0, "put");
    }
    expect(ws_pool_run(pool) == 0, "run");
    expect(ws_pool_get_total(pool, number, all, sizeof all) == 0 && all[0] == tasks && all[1] == 0, "all came whole");
    expect(ws_pool_get_counts(pool, &counts) == 0, "counts");
    printf("rank %d: in %lu MB, out %lu MB, no room %lu\n", rank, (unsigned long) (counts.bytes_in >> 20),
           (unsigned long) (counts.bytes_out >> 20), (unsigned long) counts.kept_room);
}

/* ---- MPI and loops in tasks */

static long halves[1000];

static void half(int64_t lo, int64_t hi, void *context)
{
    (void) context;
    for (int64_t i = lo; i < hi; i++)
        halves[i]++;
}

static int loops(struct ws_task *task)
{
    const long one = 1;
    int error = ws_for(0, 1000, half, NULL, NULL);
    if (task->origin == 0 && ranks > 1) {       /* what rank 1 waits for after the run */
        const int from = rank;
        MPI_Send(&from, 1, MPI_INT, ranks - 1, 5, MPI_COMM_WORLD);
    }
    return error ? error : ws_task_set_result(task, &one, sizeof one);
}

static void with_mpi(void)
{
    const struct ws_task_kind kind = {.name = "loops", .run = loops, .result = sizeof(long), .combine = add_long };
    const int number = add_kind(&kind);
    long all = 0, sum = 0;
    int from;
    if (rank == 0)
        for (int i = 0; i < 20; i++)
            expect(ws_pool_put(pool, number, NULL, 0, NULL) == 0, "put");
    expect(ws_pool_run(pool) == 0, "run");
    for (int i = 0; i < 20 && ranks > 1 && rank == ranks - 1; i++)
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(ws_pool_get_total(pool, number, &all, sizeof all) == 0 && all == 20, "all ran");
    for (int i = 0; i < 1000; i++)
        sum += halves[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == 20000, "and their loops, each iteration once");
}

/* ---- priorities */

static int order[10], next;

static int note_order(struct ws_task *task)
{
    order[next++] = *(int *) task->data;
    return 0;
}

static void priorities(void)
{
    const struct ws_task_kind kind = {.name = "ordered", .run = note_order };
    const int number = add_kind(&kind);
    for (int i = 0; i < 10; i++) {
        const int value = (i * 7) % 10;
        const struct ws_task_options options = {.priority = value - 5,.pinned = 1 };
        expect(ws_pool_put(pool, number, &value, sizeof value, &options) == 0, "put");
    }
    expect(ws_pool_run(pool) == 0, "run");
    for (int i = 0; i < 10; i++)
        expect(order[i] == 9 - i, "high priorities come first");
}

/* ---- a task registers kinds, and puts tasks of them */

static long ran_of_new;

static int count_of_new(struct ws_task *task)
{
    (void) task;
    ran_of_new++;
    return 0;
}

static int adds_kinds(struct ws_task *task)
{
    const struct ws_task_kind kind = {.name = "new",.run = count_of_new };
    int number = 0;
    for (int i = 0; i < 100; i++)
        number = add_kind(&kind);
    for (int i = 0; i < 300; i++)
        expect(ws_pool_put(task->pool, number, NULL, 0, NULL) == 0, "a task of a new kind is put");
    return 0;
}

static void new_kinds(void)
{
    const struct ws_task_kind kind = {.name = "adds kinds",.run = adds_kinds };
    const int number = add_kind(&kind);
    expect(ws_pool_put(pool, number, NULL, 0, NULL) == 0, "put");
    expect(ws_pool_run(pool) == 0, "run");
    expect(ran_of_new == 300, "tasks of a new kind run once each");
}

/* ---- tasks that a thread puts while the pool runs: each runs once, in that run or in one of the next */

static volatile int putting_ends;
static long put_by_thread, ran_of_thread, ran_of_run;
static int of_thread, of_run;

static int count_of_thread(struct ws_task *task)
{
    const int more = *(int *) task->data - 1;
    __sync_fetch_and_add(&ran_of_thread, 1);
    for (volatile int i = 0; i < 200; i++);
    for (int i = 0; more > 0 && i < 2; i++)
        if (ws_pool_put(task->pool, of_thread, &more, sizeof more, NULL))
            return 1;
    return 0;
}

static int count_of_run(struct ws_task *task)
{
    (void) task;
    __sync_fetch_and_add(&ran_of_run, 1);
    for (volatile int i = 0; i < 200; i++);
    return 0;
}

static void *put_on(void *unused)
{
    const int depth = 2;                        /* three tasks come of each */
    while (!putting_ends) {
        for (int i = 0; i < 20; i++, put_by_thread += 3)
            if (ws_pool_put(pool, of_thread, &depth, sizeof depth, NULL))
                abort();
        usleep(500);
    }
    return unused;
}

static void threads_put(int runs)
{
    const struct ws_task_kind thread_kind = {.name = "of a thread",.run = count_of_thread };
    const struct ws_task_kind run_kind = {.name = "of a run",.run = count_of_run };
    pthread_t thread;
    long mine[2], all[2], put = 0, wrong = 0;
    of_thread = add_kind(&thread_kind);
    of_run = add_kind(&run_kind);
    expect(pthread_create(&thread, NULL, put_on, NULL) == 0, "a thread");
    for (int r = 0; r < runs; r++) {
        for (int i = 0; rank == r % ranks && i < 50; i++)
            expect(ws_pool_put(pool, of_run, NULL, 0, NULL) == 0, "put");
        put += 50;
        expect(ws_pool_run(pool) == 0, "run");
        MPI_Allreduce(&ran_of_run, all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        wrong += all[0] != put;
    }
    expect(wrong == 0, "a run ends when what was put before it has run");
    putting_ends = 1;
    pthread_join(thread, NULL);
    expect(ws_pool_run(pool) == 0, "run");     /* nobody else puts any more: this one has all that is left */
    mine[0] = put_by_thread;
    mine[1] = ran_of_thread;
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("threads put %ld tasks, %ld ran\n", all[0], all[1]);
    expect(all[0] == all[1], "each of them has run once");
}

/* ---- for kills and stops: tasks that sleep, until the time is over */

static void sleepers(int tasks)
{
    const struct ws_task_kind kind = {
        .name = "sleepers", .run = count_one, .result = sizeof(long), .combine = add_long};
    const int number = add_kind(&kind);
    long all = 0;
    for (int i = 0; i < tasks; i++)
        expect(ws_pool_put(pool, number, NULL, 0, NULL) == 0, "put");
    expect(ws_pool_run(pool) == 0, "run");
    expect(ws_pool_get_total(pool, number, &all, sizeof all) == 0 && all == (long) tasks * ranks, "all ran");
}

/* Rank 0, where the scheduler is, waits in a task for a message, and what rank 1 has is to go to rank 3. */
static int wait_for_message(struct ws_task *task)
{
    int message;
    (void) task;
    if (rank == 0)
        return MPI_Recv(&message, 1, MPI_INT, 2, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(400000);
    return MPI_Send(&rank, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
}

static void scheduler_waits(void)
{
    const struct ws_task_kind waits = {.name = "waits",.run = wait_for_message };
    const struct ws_task_kind sleeps = {
        .name = "sleepers", .run = count_one, .result = sizeof(long), .combine = add_long};
    const struct ws_task_options here = {.pinned = 1 };
    const int waiting = add_kind(&waits), sleeping = add_kind(&sleeps);
    struct ws_pool_counts counts;
    long all = 0;
    if (rank % 2 == 0)
        expect(ws_pool_put(pool, waiting, NULL, 0, &here) == 0, "put");
    for (int i = 0; rank == 1 && i < 600; i++)
        expect(ws_pool_put(pool, sleeping, NULL, 0, NULL) == 0, "put");
    expect(ws_pool_run(pool) == 0, "run");
    expect(ws_pool_get_total(pool, sleeping, &all, sizeof all) == 0 && all == 600, "all ran");
    expect(ws_pool_get_counts(pool, &counts) == 0, "counts");
    if (rank == 3)
        printf("rank 3 has got %llu tasks\n", (unsigned long long) counts.moved_in);
}

/* An idle pool burns no core: rank 0 sleeps in one task, the others wait. */
static int sleep_long(struct ws_task *task)
{
    sleep(*(unsigned *) task->data);
    return 0;
}

static void idle(unsigned seconds)
{
    const struct ws_task_kind kind = {.name = "long", .run = sleep_long };
    const int number = add_kind(&kind);
    struct timespec before, after;
    if (rank == 0)
        expect(ws_pool_put(pool, number, &seconds, sizeof seconds, NULL) == 0, "put");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    expect(ws_pool_run(pool) == 0, "run");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const double used = (double) (after.tv_sec - before.tv_sec) + 1e-9 * (double) (after.tv_nsec - before.tv_nsec);
    printf("rank %d used %.4f s of %u s\n", rank, used, seconds);
    expect(used < 0.2 * seconds, "a rank that waits needs no core");
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    expect(ws_pool_create(MPI_COMM_WORLD, &pool) == 0, "a pool is made");
    if (strcmp(which, "arguments") == 0)
        arguments();
    else if (strcmp(which, "after_the_end") == 0)
        after_the_end();
    else if (strcmp(which, "late") == 0)
        late();
    else if (strcmp(which, "kinds_differ") == 0)
        kinds_differ();
    else if (strcmp(which, "fails") == 0)
        fails();
    else if (strcmp(which, "overflow") == 0)
        overflow();
    else if (strcmp(which, "lists") == 0) {
        packed_wrong = number;
        lists();
    } else if (strcmp(which, "large") == 0) {
        large = (size_t) number << 20;
        many_large(argc > 3 ? atoi(argv[3]) : 12);
    } else if (strcmp(which, "with_mpi") == 0)
        with_mpi();
    else if (strcmp(which, "waits") == 0)
        waits();
    else if (strcmp(which, "priorities") == 0)
        priorities();
    else if (strcmp(which, "new_kinds") == 0)
        new_kinds();
    else if (strcmp(which, "sleepers") == 0)
        sleepers(number);
    else if (strcmp(which, "scheduler_waits") == 0)
        scheduler_waits();
    else if (strcmp(which, "threads_put") == 0)
        threads_put(number);
    else if (strcmp(which, "idle") == 0)
        idle(number ? (unsigned) number : 2);
    else if (strcmp(which, "unfreed") == 0)
        pool = NULL;
    else
        expect(0, "there is such a case");
    if (pool)
        expect(ws_pool_free(&pool) == 0, "it is freed");
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && !failures)
        printf("right\n");
    MPI_Finalize();
    return failures != 0;
}
