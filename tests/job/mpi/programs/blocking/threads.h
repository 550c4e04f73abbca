/* SPDX-License-Identifier: MIT
 *
 * Cases of blocking.c in which another thread of the same process makes the event (the table's "self";
 * MPI_THREAD_MULTIPLE). */
#ifndef BLOCKING_THREADS_H
#define BLOCKING_THREADS_H

#include "case.h"

#include <pthread.h>

/* LATE's, in shared memory: how many events it has made, which the thread then makes MPI's */
static volatile int *signalled;
static int events;              /* how many there are to be */
static volatile MPI_Request generalized = MPI_REQUEST_NULL;
static void (*thread_acts)(void);

static void *wait_and_act(void *unused)
{
    (void) unused;
    while (*signalled < events)
        usleep(20);
    thread_acts();
    return NULL;
}

static void with_thread(enum phase phase, void (*acts)(void), void (*waits)(void))
{
    static pthread_t thread;
    if (phase == PREPARE)
        events++;
    else if (phase == ACT && rank == LATE)
        *signalled = events;
    else if (phase == ACT) {
        thread_acts = acts;
        pthread_create(&thread, NULL, wait_and_act, NULL);
        waits();
        pthread_join(thread, NULL);
    }
}

static void send_to_self(void) { MPI_Send(&one, 1, MPI_INT, 0, 7, MPI_COMM_SELF); }
static void probe_myself(void)
{
    MPI_Probe(0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
static void mprobe_myself(void)
{
    MPI_Mprobe(0, 7, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}
static void probe_self(enum phase phase) { with_thread(phase, send_to_self, probe_myself); }
static void mprobe_self(enum phase phase) { with_thread(phase, send_to_self, mprobe_myself); }

static int query(void *state, MPI_Status *status)
{
    (void) state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int free_nothing(void *state) { return (void) state, MPI_SUCCESS; }
static int cancel(void *state, int complete) { return (void) state, (void) complete, MPI_SUCCESS; }
static void complete_it(void)
{
    while (generalized == MPI_REQUEST_NULL) /* on a busy machine it may not have come so far */
        usleep(50);
    MPI_Request mine = generalized;
    generalized = MPI_REQUEST_NULL;
    MPI_Grequest_complete(mine);
}
static void wait_for_it(void)
{
    MPI_Request copy;
    MPI_Grequest_start(query, free_nothing, cancel, NULL, &copy);
    generalized = copy;
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
}
static void grequest(enum phase phase) { with_thread(phase, complete_it, wait_for_it); }

#endif
