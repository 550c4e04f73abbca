/* SPDX-License-Identifier: MIT
 *
 * What OpenMP runs itself; where threads wait for each other by spinning, once that is noticed. */
#pragma once

LOOP(one, "omp parallel for if (turn < 0) reduction(+ : sum)")

/* Such a lock makes each thread wait for the others, whatever core runs it. */
static int nest_locks(void)
{
    int inside = 0, wrong = 0;
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel reduction(+ : wrong)
    {
        if (omp_get_thread_num() == 0)
            omp_set_nest_lock(&lock);
#pragma omp for
        for (int i = 0; i < iterations; i++)
            work(i);
        if (omp_get_thread_num() == 0) {
            inside = 1;
            omp_unset_nest_lock(&lock);
        } else {
            omp_set_nest_lock(&lock);
            wrong += !inside || omp_test_nest_lock(&lock) != 2;
            omp_unset_nest_lock(&lock);
            omp_unset_nest_lock(&lock);
        }
    }
    omp_destroy_nest_lock(&lock);
    return wrong == 0;
}

/* Each thread waits for the next one, by spinning. */
static int spinning(void)
{
    memset((void *) flags, 0, (size_t) (told + 1) * sizeof *flags);
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), all = omp_get_num_threads();
        for (int i = me; i < iterations; i += all)
            work(i);
        while (me + 1 < all && !__atomic_load_n(&flags[me + 1], __ATOMIC_ACQUIRE))
            sched_yield();
        __atomic_store_n(&flags[me], 1, __ATOMIC_RELEASE);
    }
    return 1;
}

/* The same over and over, without yielding. */
static int pipeline(void)
{
    const int steps = 6;
    memset((void *) flags, 0, (size_t) (told + 1) * sizeof *flags);
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), all = omp_get_num_threads();
        for (int step = 0; step < steps; step++) {
            while (me > 0 && __atomic_load_n(&flags[me - 1], __ATOMIC_ACQUIRE) <= step)
                continue;
            for (int i = step * all + me; i < iterations; i += steps * all)
                work(i);
            __atomic_store_n(&flags[me], step + 1, __ATOMIC_RELEASE);
        }
    }
    return 1;
}

static int tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < iterations; i++)
#pragma omp task firstprivate(i)
        work(i);
    return 1;
}

static int in_order(void)
{
    int next = 0, wrong = 0;
#pragma omp parallel for ordered schedule(dynamic) reduction(+ : wrong)
    for (int i = 0; i < iterations; i++) {
        work(i);
#pragma omp ordered
        wrong += next++ != i;
    }
    return wrong == 0;
}

static int nested(void)
{
    int inner = 0;
#pragma omp parallel for reduction(+ : inner)
    for (int i = 0; i < iterations; i++) {
        work(i);
#pragma omp parallel reduction(+ : inner)
        inner += omp_get_num_threads();
    }
    return inner == iterations;
}

/* What the threads of a region say of their own regions ends with it; what was said before holds. */
static int settings(void)
{
    int before, after, wrong = 0;
    omp_sched_t kind;
    omp_set_dynamic(0);
    omp_get_schedule(&kind, &before);
#pragma omp parallel reduction(+ : wrong)
    {
        const int me = omp_get_thread_num();
        int chunk;
        omp_sched_t its;
        omp_set_schedule(omp_sched_dynamic, me + 2);
        ALL_WORK
        omp_get_schedule(&its, &chunk);
        wrong += its != omp_sched_dynamic || chunk != me + 2 || omp_get_dynamic();
    }
    omp_get_schedule(&kind, &after);
    return wrong == 0 && before == after && !omp_get_dynamic();
}

/* Regions of several teams, which guests are not in. */
static int teams(void)
{
    int wrong = 0;
#pragma omp teams num_teams(2) reduction(+ : wrong)
    {
        const int team = omp_get_team_num(), first = team * iterations / omp_get_num_teams();
        const int end = (team + 1) * iterations / omp_get_num_teams();
#pragma omp parallel for reduction(+ : wrong)
        for (int i = first; i < end; i++) {
            work(i);
            wrong += omp_get_team_num() != team;
        }
    }
    return wrong == 0;
}
