/* SPDX-License-Identifier: MIT
 *
 * Every kind of parallel region counts while it is open, and only then; compiled by openmp_regions_test.py with GCC and
 * with clang, with openmp_shim.cpp in libws's place.
 *
 * openmp_regions [expect-unseen | cost] */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

int ws_test_watch(void);
void ws_test_stop(void);
unsigned ws_test_open(void);
void ws_test_wait(void);
void ws_test_end_wait(void);
extern int ws_test_openings;

static int failures;
#define CHECK(...) \
    ((__VA_ARGS__) ? (void) 0 : (void) (failures++, printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__)))

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static volatile int sink;

/* In a region that is `depth` regions deep. */
static void at_depth(unsigned depth)
{
    if (ws_test_open() != depth) {
        failures++;
        printf("%u regions open, not %u\n", ws_test_open(), depth);
    }
}

static void kinds(int n)
{
    long sum = 0;
#pragma omp parallel
    at_depth(1);
    at_depth(0);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        at_depth(1);
#pragma omp parallel for schedule(static, 2)
    for (int i = 0; i < n; i++)
        at_depth(1);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++)
        at_depth(1);
#pragma omp parallel for schedule(monotonic : dynamic, 3)
    for (int i = 0; i < n; i++)
        at_depth(1);
#pragma omp parallel for schedule(guided) reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        at_depth(1);
        sum += i;
    }
#pragma omp parallel for schedule(monotonic : guided)
    for (unsigned long i = 0; i < (unsigned long) n; i++)
        at_depth(1);
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < n; i++)
        at_depth(1);
#pragma omp parallel for schedule(monotonic : runtime)
    for (int i = 0; i < n; i++)
        at_depth(1);
#pragma omp parallel for schedule(nonmonotonic : runtime)
    for (int i = 0; i < n; i++)
        at_depth(1);
#pragma omp parallel sections
    {
#pragma omp section
        at_depth(1);
#pragma omp section
        at_depth(1);
    }
#pragma omp parallel reduction(task, + : sum)
    {
        at_depth(1);
#pragma omp task in_reduction(+ : sum)
        sum++;
    }
#pragma omp parallel for reduction(task, + : sum) schedule(dynamic)
    for (int i = 0; i < n; i++)
        at_depth(1);
    at_depth(0);
    CHECK(sum >= n * (n - 1) / 2 + 2);
}

/* One thread: OpenMP uses no other core, so these do not count. */
static void serial(int n)
{
#pragma omp parallel if (n < 0)
    at_depth(0);
#pragma omp parallel num_threads(1)
    at_depth(0);
    omp_set_num_threads(1);
#pragma omp parallel
    at_depth(0);
    omp_set_num_threads(2);
    at_depth(0);
}

static void nested(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp single
        {
            at_depth(1);
#pragma omp parallel num_threads(2)
            at_depth(2);
            at_depth(1);
        }
    }
    at_depth(0);
    /* Serialized by the number of levels: the outer one still counts. */
    omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        {
#pragma omp parallel num_threads(2)
            CHECK(ws_test_open() >= 1);
        }
#pragma omp barrier
        at_depth(1);
    }
    at_depth(0);
}

static void *regions_of_thread(void *unused)
{
    for (int i = 0; i < 200; i++) {
#pragma omp parallel num_threads(2)
        if (ws_test_open() < 1)
            sink++;
    }
    return unused;
}

static void many_threads(void)
{
    pthread_t threads[4];
    sink = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, regions_of_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(sink == 0);
    at_depth(0);
}

/* A thread that waits sleeps while a region is open, and comes back after it: by itself, and at once when told. */
static double waited_cpu, returned_at;

static void *waiter(void *started)
{
    struct rusage before, after;
    *(volatile int *) started = 1;
    getrusage(RUSAGE_THREAD, &before);
    ws_test_wait();
    returned_at = now();
    getrusage(RUSAGE_THREAD, &after);
    waited_cpu =
        (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
        1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec -
                        before.ru_stime.tv_usec);
    return NULL;
}

static void waiting(int tell)
{
    pthread_t thread;
    double end = 0;
    volatile int started = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
            pthread_create(&thread, NULL, waiter, (void *) &started);
            while (!started)
                usleep(100);
            usleep(100000);
            ws_test_end_wait();     /* while a region is open it tells nobody */
            usleep(100000);
            end = now();
        }
    }
    if (tell) {
        usleep(200);
        ws_test_end_wait();
    }
    pthread_join(thread, NULL);
    CHECK(returned_at >= end);
    CHECK(returned_at < end + 0.5);     /* 50 ms; this machine may be busy */
    CHECK(waited_cpu < 0.01);           /* a few naps */
    ws_test_wait();                     /* no region: returns */
    at_depth(0);
}

/* The end of watching ends the wait too: MPI_Finalize in a region must not wait for the region's end. */
static void stopping(void)
{
    pthread_t thread;
    volatile int started = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
            pthread_create(&thread, NULL, waiter, (void *) &started);
            while (!started)
                usleep(100);
            usleep(20000);
            ws_test_stop();
            pthread_join(thread, NULL);
        }
    }
    at_depth(0);
    ws_test_wait();
}

static void cost(void)
{
    enum { ROUNDS = 500 };
    double best[2] = {1e9, 1e9};
    for (int round = 0; round < 20; round++) {
        for (int watch = 0; watch < 2; watch++) {
            if (watch)
                CHECK(ws_test_watch());
            else
                ws_test_stop();
            double begin = now();
            for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel
                sink = i;
            }
            double each = (now() - begin) / ROUNDS;
            best[watch] = each < best[watch] ? each : best[watch];
        }
    }
    printf("an empty region: %.0f ns, counted %.0f ns\n", best[0] * 1e9, best[1] * 1e9);
}

int main(int argc, char **argv)
{
    omp_set_num_threads(2);
    omp_set_dynamic(0);
    if (argc > 1 && strcmp(argv[1], "cost") == 0) {
        cost();
        return failures != 0;
    }
#pragma omp parallel
    at_depth(0);                        /* not watched */
    if (argc > 1 && strcmp(argv[1], "expect-unseen") == 0) {
        CHECK(!ws_test_watch());
#pragma omp parallel
        at_depth(0);
        puts(failures ? "FAILED" : "ok");
        return failures != 0;
    }
    CHECK(ws_test_watch());
    CHECK(ws_test_openings == 0);
    kinds(20);
    CHECK(ws_test_openings == 13);
    serial(20);
    CHECK(ws_test_openings == 13);
    nested();
    CHECK(ws_test_openings == 15);
    many_threads();
    waiting(0);
    waiting(1);
    stopping();
#pragma omp parallel
    at_depth(0);
    puts(failures ? "FAILED" : "ok");
    return failures != 0;
}
