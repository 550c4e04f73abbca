/* SPDX-License-Identifier: MIT
 *
 * What a region meets only when it is shared already: the first executions, which are watched, have none of it. */
#pragma once

/* The same as barriers(), but the first executions have none. */
static int late_barrier(void)
{
    int arrived = 0, wrong = 0, last = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        ALL_WORK
        if (turn > 3) {
#pragma omp atomic
            arrived++;
#pragma omp barrier
#pragma omp atomic read
            last = arrived;
            TOUCH_ERRNO(9)
            wrong += last != arrived;
#pragma omp barrier
#pragma omp single
            arrived = 0;
            wrong += arrived != 0;
        }
    }
    return wrong == 0;
}

static int late_copyprivate(void)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        int value = -1;
        ALL_WORK
        if (turn > 3) {
#pragma omp single copyprivate(value)
            value = turn;
            wrong += value != turn;
        }
    }
    return wrong == 0;
}

/* Loops whose iterations have an order, which the first executions have not. */
static int late_order(void)
{
    int chunks = 0, pieces = 0, before = 0, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        ALL_WORK
        if (turn > 3) {
#pragma omp for ordered schedule(static, 3) nowait
            for (int i = 0; i < iterations; i++) {
#pragma omp ordered
                wrong += chunks++ != i;
            }
#pragma omp for ordered schedule(dynamic) nowait
            for (unsigned long long i = iterations; i > 0; i -= 2) {
#pragma omp ordered
                wrong += pieces++ != (int) (iterations - i) / 2;
            }
#pragma omp for ordered(1)
            for (int i = 0; i < iterations; i++) {
#pragma omp ordered depend(sink : i - 1)
                wrong += before != i;
                before = i + 1;
#pragma omp ordered depend(source)
            }
#pragma omp for ordered(1) schedule(dynamic, 2)
            for (int i = 0; i < 3; i++) {
#pragma omp ordered depend(sink : i - 1)
                wrong += before != iterations + i;
                before = iterations + i + 1;
#pragma omp ordered depend(source)
            }
        }
    }
    return wrong == 0 && (turn <= 3 || (chunks == iterations && pieces == iterations / 2 && before == iterations + 3));
}

/* Values of the last iterations that have one, which the first executions do not ask for. */
static int late_conditional(void)
{
    int last = -1, second = -1;
#pragma omp parallel
    {
        ALL_WORK
        if (turn > 3) {
#ifdef __clang__ /* gets them wrong itself */
#pragma omp single
            last = 207, second = 215;
#else
#pragma omp for schedule(dynamic, 3) lastprivate(conditional : last)
            for (int i = 0; i < iterations; i++)
                if (i % 100 == 7)
                    last = i;
#pragma omp for schedule(static) lastprivate(conditional : second)
            for (int i = 0; i < iterations; i++)
                if (i % 70 == 5)
                    second = i;
#endif
        }
    }
    return turn <= 3 ? last == -1 : last == 207 && second == 215;
}

/* What tasks add up over all threads, which the first executions do not. */
static int late_task_reduction(void)
{
    int sum = 0;
    long product = 1;
#pragma omp parallel
    {
        ALL_WORK
        if (turn > 3) {
#pragma omp for reduction(task, + : sum) schedule(dynamic)
            for (int i = 0; i < iterations; i++) {
#pragma omp task in_reduction(+ : sum)
                sum += i;
                sum += 1;
            }
#pragma omp sections reduction(task, * : product)
            {
#pragma omp task in_reduction(* : product)
                product *= 3;
#pragma omp section
#pragma omp task in_reduction(* : product)
                product *= 5;
            }
        }
    }
    return turn <= 3 || (sum == sum_to(iterations) + iterations && product == 15);
}

/* What the tasks of a group add up, and those of a region. */
static int group_reductions(void)
{
    int sum = 0, wrong = 0;
#pragma omp parallel reduction(task, + : sum) reduction(+ : wrong)
    {
        long product = 1, both = 0, looped = 0;
        ALL_WORK
#pragma omp task in_reduction(+ : sum)
        sum += 2;
#pragma omp taskgroup task_reduction(* : product)
        {
#pragma omp taskgroup task_reduction(+ : both)
            {
#pragma omp task in_reduction(* : product) in_reduction(+ : both)
                {
                    product *= 3;
                    both += 1;
                }
#pragma omp task in_reduction(+ : both)
                both += 10;
            }
#pragma omp task in_reduction(* : product)
            product *= 5;
        }
#pragma omp taskloop reduction(+ : looped) in_reduction(+ : sum) grainsize(2)
        for (int i = 0; i < 10; i++) {
            looped += i;
            sum += i == 9;
        }
        wrong += product != 15 || both != 11 || looped != 45;
        sum += 1;
    }
    return sum == 4 * told && wrong == 0;
}

/* Which tasks are final. */
static int final_tasks(void)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        int in_final = 0;
        ALL_WORK
#pragma omp task final(1) shared(in_final)
        {
            in_final = omp_in_final();
#pragma omp task shared(in_final)
            in_final += omp_in_final();
        }
#pragma omp taskwait
        wrong += in_final != 2 || omp_in_final();
    }
    return wrong == 0;
}

/* Threads inherit the default allocator. */
static int allocators(void)
{
    int wrong = 0;
    const omp_allocator_handle_t before = omp_get_default_allocator();
    omp_set_default_allocator(omp_low_lat_mem_alloc);
#pragma omp parallel reduction(+ : wrong)
    {
        ALL_WORK
        wrong += omp_get_default_allocator() != omp_low_lat_mem_alloc;
    }
    omp_set_default_allocator(before);
#pragma omp parallel reduction(+ : wrong)
    wrong += omp_get_default_allocator() != before;
    return wrong == 0;
}

/* The same as nest_locks(), but the first executions have no such lock. */
static int late_nest_locks(void)
{
    int arrived = 0, inside = 0, wrong = 0;
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel reduction(+ : wrong)
    {
        const int holds = turn > 3 && omp_get_thread_num() == omp_get_num_threads() / 2;
        if (holds)
            omp_set_nest_lock(&lock);
        for (int loop = 0; loop < 3; loop++) {
#pragma omp for
            for (int i = loop * iterations / 3; i < (loop + 1) * iterations / 3; i++)
                work(i);
#pragma omp atomic
            arrived++;
#pragma omp barrier
            wrong += arrived < (loop + 1) * omp_get_num_threads();
        }
        if (holds) {
            inside = 1;
            omp_unset_nest_lock(&lock);
        } else if (turn > 3) {
            omp_set_nest_lock(&lock);
            wrong += !inside || omp_test_nest_lock(&lock) != 2;
            omp_unset_nest_lock(&lock);
            omp_unset_nest_lock(&lock);
        }
    }
    omp_destroy_nest_lock(&lock);
    return wrong == 0;
}

static int late_tasks(void)
{
    int sum = 0;
#pragma omp parallel for
    for (int i = 0; i < iterations; i++)
        if (turn > 3) {
#pragma omp task firstprivate(i) shared(sum)
            {
                work(i);
#pragma omp atomic
                sum += i;
            }
#pragma omp taskwait
        } else {
            work(i);
#pragma omp atomic
            sum += i;
        }
    return sum == sum_to(iterations);
}

/* A barrier is behind the tasks of all, which the first executions have not. */
static int late_tasks_of_all(void)
{
    int sum = 0, threads = 0, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        ALL_WORK
        if (turn > 3) {
            for (int i = 0; i < 3; i++) {
#pragma omp task shared(sum)
#pragma omp atomic
                sum++;
            }
#pragma omp taskloop shared(sum) nogroup
            for (int i = 0; i < 4; i++) {
#pragma omp atomic
                sum++;
            }
#pragma omp atomic
            threads++;
#pragma omp barrier
            wrong += sum != 7 * threads;
        }
    }
    return wrong == 0;
}
