/* SPDX-License-Identifier: MIT
 *
 * Parallel regions whose threads wait for each other by flags: all of them come to an end with as many threads of
 * OpenMP's as the region says, or the rank has. */
#include "frame.h"

#include <sched.h>

static void release(int *flag) { __atomic_fetch_add(flag, 1, __ATOMIC_RELEASE); }
static void await(const int *flag, int count)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < count)
        sched_yield();
}

/* What regions have in the turns, too, in which they are watched: a loop with no barrier. */
#define ALL_WORK                                                                                                      \
    _Pragma("omp for nowait") for (int i = 0; i < iterations; i++) work(i);

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
    {"late_waiting_sections", late_waiting_sections, iterations},
    {"late_waiting_parts", late_waiting_parts, iterations},
};

int main(int argc, char **argv) { return run_kinds(argc, argv, kinds, sizeof kinds / sizeof *kinds); }
