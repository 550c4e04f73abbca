/* SPDX-License-Identifier: MIT
 *
 * Requests that several calls may complete, and those that the program completes. */
#include "same.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int queries, releases, cancels;
static int query(void *extra, MPI_Status *s)
{
    (void) extra;
    queries++;
    MPI_Status_set_elements(s, MPI_INT, 3);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = 5;
    s->MPI_TAG = 6;
    return MPI_SUCCESS;
}
static int release(void *extra) { return (void) extra, releases++, MPI_SUCCESS; }
static int cancel(void *extra, int complete) { return (void) extra, (void) complete, cancels++, MPI_SUCCESS; }
static void *completes(void *request)
{
    usleep(20000);
    MPI_Grequest_complete(*(MPI_Request *) request);
    return NULL;
}

#ifdef MPICH_VERSION
/* A request that MPI completes by polling, or MPI_Waitall by waiting. */
static int polls, waits;
static int polled(void *request, MPI_Status *s)
{
    (void) s;
    return ++polls == 5 ? MPI_Grequest_complete(*(MPI_Request *) request) : MPI_SUCCESS;
}
static int waited(int count, void **requests, double limit, MPI_Status *s)
{
    (void) limit, (void) s;
    waits++;
    for (int i = 0; i < count; i++)
        MPI_Grequest_complete(*(MPI_Request *) requests[i]);
    return MPI_SUCCESS;
}
#endif

/* Completes r[0] by one of the calls, beside a message that is received. */
static void completes_generalized(int way, MPI_Request *r, MPI_Status *s)
{
    int index, count, indices[2], over = 0;
    if (way == 0)
        MPI_Wait(&r[0], &s[0]);
    else if (way == 1)
        MPI_Waitall(2, r, s);
    else if (way == 2)
        MPI_Waitall(1, r, MPI_STATUSES_IGNORE);
    while (way == 3 && r[0] != MPI_REQUEST_NULL)
        MPI_Waitany(2, r, &index, &s[0]);
    while (way == 4 && r[0] != MPI_REQUEST_NULL)
        MPI_Waitsome(2, r, &count, indices, s);
    while (way == 5 && !over)
        MPI_Testall(2, r, &over, s);
    while (way == 6 && !over)
        MPI_Test(&r[0], &over, &s[0]);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
}

/* Generalized requests: MPI calls each function as often as without Workshare. */
void generalized(void)
{
    enum { WAYS = 7, EARLY = 0, LATE, POLLED, OF_CLASS };
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int kind = EARLY; kind <= OF_CLASS; kind++)
        for (int way = 0; way < WAYS; way++) {
            MPI_Request r[2], given, sent;
            MPI_Status s[2];
            pthread_t thread;
            int got;
            queries = releases = cancels = 0;
            memset(s, 0, sizeof s);
            if (kind <= LATE)
                MPI_Grequest_start(query, release, cancel, NULL, &r[0]);
#ifdef MPICH_VERSION
            polls = waits = 0;
            MPIX_Grequest_class of_class;
            if (kind == POLLED)
                MPIX_Grequest_start(query, release, cancel, polled, waited, &given, &r[0]);
            if (kind == OF_CLASS) {
                MPIX_Grequest_class_create(query, release, cancel, polled, waited, &of_class);
                MPIX_Grequest_class_allocate(of_class, &given, &r[0]);
            }
#else
            if (kind > LATE)
                continue;
#endif
            given = r[0];
            MPI_Irecv(&got, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &r[1]);
            if (kind == EARLY)
                MPI_Grequest_complete(given);
            if (kind == LATE)
                pthread_create(&thread, NULL, completes, &given);
            MPI_Isend(&rank, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &sent);
            completes_generalized(way, r, s);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
            if (kind == LATE)
                pthread_join(thread, NULL);
#ifdef MPICH_VERSION
            if (way == 5) /* MPICH's MPI_Testall calls `query` each time that it finds the request complete */
                queries = queries > 0;
#endif
            tell("kind %d, way %d: queries %d, releases %d, cancels %d, from %d, null %d", kind, way, queries, releases,
                 cancels, got, r[0] == MPI_REQUEST_NULL);
#ifdef MPICH_VERSION
            tell("kind %d, way %d: polled %d, waits %d", kind, way, polls > 0, waits);
#endif
            /* its handle is that of another request now */
            MPI_Irecv(&got, 1, MPI_INT, before, 2, MPI_COMM_WORLD, &r[0]);
            MPI_Isend(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &sent);
            MPI_Waitall(1, r, s);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
            tell("tag %d", s[0].MPI_TAG);
        }
}

void requests(void)
{
    MPI_Status s, several[4];
    MPI_Request r[4];
    MPI_Message message;
    int data[4] = {rank, 2, 3, 4}, got[4], index, count, indices[4], flag;
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 4; i++)
        r[i] = MPI_REQUEST_NULL;
    show("wait for null", MPI_Wait(&r[0], &s), &s);
    show("waitall of null", MPI_Waitall(4, r, several), &several[3]);
    show("waitall of none", MPI_Waitall(0, r, several), NULL);
    show("waitany of null", MPI_Waitany(4, r, &index, &s), &s);
    show("waitsome of null", MPI_Waitsome(4, r, &count, indices, several), NULL);
    tell("%d %d", index == MPI_UNDEFINED, count == MPI_UNDEFINED);
    MPI_Recv_init(got, 4, MPI_INT, before, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(data, 4, MPI_INT, next, 1, MPI_COMM_WORLD, &r[1]);
    show("inactive", MPI_Wait(&r[0], &s), &s);
    show("inactive any", MPI_Waitany(2, r, &index, &s), &s);
    tell("%d", index == MPI_UNDEFINED);
    for (int turn = 0; turn < 3; turn++) {
        late(turn);
        MPI_Startall(2, r);
        if (turn == 0) {
            show("persistent", MPI_Wait(&r[0], &s), &s);
            show("persistent send", MPI_Wait(&r[1], MPI_STATUS_IGNORE), NULL);
        } else if (turn == 1) {
            int seen = 0;
            while (seen < 2) {
                MPI_Waitsome(2, r, &count, indices, several);
                for (int i = 0; i < count; i++) {
                    seen++;
                    if (indices[i] == 0)
                        show("some", MPI_SUCCESS, &several[i]);
                }
            }
        } else
            show("persistent all", MPI_Waitall(2, r, several), &several[0]);
        tell("%d %d", r[0] != MPI_REQUEST_NULL, got[0]);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Irecv(got, 1, MPI_INT, before, 77, MPI_COMM_WORLD, &r[0]);
    MPI_Cancel(&r[0]);
    show("cancelled", MPI_Wait(&r[0], &s), NULL);
    MPI_Test_cancelled(&s, &flag);
    tell("%d %d", flag, r[0] == MPI_REQUEST_NULL);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Request given;
        pthread_t thread;
        MPI_Grequest_start(query, release, cancel, NULL, &r[0]);
        given = r[0];
        if (turn)
            pthread_create(&thread, NULL, completes, &given);
        else
            MPI_Grequest_complete(given);
        show("generalized", MPI_Wait(&r[0], &s), &s);
        tell("queries %d releases %d cancels %d", queries, releases, cancels);
        if (turn)
            pthread_join(thread, NULL);
    }
    /* matched probes */
    late(1);
    MPI_Isend(data, 2, MPI_INT, next, 9, MPI_COMM_WORLD, &r[0]);
    show("mprobe", MPI_Mprobe(before, 9, MPI_COMM_WORLD, &message, &s), &s);
    show("mrecv", MPI_Mrecv(got, 2, MPI_INT, &message, &s), &s);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    late(1);
    MPI_Isend(data, 2, MPI_INT, next, 9, MPI_COMM_WORLD, &r[0]);
    show("probe", MPI_Probe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &s), &s);
    show("receive", MPI_Recv(got, 2, MPI_INT, s.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s), &s);
    show("sent", MPI_Wait(&r[0], MPI_STATUS_IGNORE), NULL);
    /* nobody */
    show("to nobody", MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD), NULL);
    show("from nobody", MPI_Recv(got, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s), &s);
    show("with nobody", MPI_Sendrecv(data, 1, MPI_INT, MPI_PROC_NULL, 1, got, 1, MPI_INT, MPI_PROC_NULL, 1,
                                     MPI_COMM_WORLD, &s), &s);
    show("probe nobody", MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s), &s);
    show("mprobe nobody", MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &s), &s);
    show("mrecv nobody", MPI_Mrecv(got, 1, MPI_INT, &message, &s), &s);
    /* itself, and a ready send to a receive that is half of an exchange */
    show("itself", MPI_Sendrecv(data, 4, MPI_INT, rank, 3, got, 4, MPI_INT, rank, 3, MPI_COMM_WORLD, &s), &s);
    show("replace", MPI_Sendrecv_replace(data, 1, MPI_INT, next, 3, before, 3, MPI_COMM_WORLD, &s), &s);
    if (rank == 0)
        show("go", MPI_Sendrecv(data, 0, MPI_INT, 1, 8, got, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &s), &s);
    else if (rank == 1) {
        MPI_Recv(got, 0, MPI_INT, 0, 8, MPI_COMM_WORLD, &s);
        MPI_Rsend(data, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
