/* SPDX-License-Identifier: MIT
 *
 * Cases of blocking.c: point to point. */
#ifndef BLOCKING_MESSAGES_H
#define BLOCKING_MESSAGES_H

#include "case.h"

static void send_late(int number)
{
    EACH_OTHER(r)
        MPI_Send(&number, 1, MPI_INT, r, 7, MPI_COMM_WORLD);
}

/* The others receive a small message; with RECEIVE as the statement that does it. */
#define RECEIVES(name, ...) \
    static void name(enum phase phase) \
    { \
        if (phase == PREPARE) \
            value = -1; \
        else if (phase == FINISH) { \
            if (rank != LATE) \
                CHECK(value == 42); \
        } else if (rank == LATE) \
            send_late(42); \
        else { \
            __VA_ARGS__; \
        } \
    }
#define POST(request) MPI_Irecv(&value, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD, request)

RECEIVES(recv_, MPI_Recv(&value, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
RECEIVES(recv_any, MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
RECEIVES(wait_, POST(requests); MPI_Wait(requests, MPI_STATUS_IGNORE))
RECEIVES(waitall, POST(requests); requests[1] = MPI_REQUEST_NULL; MPI_Waitall(2, requests, statuses))
RECEIVES(waitany, int index = -1; POST(requests + 1); requests[0] = MPI_REQUEST_NULL;
         MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE); CHECK(index == 1))
RECEIVES(waitsome, int count = 0, indices[2]; POST(requests + 1); requests[0] = MPI_REQUEST_NULL;
         MPI_Waitsome(2, requests, &count, indices, statuses); CHECK(count == 1 && indices[0] == 1))
RECEIVES(probe, MPI_Probe(LATE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         MPI_Recv(&value, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
RECEIVES(probe_any, MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         MPI_Recv(&value, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
RECEIVES(mprobe, MPI_Mprobe(LATE, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
         MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE))
RECEIVES(recv_init, MPI_Recv_init(&value, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD, requests); MPI_Start(requests);
         MPI_Wait(requests, MPI_STATUS_IGNORE); MPI_Request_free(requests))
RECEIVES(startall, MPI_Recv_init(&value, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD, requests); MPI_Startall(1, requests);
         MPI_Waitall(1, requests, statuses); MPI_Request_free(requests))

static void sendrecv(enum phase phase)
{
    if (phase == PREPARE)
        value = -1;
    else if (phase == FINISH)
        CHECK(value == (rank == LATE ? ranks - 1 - (ranks - 1 == LATE) : LATE));
    else if (rank == LATE) {
        EACH_OTHER(r)
            MPI_Sendrecv(&rank, 1, MPI_INT, r, 7, &value, 1, MPI_INT, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else
        MPI_Sendrecv(&rank, 1, MPI_INT, LATE, 7, &value, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static void isendrecv(enum phase phase)
{
    if (phase == ACT && rank != LATE) {
        MPI_Isendrecv(&rank, 1, MPI_INT, LATE, 7, &value, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    } else
        sendrecv(phase);
}
#endif

#define REPLACES(name, ...) \
    static void name(enum phase phase) \
    { \
        if (phase == PREPARE) \
            value = rank; \
        else if (phase == FINISH) { \
            if (rank != LATE) \
                CHECK(value == LATE); \
        } else if (rank == LATE) { \
            EACH_OTHER(r) { \
                value = LATE; \
                MPI_Sendrecv_replace(&value, 1, MPI_INT, r, 7, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); \
            } \
        } else { \
            __VA_ARGS__; \
        } \
    }
REPLACES(sendrecv_replace,
         MPI_Sendrecv_replace(&value, 1, MPI_INT, LATE, 7, LATE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
#if MPI_VERSION >= 4
REPLACES(isendrecv_replace, MPI_Isendrecv_replace(&value, 1, MPI_INT, LATE, 7, LATE, 7, MPI_COMM_WORLD, requests);
         MPI_Wait(requests, MPI_STATUS_IGNORE))
#endif

/* The others send; LATE receives `count` ints from each. Sends that need the receiver: synchronous, or large. */
static void receive_each(int count)
{
    EACH_OTHER(r) {
        MPI_Recv(sink, count, MPI_INT, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(sink[0] == r && sink[count - 1] == r + count - 1);
    }
}

#define SENDS(name, count, ...) \
    static void name(enum phase phase) \
    { \
        if (phase == PREPARE) \
            clear(); \
        else if (phase == FINISH) \
            ; \
        else if (rank == LATE) \
            receive_each(count); \
        else { \
            __VA_ARGS__; \
        } \
    }
#define START(call) (call, MPI_Start(requests), MPI_Wait(requests, MPI_STATUS_IGNORE), MPI_Request_free(requests))
#define BIG_TO_LATE big, BIG, MPI_INT, LATE, 7, MPI_COMM_WORLD
#define ONE_TO_LATE big, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD

SENDS(send_, BIG, MPI_Send(BIG_TO_LATE))
SENDS(ssend, 1, MPI_Ssend(ONE_TO_LATE))
SENDS(ssend_big, BIG, MPI_Ssend(BIG_TO_LATE))
SENDS(isend, BIG, WAIT_FOR(MPI_Isend(BIG_TO_LATE, requests)))
SENDS(issend, 1, WAIT_FOR(MPI_Issend(ONE_TO_LATE, requests)))
SENDS(send_init, BIG, START(MPI_Send_init(BIG_TO_LATE, requests)))
SENDS(ssend_init, 1, START(MPI_Ssend_init(ONE_TO_LATE, requests)))

/* LATE takes from MPI_ANY_SOURCE */
static void ssend_to_any(enum phase phase)
{
    if (phase == PREPARE)
        clear();
    else if (phase == ACT && rank == LATE) {
        for (int n = 1; n < ranks; n++)
            MPI_Recv(sink, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (phase == ACT)
        MPI_Ssend(ONE_TO_LATE);
}

static void send_to_posted(enum phase phase)
{
    static int many[MOST_RANKS][BIG];
    if (phase == PREPARE) {
        clear();
        if (rank == LATE)
            for (int r = 0; r < ranks; r++) {
                requests[r] = MPI_REQUEST_NULL;
                if (r != LATE)
                    MPI_Irecv(many[r], BIG, MPI_INT, r % 2 ? r : MPI_ANY_SOURCE, 7 + r, MPI_COMM_WORLD, &requests[r]);
            }
    } else if (phase == ACT && rank == LATE)
        MPI_Waitall(ranks, requests, statuses);
    else if (phase == ACT)
        MPI_Send(big, BIG, MPI_INT, LATE, 7 + rank, MPI_COMM_WORLD);
    else if (rank == LATE)
        EACH_OTHER(r)
            CHECK(many[r][0] == r && many[r][BIG - 1] == r + BIG - 1);
}

/* Ready sends need the receive posted. */
static void ready(enum phase phase, int how)
{
    if (phase == PREPARE || phase == FINISH || rank == LATE)
        send_to_posted(phase);
    else if (how == 0)
        MPI_Rsend(big, BIG, MPI_INT, LATE, 7 + rank, MPI_COMM_WORLD);
    else if (how == 1)
        WAIT_FOR(MPI_Irsend(big, BIG, MPI_INT, LATE, 7 + rank, MPI_COMM_WORLD, requests));
    else
        START(MPI_Rsend_init(big, BIG, MPI_INT, LATE, 7 + rank, MPI_COMM_WORLD, requests));
}
static void rsend(enum phase phase) { ready(phase, 0); }
static void irsend(enum phase phase) { ready(phase, 1); }
static void rsend_init(enum phase phase) { ready(phase, 2); }

/* A buffered send never waits; taking the buffer back and flushing it do. */
enum buffered { BSEND, IBSEND, BSEND_INIT, FLUSH, IFLUSH, OF_COMM, OF_COMM_FLUSH, OF_COMM_IFLUSH };
static void buffered(enum phase phase, enum buffered how)
{
    static char buffer[sizeof big + MPI_BSEND_OVERHEAD];
    if (phase == PREPARE)
        clear();
    else if (phase == ACT && rank == LATE)
        receive_each(BIG);
    else if (phase == ACT) {
        void *taken;
        int size;
#ifdef HAS_FLUSH
        if (how >= OF_COMM)
            MPI_Comm_attach_buffer(MPI_COMM_WORLD, buffer, sizeof buffer);
        else
#endif
            MPI_Buffer_attach(buffer, sizeof buffer);
        if (how == IBSEND)
            WAIT_FOR(MPI_Ibsend(BIG_TO_LATE, requests));
        else if (how == BSEND_INIT)
            START(MPI_Bsend_init(BIG_TO_LATE, requests));
        else
            MPI_Bsend(BIG_TO_LATE);
#ifdef HAS_FLUSH
        if (how == FLUSH)
            MPI_Buffer_flush();
        else if (how == IFLUSH)
            WAIT_FOR(MPI_Buffer_iflush(requests));
        else if (how == OF_COMM_FLUSH)
            MPI_Comm_flush_buffer(MPI_COMM_WORLD);
        else if (how == OF_COMM_IFLUSH)
            WAIT_FOR(MPI_Comm_iflush_buffer(MPI_COMM_WORLD, requests));
        if (how >= OF_COMM)
            MPI_Comm_detach_buffer(MPI_COMM_WORLD, &taken, &size);
        else
#endif
            MPI_Buffer_detach(&taken, &size);
    }
}
static void buffer_detach(enum phase phase) { buffered(phase, BSEND); }
static void ibsend(enum phase phase) { buffered(phase, IBSEND); }
static void bsend_init(enum phase phase) { buffered(phase, BSEND_INIT); }
#ifdef HAS_FLUSH
static void buffer_flush(enum phase phase) { buffered(phase, FLUSH); }
static void buffer_iflush(enum phase phase) { buffered(phase, IFLUSH); }
static void comm_detach_buffer(enum phase phase) { buffered(phase, OF_COMM); }
static void comm_flush_buffer(enum phase phase) { buffered(phase, OF_COMM_FLUSH); }
static void comm_iflush_buffer(enum phase phase) { buffered(phase, OF_COMM_IFLUSH); }
#endif

/* A large message is matched first, and only then sent. */
static void matched(enum phase phase, int immediate)
{
    if (phase == PREPARE) {
        clear();
        if (rank == LATE)
            for (int r = 0; r < ranks; r++) {
                requests[r] = MPI_REQUEST_NULL;
                if (r != LATE)
                    MPI_Isend(big, BIG, MPI_INT, r, 7, MPI_COMM_WORLD, &requests[r]);
            }
        else
            MPI_Mprobe(LATE, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    } else if (phase == ACT && rank == LATE)
        MPI_Waitall(ranks, requests, statuses);
    else if (phase == ACT && immediate)
        WAIT_FOR(MPI_Imrecv(sink, BIG, MPI_INT, &message, requests));
    else if (phase == ACT)
        MPI_Mrecv(sink, BIG, MPI_INT, &message, MPI_STATUS_IGNORE);
    else if (rank != LATE)
        check_sink(LATE);
}
static void mrecv(enum phase phase) { matched(phase, 0); }
static void imrecv(enum phase phase) { matched(phase, 1); }

#if MPI_VERSION >= 4
/* Partitioned communication: the others receive (LATE marks its parts ready late) or send (LATE starts late). */
static void partitioned(enum phase phase, int late_sends, int how)
{
    enum { PARTS = 4, EACH = 64 };
    if (phase == PREPARE) {
        clear();
        for (int r = 0; r < ranks; r++)
            requests[r] = MPI_REQUEST_NULL;
        if (rank != LATE && late_sends)
            MPI_Precv_init(sink, PARTS, EACH, MPI_INT, LATE, 7, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
        else if (rank != LATE)
            MPI_Psend_init(big, PARTS, EACH, MPI_INT, LATE, 7, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
        else
            EACH_OTHER(r) {
                if (late_sends)
                    MPI_Psend_init(big, PARTS, EACH, MPI_INT, r, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[r]);
                else
                    MPI_Precv_init(sink, PARTS, EACH, MPI_INT, r, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[r]);
            }
    } else if (phase == FINISH) {
        for (int r = 0; r < ranks; r++)
            if (requests[r] != MPI_REQUEST_NULL)
                MPI_Request_free(&requests[r]);
        if (late_sends && rank != LATE)
            for (int i = 0; i < PARTS * EACH; i++)
                CHECK(sink[i] == LATE + i);
    } else {
        for (int r = 0; r < ranks; r++) {
            int list[PARTS] = {3, 1, 0, 2};
            if (requests[r] == MPI_REQUEST_NULL)
                continue;
            MPI_Start(&requests[r]);
            if (late_sends != (rank == LATE)) /* receives */
                continue;
            if (how == 0)
                for (int p = 0; p < PARTS; p++)
                    MPI_Pready(p, requests[r]);
            else if (how == 1)
                MPI_Pready_range(0, PARTS - 1, requests[r]);
            else
                MPI_Pready_list(PARTS, list, requests[r]);
        }
        MPI_Waitall(ranks, requests, statuses);
    }
}
static void precv(enum phase phase) { partitioned(phase, 1, 0); }
static void psend(enum phase phase) { partitioned(phase, 0, 0); }
static void pready_range(enum phase phase) { partitioned(phase, 1, 1); }
static void pready_list(enum phase phase) { partitioned(phase, 1, 2); }
#endif

#endif
