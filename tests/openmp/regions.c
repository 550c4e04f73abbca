/* SPDX-License-Identifier: MIT
 *
 * Parallel regions of many kinds, each with an exact result. */
#include "frame.h"

#include <errno.h>
#include <sched.h>

/* With it the functions with barriers refer to errno; the program always does. */
#ifdef LOOKS_AT_ERRNO
#define TOUCH_ERRNO(value) errno = value;
#else
#define TOUCH_ERRNO(value)
#endif

/* What regions have in the turns, too, in which they are watched: a loop with no barrier. */
#define ALL_WORK                                                                                                      \
    _Pragma("omp for nowait") for (int i = 0; i < iterations; i++) work(i);

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

/* A chunk is one thread's, and with static they are dealt in turn: as OMP_SCHEDULE says, or the program itself. */
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

/* The same in the order in which GCC's code asks to deal a loop. */
static int numbers_in_a_row(void)
{
    memset(marks, 0, (size_t) told * sizeof *marks);
#pragma omp parallel
    {
        const int all = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = me; i < iterations; i += all)
            work(i);
        marks[me]++;
    }
    for (int i = 0; i < told; i++)
        if (marks[i] != 1)
            return 0;
    return 1;
}

/* The number by which a loop is dealt is one that the program uses, too. */
static int number_after_loop(void)
{
    memset(marks, 0, (size_t) told * sizeof *marks);
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < iterations; i++)
            work(i);
        marks[omp_get_thread_num()]++;
    }
    for (int i = 0; i < told; i++)
        if (marks[i] != 1)
            return 0;
    return 1;
}

/* Many loops that need each other's results, in which nobody asks for numbers: the first thread is told from others. */
static int nameless_phases(void)
{
    enum { sweeps = 6 };
    static double a[iterations], b[iterations];
    double total = 0;
    int swaps = 0, masters = 0;
    for (int i = 0; i < iterations; i++)
        a[i] = i;
#pragma omp parallel
    {
        for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp for
            for (int i = 0; i < iterations; i++) {
                if (sweep == 0)
                    work(i);
                b[i] = (a[i] + a[(i + 1) % iterations]) / 2;
            }
#pragma omp for schedule(dynamic, 3)
            for (int i = 0; i < iterations; i++)
                a[i] = b[(i + iterations - 1) % iterations];
#pragma omp single
            swaps++;
#pragma omp master
            masters++;
        }
#pragma omp for reduction(+ : total)
        for (int i = 0; i < iterations; i++)
            total += a[i];
    }
    return total == sum_to(iterations) && swaps == sweeps && masters == sweeps;
}

/* Each thread is there once: so many as the program was told, or as a rank has of its own, while nobody helps. */
static int threads_counted(void)
{
    const char *own = getenv("OMP_NUM_THREADS");
    int threads = 0;
#pragma omp parallel
    {
#pragma omp atomic
        threads++;
    }
    for (int i = 0; i < iterations; i++)
        done[i] = 1;
    return threads == told || (own && threads == atoi(own));
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
        ALL_WORK
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
        TOUCH_ERRNO(7)
#pragma omp barrier
        TOUCH_ERRNO(8)
        wrong += first != omp_get_num_threads();
    }
    return wrong == 0;
}

/* One region as in codes of one region: many loops that need each other's results, and scratch of each thread's own. */
static int phases(void)
{
    enum { sweeps = 12 };
    static double a[iterations], b[iterations];
    double largest = 0, total = 0;
    int swaps = 0, wrong = 0;
    for (int i = 0; i < iterations; i++)
        a[i] = i;
#pragma omp parallel reduction(+ : wrong)
    {
        double scratch[500];
        const int me = omp_get_thread_num();
        for (int sweep = 0; sweep < sweeps; sweep++) {
            for (int i = 0; i < 500; i++)
                scratch[i] = me + sweep;
#pragma omp for
            for (int i = 0; i < iterations; i++) {
                if (sweep == 0)
                    work(i);
                b[i] = (a[i] + a[(i + 1) % iterations]) / 2;
            }
#pragma omp for schedule(dynamic, 3)
            for (int i = 0; i < iterations; i++)
                a[i] = b[(i + iterations - 1) % iterations];
#pragma omp single
            swaps++;
#pragma omp for schedule(guided) reduction(max : largest) nowait
            for (int i = 0; i < iterations; i++)
                largest = a[i] > largest ? a[i] : largest;
#pragma omp barrier
            for (int i = 0; i < 500; i++)
                wrong += scratch[i] != me + sweep;
            wrong += omp_get_thread_num() != me;
        }
#pragma omp for reduction(+ : total)
        for (int i = 0; i < iterations; i++)
            total += a[i];
        wrong += total != sum_to(iterations);
    }
    return wrong == 0 && swaps == sweeps && largest < iterations;
}

/* A lock that is held over a barrier, and waited for after it. */
static int lock_over_barrier(void)
{
    int inside = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        if (me == 0)
            omp_set_lock(&lock);
#pragma omp for
        for (int i = 0; i < iterations; i++)
            work(i);
        if (me == 0)
            inside += 100;
        else
            omp_set_lock(&lock);
        inside++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return inside > 100;
}

/* Of such a lock each thread has to wait for the others, whoever runs it. */
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

/* The same, but the first executions have no such lock. */
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

static const struct kind kinds[] = {
    {"plain", plain, iterations},
    {"chunks", chunks, iterations},
    {"rounds", rounds, iterations},
    {"dynamic", dynamic, iterations},
    {"dynamic_chunks", dynamic_chunks, iterations},
    {"guided", guided, iterations},
    {"auto", by_itself, iterations},
    {"runtime", runtime, iterations},
    {"runtime_chunks", runtime_chunks, iterations},
    {"three", three, iterations},
    {"one", one, iterations},
    {"down", down, 0},
    {"two_loops", two_loops, iterations},
    {"variables", variables, iterations},
    {"last_of_dynamic", last_of_dynamic, iterations},
    {"exclusion", exclusion, iterations},
    {"uncombined", uncombined, iterations},
    {"without_waiting", without_waiting, iterations},
    {"numbers", numbers, iterations},
    {"asks_late", asks_late, iterations},
    {"numbers_in_a_row", numbers_in_a_row, iterations},
    {"number_after_loop", number_after_loop, iterations},
    {"nameless_phases", nameless_phases, iterations},
    {"threads_counted", threads_counted, iterations},
    {"parts", parts, iterations},
    {"single", single, iterations},
    {"barriers", barriers, iterations},
    {"phases", phases, iterations},
    {"lock_over_barrier", lock_over_barrier, iterations},
    {"nest_locks", nest_locks, iterations},
    {"late_nest_locks", late_nest_locks, iterations},
    {"late_barrier", late_barrier, iterations},
    {"late_copyprivate", late_copyprivate, iterations},
    {"late_order", late_order, iterations},
    {"late_conditional", late_conditional, iterations},
    {"late_task_reduction", late_task_reduction, iterations},
    {"spinning", spinning, iterations},
    {"pipeline", pipeline, iterations},
    {"tasks", tasks, iterations},
    {"late_tasks", late_tasks, iterations},
    {"late_tasks_of_all", late_tasks_of_all, iterations},
    {"in_order", in_order, iterations},
    {"nested", nested, iterations},
    {"settings", settings, iterations},
    {"teams", teams, iterations},
    {"empty_first", empty_first, 0},
};

int *where_errno_is(void) { return &errno; }

int main(int argc, char **argv) { return run_kinds(argc, argv, kinds, sizeof kinds / sizeof *kinds); }
