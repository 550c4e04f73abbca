/* SPDX-License-Identifier: MIT
 *
 * Parallel regions whose threads wait for each other by flags: all of them come to an end with as many threads of
 * OpenMP's as the region says, or the rank has. */
#include "frame.h"

#include <poll.h>
#include <sched.h>

static void release(int *flag) { __atomic_fetch_add(flag, 1, __ATOMIC_RELEASE); }
static void await(const int *flag, int count)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < count)
        sched_yield();
}

static int own_threads(void)
{
    const char *own = getenv("OMP_NUM_THREADS");
    return own ? atoi(own) : 1;
}

/* All of them at once. */
static void meet(int *arrived, int count)
{
    release(arrived);
    await(arrived, count);
}

/* The thread of the first one waits for that of the second one. */
static int singles_wait(void)
{
    int released = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp single nowait
        await(&released, 1);
#pragma omp single nowait
        release(&released);
        ALL_WORK
    }
    return released;
}

/* The same, but the first executions have none; then in each phase. */
static int late_singles(void)
{
    int released = 0, runs = 0, wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        ALL_WORK
        for (int phase = 1; turn > 3 && phase < 4; phase++) {
#pragma omp single nowait
            await(&released, 2 * phase);
#pragma omp single nowait
            release(&released);
#pragma omp single
            release(&released);
            wrong += released != 2 * phase;
#pragma omp single nowait
            runs++;
#pragma omp barrier
        }
    }
    return wrong == 0 && runs == (turn > 3 ? 3 : 0);
}

/* What comes before a single construct waits for its thread: the first thread, an iteration, a copyprivate one. */
static int late_wait_for_single(void)
{
    int released[4] = {0}, wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        int value = 0;
        ALL_WORK
        if (turn > 3) {
#pragma omp master
            await(&released[0], 1);
#pragma omp single nowait
            release(&released[0]);
#pragma omp barrier
#pragma omp for schedule(static) nowait
            for (int i = 0; i < 4; i++)
                if (i == 0)
                    await(&released[1], 1);
#pragma omp single nowait
            release(&released[1]);
#pragma omp barrier
#pragma omp single nowait
            await(&released[2], 1);
#pragma omp single copyprivate(value)
            {
                value = 7;
                release(&released[2]);
            }
            wrong += value != 7;
        }
    }
    return wrong == 0;
}

/* As many iterations as threads, that wait for each other; and those of a loop for those of the next one. */
#define WAITING(name, clauses)                                                                                        \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        int arrived = 0, released = 0;                                                                                \
        _Pragma("omp parallel num_threads(4)")                                                                        \
        {                                                                                                             \
            ALL_WORK                                                                                                  \
            const int late = turn > 3 ? 4 : 0;                                                                        \
            _Pragma(clauses) for (int i = 0; i < late; i++) meet(&arrived, 4);                                        \
            _Pragma(clauses) for (int i = 0; i < late; i++) if (i == 0) await(&released, 1);                          \
            _Pragma(clauses) for (int i = 0; i < late; i++) if (i == 3) release(&released);                           \
        }                                                                                                             \
        return turn <= 3 || (arrived == 4 && released == 1);                                                          \
    }
WAITING(late_waiting_static, "omp for schedule(static) nowait")
WAITING(late_waiting_chunks, "omp for schedule(static, 1) nowait")
WAITING(late_waiting_dynamic, "omp for schedule(dynamic) nowait")
WAITING(late_waiting_guided, "omp for schedule(guided) nowait")

/* As many as the rank has threads of its own: nobody says how many the region is to have. */
static int late_waiting_own(void)
{
    const int late = turn > 3 ? own_threads() : 0;
    int arrived = 0;
#pragma omp parallel
    {
        ALL_WORK
#pragma omp for schedule(static) nowait
        for (int i = 0; i < late; i++)
            meet(&arrived, late);
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < late; i++)
            meet(&arrived, 2 * late);
    }
    return arrived == 2 * late;
}

/* The first thread looks for what the last one does, and sleeps between two looks. */
static int late_naps(void)
{
    int released = 0;
#pragma omp parallel num_threads(4)
    {
        ALL_WORK
        if (turn == 4) {
            const struct timespec a_while = {0, 200000};
#pragma omp master
            while (!__atomic_load_n(&released, __ATOMIC_ACQUIRE))
                nanosleep(&a_while, NULL);
            if (omp_get_thread_num() == 3)
                release(&released);
        }
    }
    return turn != 4 || released == 1;
}

/* A thread for which the others wait long computes and sleeps in turn: nothing that looks at it ends its sleep. */
static int late_sleeps(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        ALL_WORK
#pragma omp master
        for (int nap = 0; turn > 3 && nap < 600; nap++) {
            volatile double x = nap;
            for (int i = 0; i < 20000; i++)
                x *= 1.0001;
            const struct timespec a_while = {0, 50000};
            wrong += x < 0 || nanosleep(&a_while, NULL) != 0 || (nap % 16 == 0 && poll(NULL, 0, 1) != 0);
        }
#pragma omp barrier
    }
    return wrong == 0;
}

/* A region known to be short, but for its last execution. */
static int late_waiting_short(void)
{
    enum { executions = 40 };
    const int threads = own_threads();
    int sum = 0, arrived = 0;
    for (int e = 1; e <= executions; e++) {
        const int late = e == executions ? 3 : 0;
#pragma omp parallel for num_threads(3) schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < 3; i++) {
            sum += i;
            if (late)
                meet(&arrived, late);
        }
    }
    for (int e = 1; e <= executions; e++) {
        const int late = e == executions ? threads : 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < threads; i++) {
            sum += 1;
            if (late)
                meet(&arrived, 3 + late);
        }
    }
    return sum == executions * (sum_to(3) + threads) && arrived == 3 + threads;
}

/* The first section waits for one of those of which each thread has several, as they are more than threads. */
static int late_waiting_sections(void)
{
    int released[2] = {0}, runs = 0;
#pragma omp parallel num_threads(2)
    {
        ALL_WORK
        for (int again = 0; turn > 3 && again < 2; again++) {
#pragma omp sections
            {
                await(&released[again], 1);
#pragma omp section
                release(&runs);
#pragma omp section
                release(&runs);
#pragma omp section
                release(&runs);
#pragma omp section
                release(&released[again]);
            }
        }
    }
    return turn <= 3 || (released[0] == 1 && released[1] == 1 && runs == 6);
}

static int late_waiting_parts(void)
{
    int released = 0, runs = 0;
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        if (turn > 3)
            await(&released, 1);
        else
            for (int i = 0; i < iterations; i++)
                work(i);
#pragma omp section
        release(&runs);
#pragma omp section
        release(&released);
#pragma omp section
        release(&runs);
    }
    for (int i = 0; turn > 3 && i < iterations; i++)
        done[i] = 1;
    return released == 1 && runs == 2;
}

/* What the iterations of a loop have done, each once. */
static int ran[iterations];
static void forget(void) { memset(ran, 0, sizeof ran); }
static int ran_once(int n)
{
    for (int i = 0; i < iterations; i++)
        if (ran[i] != (i < n))
            return 0;
    return 1;
}

/* Iterations, or chunks of them, wait for the one that follows, except the last one of each group. The deal is in
 * order: libomp's own threads would begin in different places otherwise, and all be in such ones. */
static void wait_in_group(int i, int chunk, int group)
{
    const int of = i / chunk;
    if (of % group != group - 1 && i % chunk == 0)
        await(&ran[i + chunk], 1);
    release(&ran[i]);
}
#define GROUPS(name, region, clauses, chunk, group, when)                                                             \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        const int n = when ? iterations : 0;                                                                          \
        int last = -1, sum = 0;                                                                                       \
        forget();                                                                                                     \
        _Pragma(region)                                                                                               \
        {                                                                                                             \
            ALL_WORK                                                                                                  \
            _Pragma(clauses) for (int i = 0; i < n; i++)                                                              \
            {                                                                                                         \
                wait_in_group(i, chunk, group);                                                                       \
                last = i;                                                                                             \
                __atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);                                                        \
            }                                                                                                         \
        }                                                                                                             \
        return ran_once(n) && (n == 0 || last == n - 1) && sum == sum_to(n);                                          \
    }
#define LATE turn > 3
#define OF_OWN (turn > 3 && own_threads() > 1)
GROUPS(pairs, "omp parallel num_threads(4)", "omp for schedule(monotonic : dynamic) lastprivate(last) nowait", 1, 2,
       LATE)
GROUPS(fours, "omp parallel num_threads(4)", "omp for schedule(monotonic : dynamic) lastprivate(last)", 1, 4, LATE)
GROUPS(chunks, "omp parallel num_threads(4)", "omp for schedule(monotonic : dynamic, 5) lastprivate(last)", 5, 2, LATE)
GROUPS(one_by_one, "omp parallel num_threads(2)", "omp for schedule(static, 1) lastprivate(last)", 1, 2, LATE)
GROUPS(own_pairs, "omp parallel", "omp for schedule(monotonic : dynamic) lastprivate(last) nowait", 1, 2, OF_OWN)
GROUPS(own_groups, "omp parallel", "omp for schedule(monotonic : dynamic) lastprivate(last)", 1, own_threads(), OF_OWN)
GROUPS(own_one_by_one, "omp parallel", "omp for schedule(static, 1) lastprivate(last) nowait", 1, 2, OF_OWN)

/* The region is the loop; and the loop is of a wider type. */
#define GROUPS_ALONE(name, clauses, type, when)                                                                       \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        const int waits = when;                                                                                       \
        forget();                                                                                                     \
        _Pragma(clauses) for (type i = iterations; i > 0; i--)                                                        \
        {                                                                                                             \
            if (waits)                                                                                                \
                wait_in_group(iterations - (int) i, 1, 2);                                                            \
            work((int) i - 1);                                                                                        \
        }                                                                                                             \
        return ran_once(waits ? iterations : 0);                                                                      \
    }
GROUPS_ALONE(alone, "omp parallel for num_threads(4) schedule(monotonic : dynamic)", long, LATE)
GROUPS_ALONE(alone_at_first, "omp parallel for num_threads(4) schedule(monotonic : dynamic, 1)", int, 1)
GROUPS_ALONE(alone_wide, "omp parallel for num_threads(3) schedule(monotonic : dynamic)", unsigned long long, LATE)
GROUPS_ALONE(alone_own, "omp parallel for schedule(monotonic : dynamic)", long, OF_OWN)
GROUPS_ALONE(alone_own_at_first, "omp parallel for schedule(monotonic : dynamic)", int, own_threads() > 1)

/* Each iteration of the first half waits for one of the second half: libomp's threads begin in different places of such
 * a loop. GCC's would all be in the first half. */
#ifdef __clang__
static int halves(void)
{
    const int n = LATE ? iterations : 0;
    forget();
#pragma omp parallel num_threads(2)
    {
        ALL_WORK
#pragma omp for schedule(nonmonotonic : dynamic)
        for (int i = 0; i < n; i++) {
            if (i < n / 2)
                await(&ran[i + n / 2], 1);
            release(&ran[i]);
        }
    }
    return ran_once(n);
}
#endif

/* As omp_set_schedule() says. */
#define RUNTIME(name, region, kind, when)                                                                             \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        const int n = when ? iterations : 0;                                                                          \
        int said_chunk;                                                                                               \
        omp_sched_t said;                                                                                             \
        omp_get_schedule(&said, &said_chunk);                                                                         \
        omp_set_schedule((omp_sched_t) (kind), 1);                                                                    \
        forget();                                                                                                     \
        _Pragma(region)                                                                                               \
        {                                                                                                             \
            ALL_WORK                                                                                                  \
            _Pragma("omp for schedule(runtime)") for (int i = 0; i < n; i++) wait_in_group(i, 1, 2);                  \
        }                                                                                                             \
        omp_set_schedule(said, said_chunk);                                                                           \
        return ran_once(n);                                                                                           \
    }
RUNTIME(runtime, "omp parallel num_threads(4)", omp_sched_dynamic | 0x80000000u, LATE)
RUNTIME(own_runtime, "omp parallel", omp_sched_static, OF_OWN)

/* The first iteration waits for the last one, and for all that are other threads' (schedule(static, 1)). */
#define FIRST(name, region, clauses, threads, when)                                                                   \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        const int n = when ? iterations : 0, of = threads;                                                            \
        int others = 0, last = 0;                                                                                     \
        forget();                                                                                                     \
        _Pragma(region)                                                                                               \
        {                                                                                                             \
            ALL_WORK                                                                                                  \
            _Pragma(clauses) for (int i = 0; i < n; i++)                                                              \
            {                                                                                                         \
                if (i == 0 && of == 1)                                                                                \
                    await(&last, 1);                                                                                  \
                else if (i == 0)                                                                                      \
                    await(&others, n - (n + of - 1) / of);                                                            \
                if (of > 1 && i % of != 0)                                                                            \
                    release(&others);                                                                                 \
                if (i == n - 1)                                                                                       \
                    release(&last);                                                                                   \
                release(&ran[i]);                                                                                     \
            }                                                                                                         \
        }                                                                                                             \
        return ran_once(n);                                                                                           \
    }
FIRST(first_for_last, "omp parallel num_threads(2)", "omp for schedule(dynamic) nowait", 1, LATE)
FIRST(first_for_last_guided, "omp parallel num_threads(2)", "omp for schedule(guided)", 1, LATE)
FIRST(first_for_others, "omp parallel num_threads(3)", "omp for schedule(static, 1)", 3, LATE)
/* Under -workshare-openmp=share a region has as many threads as it was told, if it asks for their numbers, as
 * GCC's code does here, and is free to have others, if not. */
FIRST(own_first_for_others, "omp parallel", "omp for schedule(static, 1)", own_threads(),
      OF_OWN &&told == own_threads())

/* The last chunks of this schedule are of one iteration. */
#define TAIL(name, region, when)                                                                                      \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        const int n = when ? iterations : 0;                                                                          \
        forget();                                                                                                     \
        _Pragma(region)                                                                                               \
        {                                                                                                             \
            ALL_WORK                                                                                                  \
            _Pragma("omp for schedule(monotonic : guided)") for (int i = 0; i < n; i++)                               \
            {                                                                                                         \
                if (i == n - 2)                                                                                       \
                    await(&ran[n - 1], 1);                                                                            \
                release(&ran[i]);                                                                                     \
            }                                                                                                         \
        }                                                                                                             \
        return ran_once(n);                                                                                           \
    }
TAIL(guided_end, "omp parallel num_threads(4)", LATE)
TAIL(own_guided_end, "omp parallel", OF_OWN)

/* Chunks that take longer, the later they come, may be taken from the end once that was seen. Then each waits for the
 * one before, or for the one behind (pairs). Nothing is said of the order; libomp's own threads would all be in pairs'
 * first ones. */
enum { long_loop = 120 };
static int ran_long[long_loop];
#define RISING(name, schedule_clause, before, when)                                                                   \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        const int n = when ? long_loop : 0, rises = turn <= 3 && own_threads() > 1 ? long_loop : 0;                   \
        memset(ran_long, 0, sizeof ran_long);                                                                         \
        _Pragma("omp parallel")                                                                                       \
        {                                                                                                             \
            _Pragma(schedule_clause) for (int i = 0; i < n + rises; i++)                                              \
            {                                                                                                         \
                const struct timespec nap = {0, i < long_loop / 2 ? 50000 : 500000};                                  \
                if (rises)                                                                                            \
                    nanosleep(&nap, NULL);                                                                            \
                else if (before && i > 0)                                                                             \
                    await(&ran_long[i - 1], 1);                                                                       \
                else if (!before && i % 2 == 0)                                                                       \
                    await(&ran_long[i + 1], 1);                                                                       \
                release(&ran_long[i]);                                                                                \
            }                                                                                                         \
            ALL_WORK                                                                                                  \
        }                                                                                                             \
        for (int i = 0; i < long_loop; i++)                                                                           \
            if (ran_long[i] != (i < n + rises))                                                                       \
                return 0;                                                                                             \
        return 1;                                                                                                     \
    }
RISING(rising_chain, "omp for schedule(dynamic) nowait", 1, OF_OWN)
RISING(rising_chain_guided, "omp for schedule(guided) nowait", 1, OF_OWN)
#ifndef __clang__
RISING(rising_pairs, "omp for schedule(dynamic) nowait", 0, OF_OWN)
#endif

/* An iteration waits for the last one of the next loop, in phases. */
static int next_loop(void)
{
    enum { times = 3 };
    const int n = LATE ? iterations : 0;
    int released[times] = {0}, wrong = 0, next[iterations] = {0};
    forget();
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        ALL_WORK
        for (int time = 0; time < times; time++) {
#pragma omp for schedule(monotonic : dynamic) nowait
            for (int i = 0; i < n; i++) {
                if (i == 0)
                    await(&released[time], 1);
                release(&ran[i]);
            }
#pragma omp for schedule(monotonic : dynamic, 3) nowait
            for (int i = 0; i < n; i++) {
                if (i % 6 == 0)
                    await(&next[i + 3], time + 1);
                release(&next[i]);
                if (i == n - 1)
                    release(&released[time]);
            }
#pragma omp barrier
            for (int i = 0; i < n; i++)
                wrong += ran[i] != time + 1 || next[i] != time + 1;
#pragma omp barrier
        }
    }
    return wrong == 0;
}

/* As many threads as the region says that it has. */
static int as_many_as_it_says(void)
{
    forget();
    int waited = 0;
#pragma omp parallel
    {
        const int threads = omp_get_num_threads(), n = turn > 3 && threads > 1 ? iterations : 0;
        ALL_WORK
#pragma omp for schedule(monotonic : dynamic)
        for (int i = 0; i < n; i++)
            wait_in_group(i, 1, threads < 8 ? threads : 8);
#pragma omp master
        waited = n;
    }
    return ran_once(waited);
}

static const struct kind kinds[] = {
    {"singles_wait", singles_wait, iterations},
    {"late_singles", late_singles, iterations},
    {"late_wait_for_single", late_wait_for_single, iterations},
    {"late_waiting_static", late_waiting_static, iterations},
    {"late_waiting_chunks", late_waiting_chunks, iterations},
    {"late_waiting_dynamic", late_waiting_dynamic, iterations},
    {"late_waiting_guided", late_waiting_guided, iterations},
    {"late_waiting_own", late_waiting_own, iterations},
    {"late_waiting_short", late_waiting_short, 0},
    {"late_naps", late_naps, iterations},
    {"late_sleeps", late_sleeps, iterations},
    {"late_waiting_sections", late_waiting_sections, iterations},
    {"late_waiting_parts", late_waiting_parts, iterations},
    {"pairs", pairs, iterations},
    {"fours", fours, iterations},
    {"chunks", chunks, iterations},
    {"one_by_one", one_by_one, iterations},
    {"own_pairs", own_pairs, iterations},
    {"own_groups", own_groups, iterations},
    {"own_one_by_one", own_one_by_one, iterations},
    {"alone", alone, iterations},
    {"alone_at_first", alone_at_first, iterations},
    {"alone_wide", alone_wide, iterations},
    {"alone_own", alone_own, iterations},
    {"alone_own_at_first", alone_own_at_first, iterations},
#ifdef __clang__
    {"halves", halves, iterations},
#endif
    {"runtime", runtime, iterations},
    {"own_runtime", own_runtime, iterations},
    {"first_for_last", first_for_last, iterations},
    {"first_for_last_guided", first_for_last_guided, iterations},
    {"first_for_others", first_for_others, iterations},
    {"own_first_for_others", own_first_for_others, iterations},
    {"guided_end", guided_end, iterations},
    {"own_guided_end", own_guided_end, iterations},
    {"rising_chain", rising_chain, iterations},
    {"rising_chain_guided", rising_chain_guided, iterations},
#ifndef __clang__
    {"rising_pairs", rising_pairs, iterations},
#endif
    {"next_loop", next_loop, iterations},
    {"as_many_as_it_says", as_many_as_it_says, iterations},
};

int main(int argc, char **argv) { return run_kinds(argc, argv, kinds, sizeof kinds / sizeof *kinds); }
