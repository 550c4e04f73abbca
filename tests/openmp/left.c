/* SPDX-License-Identifier: MIT
 *
 * Parallel regions that sharing leaves to OpenMP, each with an exact result, and on whose cores their threads run. At
 * its end each rank but the last says how many times a thread was on a CPU that is not the rank's own, and how many
 * threads a region had at most.
 *
 * With a kind "dies" a signal ends the last rank after a second. */
#define _GNU_SOURCE
#include "frame.h"

#include <sched.h>
#include <sys/time.h>

static cpu_set_t own;
static int elsewhere, most;
#ifdef KEEPS_PRIVATE
static int kept; /* from region to region */
#pragma omp threadprivate(kept)
#endif

/* By a thread of a region or in a task. */
static void look(void)
{
    if (!CPU_ISSET(sched_getcpu(), &own))
        __atomic_fetch_add(&elsewhere, 1, __ATOMIC_RELAXED);
}

/* A task: long enough for a thread to come from a lent core. */
static void item(int i)
{
    look();
    work(i);
}

/* How many threads there are, by those who pass. */
static void count(int *threads)
{
    if (__atomic_add_fetch(threads, 1, __ATOMIC_RELAXED) > most)
        most = *threads;
}

/* By each thread of a region. */
static void deal_tasks(void)
{
#pragma omp single
    for (int i = 0; i < iterations; i++)
#pragma omp task firstprivate(i)
        item(i);
}

static int tasks(void)
{
#pragma omp parallel
    deal_tasks();
#ifdef KEEPS_PRIVATE
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        wrong += kept++ != turn;
#pragma omp task
        look();
    }
    return wrong == 0;
#else
    return 1;
#endif
}

/* A region that was short for so many executions that nobody is asked for a core any more becomes long. */
static int grows(void)
{
    for (int r = turn ? 0 : 200; r >= 0; r--) {
        const int n = r ? 1 : iterations;
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < n; i++)
#pragma omp task firstprivate(i, n)
            if (n == iterations)
                item(i);
    }
    return 1;
}

/* Such a region, which its thread opens without asking anybody; and within a region that is shared, where it has one
 * thread, whose number is 0. */
static int short_region(int within)
{
    int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp task shared(sum)
    sum = within ? 100 * omp_get_thread_num() + omp_get_num_threads() : 1;
    return sum;
}
static int short_within(void)
{
    int wrong = 0;
    for (int r = turn ? 0 : 200; r >= 0; r--)
        wrong += short_region(0) != 1;
#pragma omp parallel for schedule(dynamic) reduction(+ : wrong)
    for (int i = 0; i < iterations; i++) {
        work(i);
        if (turn > 3 && i % 8 == 0)
            wrong += short_region(1) != 1;
    }
    return wrong == 0;
}

/* Tasks that call MPI. The level that frame.h asks for would do for one thread, which is all that the program has. */
static int messages(void)
{
    int wrong = 0, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < iterations; i++)
#pragma omp task firstprivate(i) shared(wrong)
    {
        int sent = i, got = -1;
        MPI_Sendrecv(&sent, 1, MPI_INT, rank, i, &got, 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (got != i)
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
        item(i);
    }
    return wrong == 0;
}

/* In its first turns the other rank comes back from the wait in which its core is lent, which is to be noticed; later
 * it has just begun to wait when the region opens. */
enum { early_turns = 6 };
static void nap(long us)
{
    const struct timespec time = {0, 1000 * us};
    nanosleep(&time, NULL);
}
static int comes_back(void)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    nap(turn < early_turns ? 3000 : 60);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < iterations; i++)
#pragma omp task firstprivate(i)
    {
        if (turn < early_turns && i == iterations / 8)
            MPI_Send(&i, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD);
        item(i);
    }
    return 1;
}
static void comes(const char *kind)
{
    int got;
    if (strcmp(kind, "comes_back") == 0 && turn < early_turns) {
        MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        nap(15000);
    }
}

static int fibonacci(int n)
{
    int a, b;
    if (n < 2) {
        item(n);
        __atomic_fetch_add(&done[n], -1, __ATOMIC_RELAXED);
        return n;
    }
#pragma omp task shared(a)
    a = fibonacci(n - 1);
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}
static int recursion(void)
{
    int result = 0;
#pragma omp parallel
#pragma omp single
    result = fibonacci(10);
    return result == 55;
}

static int taskloop(void)
{
#pragma omp parallel
#pragma omp master
#pragma omp taskloop grainsize(4)
    for (int i = 0; i < iterations; i++)
        item(i);
    return 1;
}

static int in_order(void)
{
    int next = 0, wrong = 0;
#pragma omp parallel for ordered schedule(dynamic) reduction(+ : wrong)
    for (int i = 0; i < iterations; i++) {
        item(i);
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
        item(i);
#pragma omp parallel for reduction(+ : inner)
        for (int j = 0; j < 3; j++)
            inner += j;
    }
    return inner == sum_to(3) * iterations;
}

/* What one region says of the number of threads another one believes. */
static int kept_number(void)
{
    int threads = 0, passed = 0;
#pragma omp parallel
    {
        count(&passed);
#pragma omp single
        {
            threads = omp_get_num_threads();
#pragma omp task
            look();
        }
    }
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
#pragma omp task
        look();
        for (int i = me * iterations / threads; i < (me + 1) * iterations / threads; i++)
            work(i);
    }
    return passed == threads;
}

/* As many as are asked for, wherever they are. */
static int four(void)
{
    int threads = 0;
#pragma omp parallel num_threads(4)
    {
        count(&threads);
        deal_tasks();
    }
    return threads == 4;
}

static int one(void)
{
    int threads = 0;
#pragma omp parallel if (turn < 0)
    {
        count(&threads);
        deal_tasks();
    }
    return threads == 1;
}

/* Each thread does the same: one more would do it once more. */
static int each_the_same(void)
{
    int threads = 0;
#pragma omp parallel
    {
        count(&threads);
        look();
    }
    for (int i = 0; i < iterations; i++)
        done[i] = 1;
    return threads >= 1;
}

/* A chain of rows through the threads, which wait for each other by spinning. */
static double row(double left, double here)
{
    double x = here + left / 2;
    for (int i = 0; i < 30000; i++)
        x = x * 0.9999 + 1e-4;
    return x;
}
static int pipeline(void)
{
    enum { rows = 24, sweeps = 20 };
    double now[rows], right[rows];
    for (int i = 0; i < rows; i++)
        now[i] = right[i] = i;
    for (int sweep = 0; sweep < sweeps; sweep++)
        for (int i = 0; i < rows; i++)
            right[i] = row(i ? right[i - 1] : sweep, right[i]);
    volatile int *const ready = flags;
    static volatile int taken[4096];
    static double border[4096];
    memset((void *) flags, 0, (size_t) (told + 1) * sizeof *flags);
    memset((void *) taken, 0, sizeof taken);
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), all = omp_get_num_threads();
        const int first = rows * me / all, end = rows * (me + 1) / all;
        for (int sweep = 0; sweep < sweeps; sweep++) {
            while (me > 0 && __atomic_load_n(&ready[me - 1], __ATOMIC_ACQUIRE) <= sweep)
                ;
            double left = me > 0 ? border[me - 1] : sweep;
            __atomic_store_n(&taken[me], sweep + 1, __ATOMIC_RELEASE);
            for (int i = first; i < end; i++)
                left = now[i] = row(left, now[i]);
            while (me + 1 < all && __atomic_load_n(&taken[me + 1], __ATOMIC_ACQUIRE) < sweep)
                ;
            border[me] = left;
            __atomic_store_n(&ready[me], sweep + 1, __ATOMIC_RELEASE);
        }
        look();
        if (me == 0 && all > most)
            most = all;
    }
    for (int i = 0; i < iterations; i++)
        done[i] = 1;
    return memcmp(now, right, sizeof now) == 0;
}

static const struct kind kinds[] = {
    {"tasks", tasks, iterations},
    {"recursion", recursion, 0},
    {"short_within", short_within, iterations},
    {"grows", grows, iterations},
    {"messages", messages, iterations},
    {"comes_back", comes_back, iterations},
    {"taskloop", taskloop, iterations},
    {"in_order", in_order, iterations},
    {"nested", nested, iterations},
    {"kept_number", kept_number, iterations},
    {"four", four, iterations},
    {"one", one, iterations},
    {"each_the_same", each_the_same, iterations},
    {"pipeline", pipeline, iterations},
};

int main(int argc, char **argv)
{
    const char *const rank = getenv("PMI_RANK");
    const struct itimerval soon = {{0, 0}, {1, 0}};
    sched_getaffinity(0, sizeof own, &own);
    if (strcmp(argv[argc - 1], "dies") == 0 && rank && atoi(rank) > 0)
        setitimer(ITIMER_REAL, &soon, NULL);
    last_rank = comes;
    const int wrong = run_kinds(argc, argv, kinds, sizeof kinds / sizeof *kinds);
    if (rank && atoi(rank) == 0)
        printf("elsewhere %d, most %d\n", elsewhere, most);
    return wrong;
}
