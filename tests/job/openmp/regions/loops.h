/* SPDX-License-Identifier: MIT
 *
 * Loops, with and without a region around them alone. */
#pragma once

LOOP(plain, "omp parallel for reduction(+ : sum)")
LOOP(chunks, "omp parallel for schedule(static, 7) reduction(+ : sum)")
LOOP(dynamic, "omp parallel for schedule(dynamic) reduction(+ : sum)")
LOOP(dynamic_chunks, "omp parallel for schedule(dynamic, 5) reduction(+ : sum)")
LOOP(guided, "omp parallel for schedule(guided) reduction(+ : sum)")
LOOP(by_itself, "omp parallel for schedule(auto) reduction(+ : sum)")
LOOP(runtime, "omp parallel for schedule(runtime) reduction(+ : sum)")
LOOP(three, "omp parallel for num_threads(3) reduction(+ : sum)")

/* A chunk is one thread's, and with static they are assigned in turn: as OMP_SCHEDULE says, or the program itself. */
static int runtime_chunks(void)
{
    static int owner[iterations];
    int threads = 0, chunk, said_chunk, wrong = 0;
    omp_sched_t kind, said;
    omp_get_schedule(&said, &said_chunk);
    if (turn % 2)
        omp_set_schedule(turn % 4 == 1 ? omp_sched_static : omp_sched_dynamic, 5);
    omp_get_schedule(&kind, &chunk);
#pragma omp parallel
    {
#pragma omp single nowait
        threads = omp_get_num_threads();
#pragma omp for schedule(runtime)
        for (int i = 0; i < iterations; i++) {
            work(i);
            owner[i] = omp_get_thread_num();
        }
    }
    for (int i = 0; chunk > 1 && i < iterations; i++) {
        wrong += owner[i] != owner[i / chunk * chunk];
        wrong += (kind & 0xff) == omp_sched_static && owner[i] != i / chunk % threads;
    }
    omp_set_schedule(said, said_chunk);
    return wrong == 0;
}

/* Chunks round robin, and what another thread has left. */
static int rounds(void)
{
    static int left[iterations];
    int sum = 0, wrong = 0;
#pragma omp parallel
    {
#pragma omp for schedule(static, 7) reduction(+ : sum)
        for (int i = 0; i < iterations; i++) {
            work(i);
            left[i] = i + turn;
            sum += i;
        }
#pragma omp for schedule(static, 3) reduction(+ : wrong)
        for (int i = 0; i < iterations; i++)
            wrong += left[iterations - 1 - i] != iterations - 1 - i + turn;
    }
    return sum == sum_to(iterations) && !wrong;
}

static int down(void)
{
    long sum = 0;
#pragma omp parallel for schedule(guided, 3) reduction(+ : sum)
    for (long i = iterations - 1; i >= 0; i -= 3) {
        work((int) i / 3);
        sum += i;
    }
    for (long i = iterations - 1; i >= 0; i -= 3)
        sum -= i;
    memset(done + iterations / 3, 0, sizeof done - sizeof done / 3);
    return sum == 0 && all_done(iterations / 3);
}

static int two_loops(void)
{
    unsigned long sum = 0;
#pragma omp parallel for collapse(2) schedule(dynamic, 2) reduction(+ : sum)
    for (unsigned long i = 0; i < 12; i++)
        for (unsigned long j = 0; j < iterations / 12; j++) {
            work((int) (i * (iterations / 12) + j));
            sum += i * (iterations / 12) + j;
        }
    return sum == (unsigned long) sum_to(iterations);
}

static int variables(void)
{
    int first = 5, last = -1, most = -1, array[4] = {0};
#pragma omp parallel for firstprivate(first) lastprivate(last) reduction(max : most) reduction(+ : array)
    for (int i = 0; i < iterations; i++) {
        work(i);
        last = i + first;
        most = i > most ? i : most;
        array[i % 4] += 1;
    }
    return last == iterations + 4 && most == iterations - 1 && array[0] == iterations / 4 && array[3] == iterations / 4;
}

#define LAST_OF(name, clauses)                                                                                        \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        int last = -1;                                                                                                \
        _Pragma(clauses) for (int i = 0; i < iterations; i++)                                                         \
        {                                                                                                             \
            work(i);                                                                                                  \
            last = i;                                                                                                 \
        }                                                                                                             \
        return last == iterations - 1;                                                                                \
    }
LAST_OF(last_of_any_order, "omp parallel for lastprivate(last) schedule(dynamic)")
LAST_OF(last_of_one_order, "omp parallel for lastprivate(last) schedule(monotonic : dynamic)")

static int last_of_dynamic(void)
{
    /* libomp 14 loses the last value, in any program, where its own threads steal from each other. */
    const char *threads = getenv("OMP_NUM_THREADS");
    return threads && atoi(threads) == 1 ? last_of_any_order() : last_of_one_order();
}

static int exclusion(void)
{
    int a = 0, b = 0, c = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel for
    for (int i = 0; i < iterations; i++) {
        work(i);
#pragma omp critical
        a++;
#pragma omp atomic
        b++;
        omp_set_lock(&lock);
        c++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return a == iterations && b == iterations && c == iterations;
}

/* A loop in a region: its barrier is the region's end. */
static int uncombined(void)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < iterations; i++)
            work(i);
    }
    return 1;
}

static int without_waiting(void)
{
    static int again[iterations];
    memset(again, 0, sizeof again);
#pragma omp parallel
    {
        ALL_WORK
#pragma omp for schedule(dynamic, 4) nowait
        for (int i = 0; i < iterations; i++)
            again[i]++;
    }
    for (int i = 0; i < iterations; i++)
        if (again[i] != 1)
            return 0;
    return 1;
}

/* No iterations in the first turns. */
static int empty_first(void)
{
    const int n = turn < 2 ? 0 : iterations;
    int sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        work(i);
        sum += i;
    }
    return sum == sum_to(n) && all_done(n);
}

static int parts(void)
{
#pragma omp parallel sections
    {
#pragma omp section
        for (int i = 0; i < 100; i++)
            work(i);
#pragma omp section
        for (int i = 100; i < 200; i++)
            work(i);
#pragma omp section
        for (int i = 200; i < iterations; i++)
            work(i);
    }
    return 1;
}
