/* SPDX-License-Identifier: MIT
 *
 * Errors, and who hears of them. */
#include "same.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int handled;
static void handler(MPI_Comm *comm, int *error, ...)
{
    (void) comm, (void) error;
    handled++;
}
static int handled_world;
static void world_handler(MPI_Comm *comm, int *error, ...)
{
    (void) comm, (void) error;
    handled_world++;
}

void show(const char *what, int error, MPI_Status *s)
{
    int count = -1, cancelled = -1;
    if (s) {
        MPI_Get_count(s, MPI_INT, &count);
        MPI_Test_cancelled(s, &cancelled);
    }
    tell("%s: class %d, handled %d + %d; source %d, tag %d, count %d, cancelled %d", what, class_of(error), handled,
         handled_world, s ? s->MPI_SOURCE : 0, s ? s->MPI_TAG : 0, count, cancelled);
    handled = handled_world = 0;
}

/* Errors come to the handler of the communicator, once. */
void errors(void)
{
    MPI_Comm comm;
    MPI_Errhandler own, of_world;
    MPI_Status s, several[2];
    MPI_Request r[2];
    int data[8] = {0}, got[8], other = (rank + 1) % 2, index;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_create_errhandler(world_handler, &of_world);
    MPI_Comm_set_errhandler(comm, own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_world);
    int n;
    MPI_Comm_size(comm, &n);
    if (n == 2)
        for (int turn = 0; turn < 2; turn++) {
            memset(&s, 0, sizeof s);
            MPI_Isend(data, 4, MPI_INT, other, 1, comm, &r[0]);
            show("recv", MPI_Recv(got, 2, MPI_INT, other, 1, comm, &s), NULL);
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
            MPI_Barrier(comm);
            MPI_Irecv(got, 2, MPI_INT, other, 2, comm, &r[1]);
            MPI_Isend(data, 4, MPI_INT, other, 2, comm, &r[0]);
            late(turn);
            show("wait", MPI_Wait(&r[1], &s), NULL);
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
            MPI_Barrier(comm);
            MPI_Irecv(got, 2, MPI_INT, other, 3, comm, &r[1]);
            MPI_Isend(data, 4, MPI_INT, other, 3, comm, &r[0]);
            int error = MPI_Waitall(2, r, several);
            show("waitall", error, NULL);
            if (class_of(error) == MPI_ERR_IN_STATUS)
                tell("in status %d %d", class_of(several[0].MPI_ERROR), class_of(several[1].MPI_ERROR));
            MPI_Barrier(comm);
            MPI_Irecv(got, 2, MPI_INT, other, 4, comm, &r[1]);
            MPI_Send(data, 4, MPI_INT, other, 4, comm);
            r[0] = MPI_REQUEST_NULL;
            show("waitany", MPI_Waitany(2, r, &index, &s), NULL);
            tell("index %d", index);
            MPI_Barrier(comm);
            show("sendrecv", MPI_Sendrecv(data, 4, MPI_INT, other, 5, got, 2, MPI_INT, other, 5, comm, &s), NULL);
            MPI_Barrier(comm);
        }
    show("send to nobody", MPI_Send(data, 1, MPI_INT, 99, 1, comm), NULL);
    show("send with a tag", MPI_Send(data, 1, MPI_INT, 0, -5, comm), NULL);
    show("send of less than nothing", MPI_Send(data, -1, MPI_INT, 0, 5, comm), NULL);
    show("receive from nobody", MPI_Recv(data, 1, MPI_INT, 99, 1, comm, &s), NULL);
    show("exchange with nobody", MPI_Sendrecv(data, 1, MPI_INT, 99, 5, got, 2, MPI_INT, 0, 5, comm, &s), NULL);
    show("exchange of less than nothing", MPI_Sendrecv(data, -1, MPI_INT, 0, 5, got, 2, MPI_INT, 0, 5, comm, &s), NULL);
    show("null", MPI_Barrier(MPI_COMM_NULL), NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&own);
    MPI_Errhandler_free(&of_world);
    MPI_Comm_free(&comm);
}

/* Two messages, the first one too long, reach rank 0 of `comm` before it completes its receives, or while it does. */
enum { ALL_EARLY, ALL_LATE, SECOND_LATE, FIRST_LATE, TIMES };
enum { LONG = 1 << 18, KEPT = 12345 };

static void sends_late(MPI_Comm comm, int *data, int count, int messages, int when)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int token = 0;
    MPI_Barrier(comm);
    for (int early = 1; early >= 0; early--) {
        if (!early) {
            MPI_Send(&token, 1, MPI_INT, 0, 8, comm);
            MPI_Recv(&token, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE);
            usleep(15000);
        }
        for (int i = 0; i < messages; i++)
            if (early == (when == ALL_EARLY || (when == SECOND_LATE && i == 0) || (when == FIRST_LATE && i == 1))) {
                MPI_Isend(data, count, MPI_INT, 0, i, comm, &r[i]);
                if (!early)
                    usleep(15000);
            }
    }
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

/* Lets what has been sent arrive, and has the rest sent. */
static void starts_late(MPI_Comm comm, int when)
{
    int flag, token;
    MPI_Recv(&token, 1, MPI_INT, 1, 8, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20 && when != ALL_LATE; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
        usleep(500);
    }
    MPI_Send(&token, 1, MPI_INT, 1, 9, comm);
}

static int completes_by(const char *by, MPI_Request *r, MPI_Status *s, int *n, int *indices)
{
    int error = MPI_SUCCESS, over = 0;
    *n = 1;
    indices[0] = 0;
    if (!strcmp(by, "wait"))
        return MPI_Wait(&r[0], &s[0]);
    if (!strcmp(by, "waitany"))
        return MPI_Waitany(2, r, &indices[0], &s[0]);
    if (!strcmp(by, "waitsome"))
        return MPI_Waitsome(2, r, n, indices, s);
    *n = strcmp(by, "test") ? 2 : 1;
    indices[1] = 1;
    if (!strcmp(by, "waitall"))
        return MPI_Waitall(2, r, s);
    if (!strcmp(by, "waitall ignoring"))
        return MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    while (!over && error == MPI_SUCCESS)
        error = strcmp(by, "test") ? MPI_Testall(2, r, &over, s) : MPI_Test(&r[0], &over, &s[0]);
    return error;
}

static void receives_late(MPI_Comm comm, const char *by, int is_persistent, int count, int messages, int when,
                          int handles)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[2];
    int *got[2], indices[2], n;
    char what[80], text[300] = "";
    snprintf(what, sizeof what, "%s%s %d %d %d", by, is_persistent ? " persistent" : "", count, when, handles);
    memset(s, 0, sizeof s);
    for (int i = 0; i < messages; i++) {
        const int room = i == 0 ? count / 2 : count;
        s[i].MPI_ERROR = KEPT;
        got[i] = calloc((size_t) count, sizeof(int));
        (is_persistent ? MPI_Recv_init : MPI_Irecv)(got[i], room, MPI_INT, 1, i, comm, &r[i]);
    }
    if (is_persistent)
        MPI_Startall(messages, r);
    MPI_Barrier(comm);
    starts_late(comm, when);
    show(what, completes_by(by, r, s, &n, indices), NULL);
    for (int i = 0; i < n; i++) {
        const int j = indices[i] == MPI_UNDEFINED ? 0 : indices[i], had = s[i].MPI_ERROR;
        char one[80];
        if (j == 1 && when == ALL_LATE && !strcmp(by, "waitsome"))
            continue; /* whether it has come, too, depends on the load */
        snprintf(one, sizeof one, " [%d: error %d, %s, last %d]", j, had == KEPT ? KEPT : class_of(had),
                 r[j] == MPI_REQUEST_NULL ? "null" : "there", j == 1 ? got[1][count - 1] : 0);
        strcat(text, one);
    }
    if (!handles || strncmp(by, "waitall", 7))
        tell("%s:%s", what, text);
    for (int i = 0; i < messages; i++) {
        while (r[i] != MPI_REQUEST_NULL && !is_persistent)
            MPI_Wait(&r[i], &s[i]);
        if (r[i] != MPI_REQUEST_NULL) {
            MPI_Wait(&r[i], &s[i]);
            MPI_Request_free(&r[i]);
        }
        free(got[i]);
    }
    handled = handled_world = 0;
}

/* The same for calls that receive one message without a request; an exchange sends to this rank itself. */
static void receives_at_once(MPI_Comm comm, const char *by, int count, int when, int handles)
{
    int *got = calloc((size_t) count, sizeof *got), token = 0, error;
    MPI_Message message;
    MPI_Request r;
    char what[80];
    snprintf(what, sizeof what, "%s %d %d %d", by, count, when, handles);
    MPI_Irecv(&token, 1, MPI_INT, 0, 7, comm, &r);
    MPI_Barrier(comm);
    starts_late(comm, when);
    if (!strcmp(by, "sendrecv"))
        error = MPI_Sendrecv(&count, 1, MPI_INT, 0, 7, got, count / 2, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
    else {
        MPI_Send(&count, 1, MPI_INT, 0, 7, comm);
        if (!strcmp(by, "probe"))
            MPI_Probe(1, 0, comm, MPI_STATUS_IGNORE);
        if (!strcmp(by, "mrecv")) {
            MPI_Mprobe(1, 0, comm, &message, MPI_STATUS_IGNORE);
            error = MPI_Mrecv(got, count / 2, MPI_INT, &message, MPI_STATUS_IGNORE);
        } else
            error = MPI_Recv(got, count / 2, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
    }
    show(what, error, NULL);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    free(got);
}

/* Truncated messages: the error, the statuses, and whose handler is called. If the program has handlers, the requests
 * that MPI_Waitall leaves behind under MPICH are others than without Workshare. */
void late_errors(void)
{
    static const char *const ways[] = {"wait", "waitany", "waitsome", "waitall", "waitall ignoring", "test", "testall"};
    static const char *const at_once[] = {"recv", "probe", "mrecv", "sendrecv"};
    MPI_Comm comm;
    MPI_Errhandler own, of_world;
    int *data = calloc(LONG, sizeof *data), own_rank;
    for (int i = 0; i < LONG; i++)
        data[i] = 5;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm);
    MPI_Comm_rank(comm, &own_rank);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int handles = 0; handles < 2; handles++) {
        if (handles) {
            MPI_Comm_create_errhandler(handler, &own);
            MPI_Comm_create_errhandler(world_handler, &of_world);
            MPI_Comm_set_errhandler(comm, own);
            MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_world);
        }
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
            for (int c = 0; c < 4 * TIMES; c++) {
                const int when = c / 4, persistent = c / 2 % 2, count = c % 2 ? LONG : 4;
                const int messages = strcmp(ways[way], "wait") && strcmp(ways[way], "test") ? 2 : 1;
                if (messages == 1 && when > ALL_LATE)
                    continue;
#ifdef OPEN_MPI
                /* Alone, MPI_Waitany frees a persistent request that has failed, and MPI_Waitall one that fails in
                 * it. */
                if (persistent && (!strcmp(ways[way], "waitany") ||
                                   (when != ALL_EARLY && !strncmp(ways[way], "waitall", 7))))
                    continue;
                /* MPI_Waitall alone returns when one request has failed, with Workshare when all are complete. */
                if (!strncmp(ways[way], "waitall", 7) && (when == ALL_LATE || when == SECOND_LATE))
                    continue;
#endif
                if (own_rank == 1)
                    sends_late(comm, data, count, messages, when);
                else
                    receives_late(comm, ways[way], persistent, count, messages, when, handles);
            }
        for (int c = 0; c < 16; c++) {
            const int when = c / 2 % 2, count = c % 2 ? LONG : 4;
            if (own_rank == 1)
                sends_late(comm, data, count, 1, when);
            else
                receives_at_once(comm, at_once[c / 4], count, when, handles);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&own);
    MPI_Errhandler_free(&of_world);
    MPI_Comm_free(&comm);
    free(data);
}

static jmp_buf before_error;
static void jumps(MPI_Comm *comm, int *error, ...)
{
    (void) comm, (void) error;
    longjmp(before_error, 1);
}
static __attribute__((noinline)) int deeper(int depth, MPI_Comm comm)
{
    volatile char room[4096];
    room[0] = (char) depth;
    int out = 0;
    if (depth)
        return deeper(depth - 1, comm) + room[0] - depth;
    for (int turn = 0; turn < 4; turn++) {
        late(turn);
        MPI_Allreduce(&turn, &out, 1, MPI_INT, MPI_SUM, comm);
        MPI_Comm copy;
        MPI_Comm_dup(comm, &copy);
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
    }
    return out;
}

/* An error handler that does not return leaves a call of MPI that never ends. */
void jump(void)
{
    MPI_Comm comm;
    MPI_Errhandler h;
    int data = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(jumps, &h);
    MPI_Comm_set_errhandler(comm, h);
    MPI_Errhandler_free(&h);
    if (rank == 0 && !setjmp(before_error)) {
        MPI_Send(&data, 1, MPI_INT, 99, 1, comm);
        tell("returned");
    }
    tell("%d", deeper(3, MPI_COMM_WORLD));
}
