/* SPDX-License-Identifier: MIT
 *
 * An MPI+OpenMP program that knows nothing of Workshare: parallel regions of many kinds, each with an exact result.
 *
 *   regions TURNS KIND...
 *
 * In each turn each rank but the last runs the region, and the others wait. Iterations sleep, so that who waits is
 * sure to come in time. Each kind is printed with what omp_get_max_threads() said at the start. */
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { iterations = 240 };
static int done[iterations], turn, told;
static int *marks; /* as many as omp_get_max_threads() said at the start */
static volatile int *flags;

static void work(int i)
{
    const struct timespec nap = {0, 100000};
    nanosleep(&nap, NULL);
    __atomic_fetch_add(&done[i], 1, __ATOMIC_RELAXED);
}
static int all_done(int n)
{
    for (int i = 0; i < iterations; i++)
        if (done[i] != (i < n))
            return 0;
    return 1;
}
static int sum_to(int n) { return n * (n - 1) / 2; }

/* Each returns whether the result is right. */
#define LOOP(name, clauses)                                                                                           \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        int sum = 0;                                                                                                  \
        _Pragma(clauses) for (int i = 0; i < iterations; i++)                                                         \
        {                                                                                                             \
            work(i);                                                                                                  \
            sum += i;                                                                                                 \
        }                                                                                                             \
        return sum == sum_to(iterations);                                                                             \
    }
LOOP(plain, "omp parallel for reduction(+ : sum)")
LOOP(chunks, "omp parallel for schedule(static, 7) reduction(+ : sum)")
LOOP(dynamic, "omp parallel for schedule(dynamic) reduction(+ : sum)")
LOOP(dynamic_chunks, "omp parallel for schedule(dynamic, 5) reduction(+ : sum)")
LOOP(guided, "omp parallel for schedule(guided) reduction(+ : sum)")
LOOP(by_itself, "omp parallel for schedule(auto) reduction(+ : sum)")
LOOP(runtime, "omp parallel for schedule(runtime) reduction(+ : sum)")
LOOP(three, "omp parallel for num_threads(3) reduction(+ : sum)")
LOOP(one, "omp parallel for if (turn < 0) reduction(+ : sum)")

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

static int last_of_dynamic(void)
{
    int last = -1;
#pragma omp parallel for lastprivate(last) schedule(dynamic)
    for (int i = 0; i < iterations; i++) {
        work(i);
        last = i;
    }
    return last == iterations - 1;
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
#pragma omp for nowait
        for (int i = 0; i < iterations; i++)
            work(i);
#pragma omp for schedule(dynamic, 4) nowait
        for (int i = 0; i < iterations; i++)
            again[i]++;
    }
    for (int i = 0; i < iterations; i++)
        if (again[i] != 1)
            return 0;
    return 1;
}

/* Thread numbers: each once, below what was told at the start. */
static int numbers(void)
{
    int wrong = 0, sum = 0;
    memset(marks, 0, (size_t) told * sizeof *marks);
#pragma omp parallel reduction(+ : wrong, sum)
    {
        const int me = omp_get_thread_num(), all = omp_get_num_threads();
        wrong += me >= all || all > told || omp_in_parallel() != (all > 1) || omp_get_level() != 1;
        marks[me]++;
        for (int i = me; i < iterations; i += all) {
            work(i);
            sum += i;
        }
        wrong += omp_get_thread_num() != me || omp_get_num_threads() != all;
    }
    for (int i = 0; i < told; i++)
        wrong += marks[i] != 1;
    return wrong == 0 && sum == sum_to(iterations);
}

/* Asks only in a late turn, in a place where nobody asked before. */
static int asks_late(void)
{
    int wrong = 0;
    memset(marks, 0, (size_t) told * sizeof *marks);
#pragma omp parallel for schedule(dynamic) reduction(+ : wrong)
    for (int i = 0; i < iterations; i++) {
        work(i);
        if (turn > 3) {
            const int me = omp_get_thread_num();
            /* nobody else has it now */
            wrong += me >= told || __atomic_fetch_add(&marks[me], 1, __ATOMIC_RELAXED) != 0;
            work(i);
            __atomic_fetch_add(&marks[me], -1, __ATOMIC_RELAXED);
            __atomic_fetch_add(&done[i], -1, __ATOMIC_RELAXED);
        }
    }
    return wrong == 0;
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

static int single(void)
{
    int singles = 0, masters = 0;
#pragma omp parallel
    {
#pragma omp single nowait
        singles++;
#pragma omp master
        masters++;
#pragma omp for nowait
        for (int i = 0; i < iterations; i++)
            work(i);
    }
    return singles == 1 && masters == 1;
}

static int barriers(void)
{
    int first = 0, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp for
        for (int i = 0; i < iterations; i++)
            work(i);
#pragma omp atomic
        first++;
#pragma omp barrier
        wrong += first != omp_get_num_threads();
    }
    return wrong == 0;
}

/* The same, but the first executions have no barrier. */
static int late_barrier(void)
{
    int arrived = 0, wrong = 0, last = 0;
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp for nowait
        for (int i = 0; i < iterations; i++)
            work(i);
        if (turn > 3) {
#pragma omp atomic
            arrived++;
#pragma omp barrier
#pragma omp atomic read
            last = arrived;
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
#pragma omp for nowait
        for (int i = 0; i < iterations; i++)
            work(i);
        if (turn > 3) {
#pragma omp single copyprivate(value)
            value = turn;
            wrong += value != turn;
        }
    }
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

static int tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < iterations; i++)
#pragma omp task firstprivate(i)
        work(i);
    return 1;
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

static const struct {
    const char *name;
    int (*run)(void);
} kinds[] = {{"plain", plain},
             {"chunks", chunks},
             {"dynamic", dynamic},
             {"dynamic_chunks", dynamic_chunks},
             {"guided", guided},
             {"auto", by_itself},
             {"runtime", runtime},
             {"three", three},
             {"one", one},
             {"down", down},
             {"two_loops", two_loops},
             {"variables", variables},
             {"last_of_dynamic", last_of_dynamic},
             {"exclusion", exclusion},
             {"uncombined", uncombined},
             {"without_waiting", without_waiting},
             {"numbers", numbers},
             {"asks_late", asks_late},
             {"parts", parts},
             {"single", single},
             {"barriers", barriers},
             {"late_barrier", late_barrier},
             {"late_copyprivate", late_copyprivate},
             {"spinning", spinning},
             {"tasks", tasks},
             {"late_tasks", late_tasks},
             {"in_order", in_order},
             {"nested", nested},
             {"empty_first", empty_first}};

int main(int argc, char **argv)
{
    told = omp_get_max_threads();
    int provided, me, ranks, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    marks = calloc((size_t) told + 1, sizeof *marks);
    flags = calloc((size_t) told + 1, sizeof *flags);
    for (int a = 2; a < argc; a++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (strcmp(argv[a], kinds[k].name) == 0 || strcmp(argv[a], "all") == 0) {
                int bad = 0;
                for (turn = 0; turn < atoi(argv[1]); turn++) {
                    if (me + 1 < ranks || ranks == 1) {
                        memset(done, 0, sizeof done);
                        if (!kinds[k].run()) {
                            fprintf(stderr, "%s is wrong in turn %d\n", kinds[k].name, turn);
                            bad++;
                        }
                        if (strcmp(kinds[k].name, "empty_first") && strcmp(kinds[k].name, "down"))
                            bad += !all_done(iterations);
                    }
                    MPI_Barrier(MPI_COMM_WORLD);
                }
                if (me == 0)
                    printf("%s %s, told %d\n", kinds[k].name, bad ? "wrong" : "right", told);
                wrong += bad;
            }
    MPI_Finalize();
    return wrong != 0;
}
