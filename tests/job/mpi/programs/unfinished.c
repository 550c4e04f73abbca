/* SPDX-License-Identifier: MIT
 *
 * unfinished HOW WHO: rank 0's `owner` or a `guest` leaves an iteration by exit, _exit, MPI_Abort, pthread_exit,
 * pthread_cancel (of itself; by a thread that the program has for that: other_cancel) or, the owner, longjmp: then it
 * goes on to another loop (longjmp), to MPI_Finalize (longjmp_end) or to a long wait for a message (longjmp_wait); or
 * it leaves a short loop, which runs plainly in the function that catches the jump, and goes on to the same loop
 * (longjmp_plain). Or an iteration ends after 12 s (slow). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test.h"
#include <pthread.h>
#include <setjmp.h>

static const char *how;
static jmp_buf before;
static pthread_t victim;
static volatile int have_victim, slept;

static void *canceller(void *unused)
{
    while (!have_victim)
        usleep(100);
    pthread_cancel(victim);
    return unused;
}

static void leave(void)
{
    if (!strcmp(how, "exit"))
        exit(7);
    if (!strcmp(how, "_exit"))
        _exit(7);
    if (!strcmp(how, "MPI_Abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(how, "pthread_exit"))
        pthread_exit(NULL);
    if (!strcmp(how, "pthread_cancel")) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    if (!strcmp(how, "other_cancel")) {
        victim = pthread_self();
        have_victim = 1;
        for (;;)
            usleep(1000);
    }
    if (!strcmp(how, "slow")) {
        sleep(12);
        slept = 1;
        return;
    }
    longjmp(before, 1);
}

static void loop(int left_by_guest)
{
    int left = 0;
#pragma ws for
    for (int i = 0; i < 2000; i++) {
        busy(10e-6);
        if (left_by_guest >= 0 && on_guest() == left_by_guest && i > 20 && !__sync_lock_test_and_set(&left, 1))
            leave();
    }
}

static inline void short_loop(int leave)
{
    static double sums[100];
#pragma ws for
    for (int i = 0; i < 100; i++) {
        sums[i] += i;
        if (i == leave)
            longjmp(before, 1);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    how = argv[1];
    if (rank == 0 && !strcmp(how, "longjmp_plain")) {
        for (int turn = 0; turn < 100; turn++)
            short_loop(-1);
        if (setjmp(before) == 0)
            short_loop(50);
        else
            short_loop(-1);
    } else if (rank == 0) {
        pthread_t t;
        if (!strcmp(how, "other_cancel"))
            pthread_create(&t, NULL, canceller, NULL);
        for (double deadline = now() + PATIENCE; now() < deadline;)
            if (setjmp(before) != 0)
                break;
            else if (!slept)
                loop(!strcmp(argv[2], "guest"));
            else
                break;
        if (!strcmp(how, "longjmp"))
            loop(-1);
    }
    if (!strcmp(how, "longjmp_wait")) {
        if (rank == 1)
            sleep(13);
        if (rank == 1)
            MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
