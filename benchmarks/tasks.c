/* SPDX-License-Identifier: MIT
 *
 * tasks --what list|uts|bag|balanced|pipeline|large|results|cost [options]: pools of tasks (workshare/task.h), all of
 * them on rank 0 at first.
 *
 *   list      list ranking by pointer jumping, the program of the paper on NBLB: in each of log2(n) rounds a task for
 *             each --grain elements; an element takes --cost each time
 *   uts       Unbalanced Tree Search, --tree T1 (geometric) or T3 (binomial), of the published parameters: the counts
 *             of nodes and leaves must be the published ones. A task visits --grain nodes and puts what it has found
 *             and not visited
 *   bag       --tasks tasks, of --cost on average: Pareto with exponent 1.5, another bag for each --seed
 *   balanced  --tasks tasks of --cost on each rank; "limit_s" is what a loop that calls them takes, before and after
 *   pipeline  --tasks tasks of a first kind, each of which puts one of the next, three kinds in all, of 1, 2 and 3
 *             times --cost
 *   large     --tasks tasks of --bytes each: the bandwidth of moving, and of MPI_Send between the same ranks
 *   results   --tasks chains of 8 tasks on the ranks but 0 in turn; each gets the result of the one before, of --bytes,
 *             and only the last ones are needed on rank 0
 *   cost      --tasks empty ones on their own rank: nanoseconds a task
 *
 * With --alone (of uts) each rank searches the whole tree, in a pool of its own: what the cores give at the same time.
 * With --by-hand (of list) there is no pool: each rank does an even share of the elements, as a program could that knew
 * all before. With --alone (of results) a chain stays on one rank; with --in-turn (of results) the pool runs once for
 * each step, so that all results come to rank 0 before it puts the next tasks. With --sleep tasks sleep for what they
 * would compute. "limit_s" is the time that no balancer could beat: all work over all ranks, or the longest task. For
 * bag and pipeline, "busy" is the part of all ranks' time, until the last task began, that was spent in tasks. For
 * list, "in_runs_s" is the time without the program's own messages.
 */
#include "bench.h"
#include "uts.h"

#include "workshare/task.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

static double cost = 100e-6;
static long grain = 1;
static bool sleeps, alone, by_hand, in_turn;
static ws_pool *pool;
static const char *me = "tasks";
static double in_runs;           /* seconds, of list */

static void must(int error)
{
    if (!error)
        return;
    fprintf(stderr, "%s: rank %d: %s\n", me, bench_rank, ws_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void spend(double seconds)
{
    if (seconds <= 0)
        return;
    if (sleeps) {
        /* A sleep takes some 60 us more than it should: short ones are put together, and what is too long is taken off
         * the next. */
        static __thread double debt;
        debt += seconds;
        if (debt < 1e-3)
            return;
        const double began = bench_now();
        const struct timespec nap = { (time_t) debt, (long) (1e9 * (debt - floor(debt))) };
        nanosleep(&nap, NULL);
        debt -= bench_now() - began;
        return;
    }
    for (const double end = bench_now() + seconds; bench_now() < end;)
        ;
}

static void add_longs(void *into, const void *from, void *context)
{
    for (long i = 0; i < *(long *) context; i++)
        ((long *) into)[i] += ((const long *) from)[i];
}
static long two = 2;

/* ---- list ranking */

static long elements = 400;
static int *next_of, *distance_of, *new_next, *new_distance;

static int rank_block(struct ws_task *task)
{
    const long lo = *(long *) task->data, hi = lo + grain < elements ? lo + grain : elements;
    for (long k = lo; k < hi; k++) {
        const int p = next_of[k];
        new_distance[k] = distance_of[k] + (p != next_of[p] || distance_of[p] ? distance_of[p] : 0);
        new_next[k] = next_of[p] + 1;   /* 0: not computed here */
    }
    spend(cost * (double) (hi - lo));
    return 0;
}

static double list_ranking(double *limit)
{
    const struct ws_task_kind kind = {.name = "list", .run = rank_block };
    const size_t bytes = sizeof(int) * (size_t) elements;
    int *order = malloc(bytes), number;
    long rounds = 0, wrong = 0;
    next_of = malloc(2 * bytes), distance_of = next_of + elements;
    new_next = malloc(2 * bytes), new_distance = new_next + elements;
    for (long i = 0; i < elements; i++)
        order[i] = (int) i;
    uint64_t random = 42;       /* the list goes through the elements in any order, the same on all ranks */
    for (long i = elements - 1; i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const long j = (long) ((random >> 33) % (uint64_t) (i + 1));
        const int other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    for (long i = 0; i < elements; i++) {
        next_of[order[i]] = order[i + 1 < elements ? i + 1 : i];
        distance_of[order[i]] = i + 1 < elements;
    }
    must(ws_pool_register(pool, &kind, &number));
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = bench_now();
    for (long done = 1; done < elements; done *= 2, rounds++) {
        memset(new_next, 0, 2 * bytes);
        for (long lo = 0; !by_hand && bench_rank == 0 && lo < elements; lo += grain)
            must(ws_pool_put(pool, number, &lo, sizeof lo, NULL));
        const double run_began = bench_now();
        for (long lo = bench_rank * grain; by_hand && lo < elements; lo += bench_ranks * grain)
            must(rank_block(&(struct ws_task) {.data = &lo}));
        if (!by_hand)
            must(ws_pool_run(pool));
        in_runs += bench_now() - run_began;
        MPI_Allreduce(new_next, next_of, 2 * (int) elements, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (long k = 0; k < elements; k++)
            next_of[k]--;
    }
    const double seconds = bench_now() - began;
    for (long i = 0; i < elements; i++)
        wrong += distance_of[order[i]] != elements - 1 - i;
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld elements of the list have another rank", me, wrong);
    const long blocks = (elements + grain - 1) / grain;
    *limit = (double) rounds * (double) ((blocks + bench_ranks - 1) / bench_ranks) * (double) grain * cost;
    free(order), free(next_of), free(new_next);
    return seconds;
}

/* ---- Unbalanced Tree Search */

static int tree_kind;

static int search(struct ws_task *task)
{
    static __thread struct node *stack;
    static __thread long room;
    long top = 0, found[2] = { 0, 0 };
    if (!stack)
        stack = malloc(sizeof *stack * (size_t) (room = 4096));
    stack[top++] = *(struct node *) task->data;
    while (top && found[0] < grain) {
        const struct node n = stack[--top];
        const int children = children_of(&n);
        found[0]++;
        found[1] += !children;
        if (top + children > room)
            stack = realloc(stack, sizeof *stack * (size_t) (room = 2 * (top + children)));
        for (int i = 0; i < children; i++)
            stack[top++] = child(&n, (uint32_t) i);
    }
    for (long i = 0; i < top; i++)
        must(ws_pool_put(task->pool, task->kind, &stack[i], sizeof stack[i], NULL));
    if (sleeps)
        spend(cost * (double) found[0]);
    return ws_task_set_result(task, found, sizeof found);
}

static double uts(double *limit)
{
    const struct ws_task_kind kind = {
        .name = "uts", .run = search, .context = &two, .result = 2 * sizeof(long), .combine = add_longs
    };
    const struct node first = root(binomial ? 42 : 19);
    const long nodes = binomial ? 4112897 : 4130071, leaves = binomial ? 3599034 : 3305118;
    long found[2];
    must(ws_pool_register(pool, &kind, &tree_kind));
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = bench_now();
    if (bench_rank == 0 || alone)
        must(ws_pool_put(pool, tree_kind, &first, sizeof first, NULL));
    must(ws_pool_run(pool));
    if (alone)
        MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = bench_now() - began;
    must(ws_pool_get_total(pool, tree_kind, found, sizeof found));
    if (found[0] != nodes || found[1] != leaves)
        bench_fail(1, "%s: WRONG: %ld nodes and %ld leaves; published are %ld and %ld", me, found[0], found[1], nodes,
                   leaves);
    *limit = sleeps ? cost * (double) nodes / bench_ranks : 0;
    return seconds;
}

/* ---- a bag, a pipeline */

static long tasks = 1000;
static uint64_t seed;
static int stage_kinds[3];

/* When the tasks of this rank ran. */
static struct span {
    double begin, end;
} *spans;
static long ran;

static void spend_noted(double seconds)
{
    struct span s = { bench_now(), 0 };
    spend(seconds);
    s.end = bench_now();
    spans[__sync_fetch_and_add(&ran, 1)] = s;
}

/* How much of all ranks' time until the last task began was spent in tasks. What comes after that depends on how long
 * those tasks happen to be that begin last, which nobody can know. */
static double kept_busy(double began)
{
    double last = 0, first, mine = 0, all;
    for (long i = 0; i < ran; i++)
        last = fmax(last, spans[i].begin);
    MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&began, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    for (long i = 0; i < ran; i++)
        mine += fmin(spans[i].end, last) - spans[i].begin;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all / (bench_ranks * (last - first));
}

static int spend_it(struct ws_task *task)
{
    const long one[2] = { 1, 0 };
    spend(*(double *) task->data);
    return ws_task_set_result(task, one, sizeof one);
}

static int spend_it_noted(struct ws_task *task)
{
    const long one[2] = { 1, 0 };
    spend_noted(*(double *) task->data);
    return ws_task_set_result(task, one, sizeof one);
}

static int stage(struct ws_task *task)
{
    const long s = *(long *) task->data, then = s + 1, one[2] = { 1, 0 };
    spend_noted(cost * (double) then);
    if (s < 2)
        must(ws_pool_put(task->pool, stage_kinds[then], &then, sizeof then, NULL));
    return ws_task_set_result(task, one, sizeof one);
}

static double bag(double *limit, double *busy, bool pipeline)
{
    const struct ws_task_kind kind = { .name = pipeline ? "stage" : "bag",
                                       .run = pipeline ? stage : spend_it_noted,
                                       .context = &two,
                                       .result = 2 * sizeof(long),
                                       .combine = add_longs };
    double all = 0, longest = 0;
    long done = 0;
    spans = malloc(sizeof *spans * (size_t) tasks * 3);
    for (int k = 0; k < (pipeline ? 3 : 1); k++)
        must(ws_pool_register(pool, &kind, &stage_kinds[k]));
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = bench_now();
    uint64_t random = 7 + 1000003 * seed;
    for (long i = 0; bench_rank == 0 && i < tasks; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const double u = (double) (random >> 11) / 9007199254740992.0;
        const double mine = fmin(cost / 3 / pow(1 - u, 1 / 1.5), 100 * cost);
        const long zero = 0;
        all += pipeline ? 6 * cost : mine;
        longest = fmax(longest, pipeline ? 6 * cost : mine);
        must(pipeline ? ws_pool_put(pool, stage_kinds[0], &zero, sizeof zero, NULL)
             : ws_pool_put(pool, stage_kinds[0], &mine, sizeof mine, NULL));
    }
    must(ws_pool_run(pool));
    const double seconds = bench_now() - began;
    for (int k = 0; k < (pipeline ? 3 : 1); k++) {
        long n[2];
        must(ws_pool_get_total(pool, stage_kinds[k], n, sizeof n));
        done += n[0];
    }
    if (done != tasks * (pipeline ? 3 : 1))
        bench_fail(1, "%s: WRONG: %ld tasks ran", me, done);
    *limit = fmax(all / bench_ranks, longest);
    *busy = kept_busy(began);
    free(spans);
    return seconds;
}

static double plain_loop(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = bench_now();
    for (long i = 0; i < tasks; i++)
        spend(cost);
    MPI_Barrier(MPI_COMM_WORLD);
    return bench_now() - began;
}

static double balanced(double *limit)
{
    const struct ws_task_kind kind = {
        .name = "balanced", .run = spend_it, .context = &two, .result = 2 * sizeof(long), .combine = add_longs
    };
    long done[2];
    must(ws_pool_register(pool, &kind, &stage_kinds[0]));
    *limit = plain_loop() / 2;
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = bench_now();
    for (long i = 0; i < tasks; i++)
        must(ws_pool_put(pool, stage_kinds[0], &cost, sizeof cost, NULL));
    must(ws_pool_run(pool));
    const double seconds = bench_now() - began;
    *limit += plain_loop() / 2;
    must(ws_pool_get_total(pool, stage_kinds[0], done, sizeof done));
    if (done[0] != tasks * bench_ranks)
        bench_fail(1, "%s: WRONG: %ld tasks ran", me, done[0]);
    return seconds;
}

/* ---- large tasks */

static size_t bytes_each = 100 << 20;
static double started, last_came;
static long came;

static int take_large(struct ws_task *task)
{
    if (task->origin == bench_rank)
        spend(cost);
    else {
        last_came = bench_now();
        came++;
    }
    return 0;
}

/* Bytes a second of moving, and of messages. */
static void large(double *moving, double *messages)
{
    const struct ws_task_kind kind = {.name = "large", .run = take_large };
    const struct ws_task_options takes = {.takes = 1 };
    int number;
    double times[5], mine[2];
    for (int i = 0; i < 5; i++) {
        char *message = malloc(bytes_each);     /* fresh for each, as a task's is */
        if (bench_rank == 0)
            memset(message, 1, bytes_each);
        MPI_Barrier(MPI_COMM_WORLD);
        const double began = bench_now();
        if (bench_rank == 0)
            MPI_Send(message, (int) bytes_each, MPI_BYTE, bench_ranks - 1, 0, MPI_COMM_WORLD);
        else if (bench_rank == bench_ranks - 1)
            MPI_Recv(message, (int) bytes_each, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        times[i] = bench_now() - began;
        free(message);
    }
    *messages = (double) bytes_each / bench_summary(times, 5).median;
    must(ws_pool_register(pool, &kind, &number));
    for (long i = 0; bench_rank == 0 && i < tasks; i++) {
        char *data = malloc(bytes_each);
        memset(data, (int) i, bytes_each);
        must(ws_pool_put(pool, number, data, bytes_each, &takes));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    started = bench_now();
    must(ws_pool_run(pool));
    mine[0] = came ? (double) came * (double) bytes_each / (last_came - started) : 0;
    MPI_Allreduce(mine, moving, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* ---- results that the next task needs */

enum { steps = 8 };

static int add_one(struct ws_task *task)
{
    const long chain = *(const long *) task->data;
    const size_t words = bytes_each / sizeof(long);
    const void *data = NULL;
    size_t bytes = 0;
    long *const result = malloc(words * sizeof *result);
    const bool is_first = ws_task_get_input(task, 0, &data, &bytes) != 0;
    for (size_t i = 0; i < words; i++)
        result[i] = is_first ? chain + (long) i : ((const long *) data)[i] + 1;
    const int error = ws_task_set_result(task, result, words * sizeof *result);
    free(result);
    return error;
}

static double results(void)
{
    const struct ws_task_kind kind = {.name = "step", .run = add_one, .result = SIZE_MAX };
    uint64_t *const futures = malloc(sizeof *futures * (size_t) tasks);
    long *const last = malloc(bytes_each), wrong = 0;
    int number;
    must(ws_pool_register(pool, &kind, &number));
    must(ws_pool_run(pool));    /* the ranks know each other */
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = bench_now();
    for (int step = 0; step < steps; step++) {
        for (long chain = 0; bench_rank == 0 && chain < tasks; chain++) {
            const uint64_t before = futures[chain];
            const struct ws_task_options options = {
                .pinned = 1, .future = &futures[chain], .inputs = &before, .inputs_count = step > 0,
                .has_rank = 1, .rank = (int) (1 + (chain + (alone ? 0 : step)) % (bench_ranks - 1))
            };
            must(ws_pool_put(pool, number, &chain, sizeof chain, &options));
            if (step > 0)
                must(ws_pool_drop_result(pool, before));
        }
        if (in_turn || step == steps - 1)
            must(ws_pool_run(pool));
    }
    const double seconds = bench_now() - began;
    for (long chain = 0; bench_rank == 0 && chain < tasks; chain++) {
        must(ws_pool_get_result(pool, futures[chain], last, bytes_each, NULL));
        for (size_t i = 0; i < bytes_each / sizeof *last; i++)
            wrong += last[i] != chain + (long) i + steps - 1;
    }
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld numbers of the results", me, wrong);
    free(futures);
    free(last);
    return seconds;
}

/* ---- cost */

static int nothing(struct ws_task *task)
{
    (void) task;
    return 0;
}

static double empty_ns(void)
{
    const struct ws_task_kind kind = {.name = "empty", .run = nothing };
    int number;
    double times[9];
    must(ws_pool_register(pool, &kind, &number));
    for (int t = 0; t < 9; t++) {
        const double began = bench_now();
        for (long i = 0; i < tasks; i++)
            must(ws_pool_put(pool, number, NULL, 0, NULL));
        must(ws_pool_run(pool));
        times[t] = bench_now() - began;
    }
    return 1e9 * bench_summary(times, 9).median / (double) tasks;
}

static void usage(void)
{
    if (bench_rank == 0)
        puts(
            "tasks --what list|uts|bag|balanced|pipeline|large|results|cost [--elements N] [--tree T1|T3] [--tasks N]\n"
            "      [--grain N] [--cost TIME] [--bytes N] [--seed N] [--sleep] [--alone] [--by-hand] [--in-turn] "
            "[--json]:\n"
            "pools of tasks, all on rank 0 at first");
}

static void check_what(const char *what)
{
    static const char *const whats[] = { "list",  "uts",     "bag",  "balanced", "pipeline",
                                         "large", "results", "cost", NULL };
    int known = 0;
    while (whats[known] && strcmp(whats[known], what))
        known++;
    if (!whats[known])
        bench_fail(2, "%s: --what takes list, uts, bag, balanced, pipeline, large, results or cost, not '%s'", me,
                   what);
    if (alone && strcmp(what, "uts") && strcmp(what, "results"))
        bench_fail(2, "%s: --alone is for uts and results, not for '%s'", me, what);
    if (in_turn && strcmp(what, "results"))
        bench_fail(2, "%s: --in-turn is for results, not for '%s'", me, what);
    if (bench_ranks < 2 && !strcmp(what, "results"))
        bench_fail(2, "%s: --what results needs two ranks", me);
    if (by_hand && strcmp(what, "list"))
        bench_fail(2, "%s: --by-hand is for list, not for '%s'", me, what);
}

int main(int argc, char **argv)
{
    enum { WHAT = 1, ELEMENTS, TREE, TASKS, GRAIN, COST, BYTES, SEED, SLEEP, ALONE, BY_HAND, IN_TURN, JSON, HELP };
    static const struct option options[] = { { "what", required_argument, NULL, WHAT },
                                             { "elements", required_argument, NULL, ELEMENTS },
                                             { "tree", required_argument, NULL, TREE },
                                             { "tasks", required_argument, NULL, TASKS },
                                             { "grain", required_argument, NULL, GRAIN },
                                             { "cost", required_argument, NULL, COST },
                                             { "bytes", required_argument, NULL, BYTES },
                                             { "seed", required_argument, NULL, SEED },
                                             { "sleep", no_argument, NULL, SLEEP },
                                             { "alone", no_argument, NULL, ALONE },
                                             { "by-hand", no_argument, NULL, BY_HAND },
                                             { "in-turn", no_argument, NULL, IN_TURN },
                                             { "json", no_argument, NULL, JSON },
                                             { "help", no_argument, NULL, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    const char *what = "";
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case WHAT: what = optarg; break;
        case ELEMENTS: elements = bench_count(me, "elements", optarg, 2, 100000000); break;
        case TREE:
            if (strcmp(optarg, "T1") && strcmp(optarg, "T3"))
                bench_fail(2, "%s: --tree takes T1 or T3, not '%s'", me, optarg);
            binomial = !strcmp(optarg, "T3");
            break;
        case TASKS: tasks = bench_count(me, "tasks", optarg, 1, 100000000); break;
        case GRAIN: grain = bench_count(me, "grain", optarg, 1, 100000000); break;
        case COST: cost = bench_seconds(me, "cost", optarg); break;
        case BYTES: bytes_each = (size_t) bench_count(me, "bytes", optarg, 1, 1 << 30); break;
        case SEED: seed = (uint64_t) bench_count(me, "seed", optarg, 0, 1000000000); break;
        case SLEEP: sleeps = true; break;
        case ALONE: alone = true; break;
        case BY_HAND: by_hand = true; break;
        case IN_TURN: in_turn = true; break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    check_what(what);
    double seconds = 0, limit = 0, busy = 0, moving = 0, messages = 0, ns = 0;
    must(ws_pool_create(alone && !strcmp(what, "uts") ? MPI_COMM_SELF : MPI_COMM_WORLD, &pool));
    if (!strcmp(what, "list"))
        seconds = list_ranking(&limit);
    else if (!strcmp(what, "uts"))
        seconds = uts(&limit);
    else if (!strcmp(what, "bag") || !strcmp(what, "pipeline"))
        seconds = bag(&limit, &busy, *what == 'p');
    else if (!strcmp(what, "balanced"))
        seconds = balanced(&limit);
    else if (!strcmp(what, "large"))
        large(&moving, &messages);
    else if (!strcmp(what, "results"))
        seconds = results();
    else
        ns = empty_ns();
    struct ws_pool_counts counts;
    must(ws_pool_get_counts(pool, &counts));
    unsigned long long mine[4] = { counts.run, counts.moved_in, counts.letters, counts.bytes_out }, all[4];
    MPI_Reduce(mine, all, 4, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    must(ws_pool_free(&pool));
    if (bench_rank == 0 && json)
        printf("{\"program\": \"%s\", \"what\": \"%s\", \"ranks\": %d, \"seconds\": %.6f, \"limit_s\": %.6f, \"run\": "
               "%llu, \"moved\": %llu, \"moved_bytes\": %llu, "
               "\"letters\": %llu, \"busy\": %.4f, \"in_runs_s\": %.6f, \"moving_mb_s\": %.1f, \"messages_mb_s\": "
               "%.1f, \"empty_ns\": %.1f",
               me, what, bench_ranks, seconds, limit, all[0], all[1], all[3], all[2], busy, in_runs, 1e-6 * moving,
               1e-6 * messages, ns);
    else if (bench_rank == 0)
        printf("%.6f s, limit %.6f s, %llu tasks, %llu moved (%.3f MB with results), %llu letters; moving %.1f MB/s, "
               "messages %.1f MB/s; "
               "empty task %.1f ns\n",
               seconds, limit, all[0], all[1], 1e-6 * (double) all[3], all[2], 1e-6 * moving, 1e-6 * messages, ns);
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
