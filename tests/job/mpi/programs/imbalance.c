/* SPDX-License-Identifier: MIT
 *
 * imbalance SHAPE [MS]: a program for the verdict; its loops last about MS milliseconds on the last rank.
 *    late       the last rank computes, the others wait
 *    balanced   all compute the same
 *    half       the second half of the ranks compute the same, the others wait
 *    alike      all compute the same outside of loops, MS milliseconds of their CPU's time
 *    short      the last rank runs many loops of a few hundred nanoseconds
 *    chain      the last rank runs 100 such loops, one after the other
 *    nothing    no loop at all, but waiting
 *    thread     the last rank's loop runs on another thread than MPI_Init's
 *    chunk N    schedule(dynamic, N) and steal_schedule(static, 2), N known at run time
 *    steal N    steal_schedule(dynamic, N) */
#include "test.h"
#include <pthread.h>

static int iterations;
static double each = 10e-6;

static void *loop(void *result)
{
    long sum = 0;
#pragma ws for reduction(+ : sum)
    for (int i = 0; i < iterations; i++) {
        busy(each);
        sum += i;
    }
    CHECK(sum == (long) iterations * (iterations - 1) / 2);
    return result;
}

/* Lasts longer where others have the CPU. */
static void busy_on_cpu(double seconds)
{
    struct timespec from, t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while ((double) (t.tv_sec - from.tv_sec) + 1e-9 * (double) (t.tv_nsec - from.tv_nsec) < seconds);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *shape = argv[1];
    int last = rank == ranks - 1, number = argc > 2 ? atoi(argv[2]) : 100;
    iterations = number * 100;
    if (!strcmp(shape, "late") && last)
        loop(NULL);
    for (int i = 0; i < 100 && !strcmp(shape, "chain") && last; i++)
        loop(NULL);
    if (!strcmp(shape, "balanced"))
        loop(NULL);
    if (!strcmp(shape, "half") && rank >= ranks / 2)
        loop(NULL);
    if (!strcmp(shape, "alike")) {
        iterations = 1;
        loop(NULL);
        busy_on_cpu(1e-3 * number);
    }
    if (!strcmp(shape, "short") && last) {
        iterations = 3, each = 100e-9;
        for (double until = now() + 1e-3 * number; now() < until;)
            loop(NULL);
    }
    if (!strcmp(shape, "nothing") && last)
        busy(1e-3 * number);
    if (!strcmp(shape, "thread") && last) {
        pthread_t thread;
        pthread_create(&thread, NULL, loop, NULL);
        pthread_join(thread, NULL);
    }
    if (!strcmp(shape, "chunk") && last) {
        long sum = 0;
#pragma ws for reduction(+ : sum) schedule(dynamic, number) steal_schedule(static, 2)
        for (int i = 0; i < 1000; i++)
            sum += i;
        CHECK(sum == 499500);
    }
    if (!strcmp(shape, "steal") && last) {
        long sum = 0;
#pragma ws for reduction(+ : sum) steal_schedule(dynamic, number)
        for (int i = 0; i < 1000; i++)
            sum += i;
        CHECK(sum == 499500);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("right\n");
    return end();
}
