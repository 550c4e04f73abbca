/* SPDX-License-Identifier: MIT
 *
 * blocking TABLE SECONDS [CASE...]: the cases of tests/mpi/blocking_calls.txt, or those named. In each, all ranks but
 * one block in a call while that one (LATE) computes a shared loop. When guests have done enough of it, LATE makes what
 * the others wait for, out of the middle of its loop. So a rank that is not called back, or does not listen, returns
 * late.
 *
 * Prints a line for each: the case, what calls the blocked rank back ("rung" or "quantum", from the table), iterations
 * done by guests, microseconds from the event to rank 0's return, the same when nobody computes, "right" or "wrong". A
 * try that met no guest or was later than SECONDS (if rung) is repeated a few times: other jobs of the machine may have
 * been in the way. */
#include "blocking_collectives.h"

#include <fcntl.h>
#include <pthread.h>

enum { N = 1000, ENOUGH = 12, TRIES = 8 };

static int value, more, one = 1, big[BIG], sink[BIG];
static MPI_Request requests[2 * MOST_RANKS];
static MPI_Status statuses[2 * MOST_RANKS];
static MPI_Message message;
static MPI_Comm comm = MPI_COMM_NULL, made = MPI_COMM_NULL;
static MPI_Win win = MPI_WIN_NULL;
static MPI_Group world_group, late_group, others_group;
static MPI_File file = MPI_FILE_NULL;
static char file_name[64];
static int *base; /* of win, BIG ints */

/* --- point to point ------------------------------------------------------------------------------------------- */

static void clear(void)
{
    value = more = -1;
    for (int i = 0; i < BIG; i++) {
        big[i] = rank + i;
        sink[i] = -1;
    }
}

static void check_sink(int from)
{
    for (int i = 0; i < BIG; i += 97)
        CHECK(sink[i] == from + i);
}

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

static void isendrecv(enum phase phase)
{
    if (phase == ACT && rank != LATE) {
        MPI_Isendrecv(&rank, 1, MPI_INT, LATE, 7, &value, 1, MPI_INT, LATE, 7, MPI_COMM_WORLD, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    } else
        sendrecv(phase);
}

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
REPLACES(isendrecv_replace, MPI_Isendrecv_replace(&value, 1, MPI_INT, LATE, 7, LATE, 7, MPI_COMM_WORLD, requests);
         MPI_Wait(requests, MPI_STATUS_IGNORE))

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
#define WAIT_FOR(call) (call, MPI_Wait(requests, MPI_STATUS_IGNORE))
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

/* A buffered send never waits; who takes its buffer back does. */
static void buffered(enum phase phase, int how)
{
    static char buffer[sizeof big + MPI_BSEND_OVERHEAD];
    if (phase == PREPARE)
        clear();
    else if (phase == ACT && rank == LATE)
        receive_each(BIG);
    else if (phase == ACT) {
        void *taken;
        int size;
        MPI_Buffer_attach(buffer, sizeof buffer);
        if (how == 0)
            MPI_Bsend(BIG_TO_LATE);
        else if (how == 1)
            WAIT_FOR(MPI_Ibsend(BIG_TO_LATE, requests));
        else
            START(MPI_Bsend_init(BIG_TO_LATE, requests));
        MPI_Buffer_detach(&taken, &size);
    }
}
static void buffer_detach(enum phase phase) { buffered(phase, 0); }
static void ibsend(enum phase phase) { buffered(phase, 1); }
static void bsend_init(enum phase phase) { buffered(phase, 2); }

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

/* --- one-sided ------------------------------------------------------------------------------------------------ */

static void window_prepare(void)
{
    clear();
    MPI_Win_create(base, BIG * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < BIG; i++)
        base[i] = 1000 * rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fence(enum phase phase)
{
    if (phase == PREPARE) {
        window_prepare();
        MPI_Win_fence(0, win);
    } else if (phase == ACT) {
        if (rank == LATE)
            EACH_OTHER(r)
                MPI_Put(&one, 1, MPI_INT, r, 5, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
    } else {
        if (rank != LATE)
            CHECK(base[5] == 1);
        MPI_Win_free(&win);
    }
}

static void win_start(enum phase phase)
{
    if (phase == PREPARE)
        window_prepare();
    else if (phase == FINISH)
        MPI_Win_free(&win);
    else if (rank == LATE) {
        MPI_Win_post(others_group, 0, win);
        MPI_Win_wait(win);
    } else {
        MPI_Win_start(late_group, 0, win);
        MPI_Win_complete(win);
    }
}

static void win_complete(enum phase phase) /* of operations that need the target */
{
    if (phase == PREPARE) {
        window_prepare();
        if (rank == LATE)
            MPI_Win_post(others_group, 0, win);
        else {
            MPI_Win_start(late_group, 0, win);
            MPI_Accumulate(&one, 1, MPI_INT, LATE, rank, 1, MPI_INT, MPI_SUM, win);
        }
    } else if (phase == ACT) {
        if (rank == LATE)
            MPI_Win_wait(win);
        else
            MPI_Win_complete(win);
    } else {
        if (rank == LATE)
            EACH_OTHER(r)
                CHECK(base[r] == 1000 * LATE + r + 1);
        MPI_Win_free(&win);
    }
}

static void win_wait(enum phase phase)
{
    if (phase == PREPARE)
        window_prepare();
    else if (phase == FINISH)
        MPI_Win_free(&win);
    else if (rank == LATE) {
        MPI_Win_start(others_group, 0, win); /* no MPI_Put: MPICH 4.0.2's is not always there after MPI_Win_wait */
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(late_group, 0, win);
        MPI_Win_wait(win);
    }
}

/* LATE holds a lock on its own window; `all`: the others want a lock on all windows. */
static void lock(enum phase phase, int all)
{
    if (phase == PREPARE) {
        window_prepare();
        if (rank == LATE)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, LATE, 0, win);
    } else if (phase == FINISH) {
        MPI_Win_free(&win);
    } else if (rank == LATE) {
        MPI_Win_unlock(LATE, win);
    } else if (all) {
        MPI_Win_lock_all(0, win);
        MPI_Win_unlock_all(win);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, LATE, 0, win);
        MPI_Win_unlock(LATE, win);
    }
}
static void win_lock(enum phase phase) { lock(phase, 0); }
static void win_lock_all(enum phase phase) { lock(phase, 1); }

/* Operations that need the target, and LATE calls nothing until it is late; then it waits until the others are done. */
static void epoch(enum phase phase, int all)
{
    if (phase == PREPARE) {
        window_prepare();
        if (rank == LATE)
            return;
        if (all)
            MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
        else
            MPI_Win_lock(MPI_LOCK_SHARED, LATE, MPI_MODE_NOCHECK, win);
        value = -1;
    } else if (phase == FINISH)
        MPI_Win_free(&win);
    else if (rank == LATE) {
        EACH_OTHER(r)
            MPI_Recv(&more, 1, MPI_INT, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (all)
        MPI_Win_unlock_all(win);
    else
        MPI_Win_unlock(LATE, win);
}

#define TARGETS(name, all, check, ...) \
    static void name(enum phase phase) \
    { \
        if (phase == ACT && rank != LATE) { \
            __VA_ARGS__; \
        } \
        if (phase == ACT) { \
            if (rank != LATE) { \
                epoch(ACT, all); \
                check; \
                MPI_Send(&one, 1, MPI_INT, LATE, 9, MPI_COMM_WORLD); \
            } else \
                epoch(ACT, all); \
        } else \
            epoch(phase, all); \
    }
#define ADD MPI_Accumulate(&one, 1, MPI_INT, LATE, rank, 1, MPI_INT, MPI_SUM, win)
#define GOT CHECK(value == 1000 * LATE + rank)

TARGETS(win_unlock, 0, , ADD)
TARGETS(win_unlock_all, 1, , ADD)
TARGETS(win_flush, 0, , ADD; MPI_Win_flush(LATE, win))
TARGETS(win_flush_all, 1, , ADD; MPI_Win_flush_all(win))
TARGETS(win_flush_local, 0, GOT,
        MPI_Get_accumulate(NULL, 0, MPI_INT, &value, 1, MPI_INT, LATE, rank, 1, MPI_INT, MPI_NO_OP, win);
        MPI_Win_flush_local(LATE, win))
TARGETS(win_flush_local_all, 1, GOT,
        MPI_Get_accumulate(NULL, 0, MPI_INT, &value, 1, MPI_INT, LATE, rank, 1, MPI_INT, MPI_NO_OP, win);
        MPI_Win_flush_local_all(win))
TARGETS(put_flush, 0, , MPI_Put(&one, 1, MPI_INT, LATE, rank, 1, MPI_INT, win); MPI_Win_flush(LATE, win))
TARGETS(get_flush, 1, GOT, MPI_Get(&value, 1, MPI_INT, LATE, rank, 1, MPI_INT, win); MPI_Win_flush_all(win))
TARGETS(fetch_and_op, 0, GOT, MPI_Fetch_and_op(&one, &value, MPI_INT, LATE, rank, MPI_SUM, win);
        MPI_Win_flush(LATE, win))
TARGETS(compare_and_swap, 0, GOT, more = 1000 * LATE + rank;
        MPI_Compare_and_swap(&one, &more, &value, MPI_INT, LATE, rank, win); MPI_Win_flush(LATE, win))
TARGETS(rput, 0, , MPI_Rput(big, BIG, MPI_INT, LATE, 0, BIG, MPI_INT, win, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE))
TARGETS(rget, 0, GOT, MPI_Rget(&value, 1, MPI_INT, LATE, rank, 1, MPI_INT, win, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE))
TARGETS(raccumulate, 0, , MPI_Raccumulate(big, BIG, MPI_INT, LATE, 0, BIG, MPI_INT, MPI_SUM, win, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE))
TARGETS(rget_accumulate, 0, GOT,
        MPI_Rget_accumulate(NULL, 0, MPI_INT, &value, 1, MPI_INT, LATE, rank, 1, MPI_INT, MPI_NO_OP, win, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE))

#define WINDOWS(name, ...) \
    static void name(enum phase phase) \
    { \
        int *memory = NULL; \
        if (phase == ACT) { \
            __VA_ARGS__; \
            (void) memory; \
        } else if (phase == FINISH) \
            MPI_Win_free(&win); \
    }
#define OF_THE_WORLD sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD
WINDOWS(win_create, MPI_Win_create(&more, sizeof more, OF_THE_WORLD, &win))
WINDOWS(win_allocate, MPI_Win_allocate(sizeof(int), OF_THE_WORLD, &memory, &win))
WINDOWS(win_allocate_shared, MPI_Win_allocate_shared(sizeof(int), OF_THE_WORLD, &memory, &win))
WINDOWS(win_create_dynamic, MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win))

static void win_free(enum phase phase)
{
    if (phase == PREPARE)
        window_prepare();
    else if (phase == ACT)
        MPI_Win_free(&win);
}

static void win_set_info(enum phase phase)
{
    if (phase == PREPARE)
        window_prepare();
    else if (phase == FINISH)
        MPI_Win_free(&win);
    else {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "no_locks", "false");
        MPI_Win_set_info(win, info);
        MPI_Info_free(&info);
    }
}

/* --- communicators -------------------------------------------------------------------------------------------- */

static int sum_over(MPI_Comm over)
{
    int sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, over);
    return sum;
}

/* Makes `made` of all ranks. */
#define MAKES(name, ...) \
    static void name(enum phase phase) \
    { \
        if (phase == PREPARE) \
            made = MPI_COMM_NULL; \
        else if (phase == ACT) { \
            __VA_ARGS__; \
        } else if (made != MPI_COMM_NULL) { \
            CHECK(sum_over(made) == ranks); \
            MPI_Comm_free(&made); \
        } \
    }
static int all_ranks[MOST_RANKS];
static int line[MOST_RANKS]; /* a graph's index[]: one edge each, to the next */
static int edges[MOST_RANKS];

MAKES(comm_dup, MPI_Comm_dup(MPI_COMM_WORLD, &made))
MAKES(comm_dup_with_info, MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made))
MAKES(comm_idup, WAIT_FOR(MPI_Comm_idup(MPI_COMM_WORLD, &made, requests)))
MAKES(comm_idup_with_info, WAIT_FOR(MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made, requests)))
MAKES(comm_split, MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made))
MAKES(comm_split_type, MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made))
MAKES(comm_create, MPI_Comm_create(MPI_COMM_WORLD, world_group, &made))
MAKES(comm_create_group, MPI_Comm_create_group(MPI_COMM_WORLD, world_group, 3, &made))
MAKES(cart_create, int periodic = 1; MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &made))
MAKES(graph_create, MPI_Graph_create(MPI_COMM_WORLD, ranks, line, edges, 0, &made))
MAKES(dist_graph_create, int degree = 1, to = (rank + 1) % ranks;
      MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made))
MAKES(dist_graph_create_adjacent,
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all_ranks, MPI_UNWEIGHTED, ranks, all_ranks, MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &made))
MAKES(comm_create_from_group,
      MPI_Comm_create_from_group(world_group, "blocking", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made))

static void cart_sub(enum phase phase)
{
    int remain = 1, periodic = 0;
    if (phase == PREPARE)
        MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &comm);
    else if (phase == ACT)
        MPI_Cart_sub(comm, &remain, &made);
    else {
        CHECK(sum_over(made) == ranks);
        MPI_Comm_free(&made);
        MPI_Comm_free(&comm);
    }
}

/* Between LATE and the others */
static void intercomm_create(enum phase phase)
{
    if (phase == PREPARE)
        MPI_Comm_split(MPI_COMM_WORLD, rank == LATE, rank, &comm);
    else if (phase == ACT)
        MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, rank == LATE ? 0 : LATE, 3, &made);
    else {
        MPI_Barrier(made);
        MPI_Comm_free(&made);
        MPI_Comm_free(&comm);
    }
}

static void intercomm_create_from_groups(enum phase phase)
{
    if (phase == ACT)
        MPI_Intercomm_create_from_groups(rank == LATE ? late_group : others_group, 0,
                                         rank == LATE ? others_group : late_group, 0, "blocking", MPI_INFO_NULL,
                                         MPI_ERRORS_ARE_FATAL, &made);
    else if (phase == FINISH) {
        MPI_Barrier(made);
        MPI_Comm_free(&made);
    }
}

static void intercomm_merge(enum phase phase)
{
    if (phase == PREPARE) {
        intercomm_create(PREPARE);
        MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, rank == LATE ? 0 : LATE, 3, &made);
        MPI_Comm_free(&comm);
        comm = made;
    } else if (phase == ACT)
        MPI_Intercomm_merge(comm, rank == LATE, &made);
    else {
        CHECK(sum_over(made) == ranks);
        MPI_Comm_free(&made);
        MPI_Comm_free(&comm);
    }
}

/* --- files ---------------------------------------------------------------------------------------------------- */

static void open_file(void)
{
    MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
}

#define AT (MPI_Offset) (rank * sizeof(int))
#define FILES(name, prepare, ...) \
    static void name(enum phase phase) \
    { \
        if (phase == PREPARE) { \
            int hundred = 100 + rank; \
            open_file(); \
            MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); \
            MPI_File_write_at_all(file, rank, &hundred, 1, MPI_INT, MPI_STATUS_IGNORE); \
            value = -1; \
            prepare; \
            MPI_Barrier(MPI_COMM_WORLD); \
        } else if (phase == ACT) { \
            __VA_ARGS__; \
        } else \
            MPI_File_close(&file); \
    }
#define READ CHECK(value == 100 + rank)
#define WROTE \
    do { \
        MPI_File_read_at_all(file, rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE); \
        CHECK(value == rank); \
    } while (0)
#define MINE MPI_File_seek(file, rank, MPI_SEEK_SET)
#define AT_MINE file, rank
#define ONE_OUT &rank, 1, MPI_INT
#define ONE_IN &value, 1, MPI_INT
#define STATUS MPI_STATUS_IGNORE

FILES(read_all, MINE, MPI_File_read_all(file, ONE_IN, STATUS); READ)
FILES(read_at_all, , MPI_File_read_at_all(AT_MINE, ONE_IN, STATUS); READ)
FILES(write_all, MINE, MPI_File_write_all(file, ONE_OUT, STATUS))
FILES(write_at_all, , MPI_File_write_at_all(AT_MINE, ONE_OUT, STATUS))
FILES(read_all_begin, MINE, MPI_File_read_all_begin(file, ONE_IN); MPI_File_read_all_end(file, &value, STATUS); READ)
FILES(read_at_all_begin, , MPI_File_read_at_all_begin(AT_MINE, ONE_IN); MPI_File_read_at_all_end(file, &value, STATUS);
      READ)
FILES(write_all_begin, MINE, MPI_File_write_all_begin(file, ONE_OUT); MPI_File_write_all_end(file, &rank, STATUS))
FILES(write_at_all_begin, , MPI_File_write_at_all_begin(AT_MINE, ONE_OUT);
      MPI_File_write_at_all_end(file, &rank, STATUS))
FILES(read_ordered, , MPI_File_read_ordered(file, ONE_IN, STATUS); READ)
FILES(write_ordered, , MPI_File_write_ordered(file, ONE_OUT, STATUS))
FILES(read_ordered_begin, , MPI_File_read_ordered_begin(file, ONE_IN); MPI_File_read_ordered_end(file, &value, STATUS);
      READ)
FILES(write_ordered_begin, , MPI_File_write_ordered_begin(file, ONE_OUT);
      MPI_File_write_ordered_end(file, &rank, STATUS))
FILES(iread_all, MINE, WAIT_FOR(MPI_File_iread_all(file, ONE_IN, requests)); READ)
FILES(iread_at_all, , WAIT_FOR(MPI_File_iread_at_all(AT_MINE, ONE_IN, requests)); READ)
FILES(iwrite_all, MINE, WAIT_FOR(MPI_File_iwrite_all(file, ONE_OUT, requests)))
FILES(iwrite_at_all, , WAIT_FOR(MPI_File_iwrite_at_all(AT_MINE, ONE_OUT, requests)))
FILES(iwrite_waitall, , MPI_File_iwrite_at_all(AT_MINE, ONE_OUT, requests); MPI_Waitall(1, requests, statuses))
FILES(iwrite_waitany, , int index; MPI_File_iwrite_at_all(AT_MINE, ONE_OUT, requests);
      MPI_Waitany(1, requests, &index, STATUS))
FILES(file_set_view, , MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL))
FILES(file_set_size, , MPI_File_set_size(file, 4096))
FILES(file_preallocate, , MPI_File_preallocate(file, 4096))
FILES(file_sync, , MPI_File_sync(file))
FILES(file_seek_shared, , MPI_File_seek_shared(file, 0, MPI_SEEK_SET))
FILES(file_set_atomicity, , MPI_File_set_atomicity(file, 1))
FILES(file_set_info, , MPI_File_set_info(file, MPI_INFO_NULL))

static void file_open(enum phase phase)
{
    if (phase == ACT)
        open_file();
    else if (phase == FINISH)
        MPI_File_close(&file);
}

static void file_close(enum phase phase)
{
    if (phase == PREPARE)
        open_file();
    else if (phase == ACT)
        MPI_File_close(&file);
}

/* --- another thread of the same process makes the event (the table's "self"; MPI_THREAD_MULTIPLE) ------------- */

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

/* --- the table ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    Case *run;
} cases[] = {
#define NAMED(name) {#name, name}
    {"recv", recv_},
    {"wait", wait_},
    {"send", send_},
    NAMED(recv_any),
    NAMED(waitall),
    NAMED(waitany),
    NAMED(waitsome),
    NAMED(probe),
    NAMED(probe_any),
    NAMED(mprobe),
    NAMED(recv_init),
    NAMED(startall),
    NAMED(sendrecv),
    NAMED(isendrecv),
    NAMED(sendrecv_replace),
    NAMED(isendrecv_replace),
    NAMED(ssend),
    NAMED(ssend_big),
    NAMED(ssend_to_any),
    NAMED(isend),
    NAMED(issend),
    NAMED(send_init),
    NAMED(ssend_init),
    NAMED(send_to_posted),
    NAMED(rsend),
    NAMED(irsend),
    NAMED(rsend_init),
    NAMED(buffer_detach),
    NAMED(ibsend),
    NAMED(bsend_init),
    NAMED(mrecv),
    NAMED(imrecv),
    NAMED(precv),
    NAMED(psend),
    NAMED(pready_range),
    NAMED(pready_list),
    NAMED(fence),
    NAMED(win_start),
    NAMED(win_complete),
    NAMED(win_wait),
    NAMED(win_lock),
    NAMED(win_lock_all),
    NAMED(win_unlock),
    NAMED(win_unlock_all),
    NAMED(win_flush),
    NAMED(win_flush_all),
    NAMED(win_flush_local),
    NAMED(win_flush_local_all),
    NAMED(put_flush),
    NAMED(get_flush),
    NAMED(fetch_and_op),
    NAMED(compare_and_swap),
    NAMED(rput),
    NAMED(rget),
    NAMED(raccumulate),
    NAMED(rget_accumulate),
    NAMED(win_create),
    NAMED(win_allocate),
    NAMED(win_allocate_shared),
    NAMED(win_create_dynamic),
    NAMED(win_free),
    NAMED(win_set_info),
    NAMED(comm_dup),
    NAMED(comm_dup_with_info),
    NAMED(comm_idup),
    NAMED(comm_idup_with_info),
    NAMED(comm_split),
    NAMED(comm_split_type),
    NAMED(comm_create),
    NAMED(comm_create_group),
    NAMED(comm_create_from_group),
    NAMED(cart_create),
    NAMED(cart_sub),
    NAMED(graph_create),
    NAMED(dist_graph_create),
    NAMED(dist_graph_create_adjacent),
    NAMED(intercomm_create),
    NAMED(intercomm_create_from_groups),
    NAMED(intercomm_merge),
    NAMED(file_open),
    NAMED(file_close),
    NAMED(read_all),
    NAMED(read_at_all),
    NAMED(write_all),
    NAMED(write_at_all),
    NAMED(read_all_begin),
    NAMED(read_at_all_begin),
    NAMED(write_all_begin),
    NAMED(write_at_all_begin),
    NAMED(read_ordered),
    NAMED(write_ordered),
    NAMED(read_ordered_begin),
    NAMED(write_ordered_begin),
    NAMED(iread_all),
    NAMED(iread_at_all),
    NAMED(iwrite_all),
    NAMED(iwrite_at_all),
    NAMED(iwrite_waitall),
    NAMED(iwrite_waitany),
    NAMED(file_set_view),
    NAMED(file_set_size),
    NAMED(file_preallocate),
    NAMED(file_sync),
    NAMED(file_seek_shared),
    NAMED(file_set_atomicity),
    NAMED(file_set_info),
    NAMED(probe_self),
    NAMED(mprobe_self),
    NAMED(grequest),
};

/* LATE's loop. Its own thread makes the event when guests are surely at work and have enough left. */
static double compute(Case *run, int *guest_iterations)
{
    static volatile int guests, over;
    double event = 0, deadline = now() + 2;
    guests = over = 0;
    do { /* a busy machine may let a first loop pass without help */
#pragma ws for
        for (int i = 0; i < N; i++) {
            busy(5e-6);
            if (on_guest())
                __atomic_fetch_add(&guests, 1, __ATOMIC_RELAXED);
            else if (!over && guests > ENOUGH) {
                over = 1;
                event = now();
                run(ACT);
            }
        }
    } while (!over && now() < deadline);
    *guest_iterations = guests;
    if (!over) {
        event = now();
        run(ACT);
    }
    return event;
}

static double usable; /* seconds that a rung call may be late */

static void one_case(const char *title, Case *run, const char *wake)
{
    double late = 0, plain = 0, best = 1e9;
    int guests = 0, met = 0, wrong = failures, again = 1;
    for (int t = 0; again && t < TRIES; t++) {
        run(PREPARE);
        MPI_Barrier(MPI_COMM_WORLD);
        plain = now();
        run(ACT);
        plain = now() - plain;
        run(FINISH);

        double event, returned = 0;
        run(PREPARE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == LATE)
            event = compute(run, &guests);
        else {
            run(ACT);
            returned = now();
        }
        run(FINISH);
        MPI_Bcast(&event, 1, MPI_DOUBLE, LATE, MPI_COMM_WORLD);
        MPI_Bcast(&guests, 1, MPI_INT, LATE, MPI_COMM_WORLD);
        late = returned - event;
        if (rank == 0 && guests > ENOUGH) {
            met = met > guests ? met : guests;
            best = late - plain < best ? late - plain : best;
            again = !strcmp(wake, "rung") && best > usable;
        }
        MPI_Bcast(&again, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    wrong = failures - wrong;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s %s %d %.1f %.1f %s\n", title, wake, met, 1e6 * best, 1e6 * plain, wrong ? "wrong" : "right");
        fflush(stdout);
    }
}

static MPI_T_cvar_handle algorithm_handle(const char *variable, char *about, int size)
{
    char name[160];
    int index, length = size, count, verbosity, binding, scope;
    MPI_Datatype type;
    MPI_T_enum values;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    snprintf(name, sizeof name, "MPIR_CVAR_%s_ALGORITHM", variable);
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return MPI_T_CVAR_HANDLE_NULL;
    int none = 0;
    MPI_T_cvar_get_info(index, NULL, &none, &verbosity, &type, &values, about, &length, &binding, &scope);
    return handle;
}

/* `algorithms`: all of a variable's values, in MPICH's order; its own description must know them and no others. */
static void with_algorithms(const char *title, Case *run, const char *wake, const char *variable,
                            const char *algorithms)
{
    static char about[4096];
    MPI_T_cvar_handle handle = algorithm_handle(variable, about, sizeof about);
    if (handle == MPI_T_CVAR_HANDLE_NULL) {
        if (rank == 0)
            printf("%s: MPICH has no variable MPIR_CVAR_%s_ALGORITHM\n", title, variable);
        failures++;
        return;
    }
    int number = 0, described = 0;
    const char *at = about;
    for (const char *p = strstr(about, " - "); p; p = strstr(p + 1, " - "))
        described++;
    char list[1024], *rest;
    snprintf(list, sizeof list, "%s", algorithms);
    for (char *name = strtok_r(list, " \n", &rest); name; name = strtok_r(NULL, " \n", &rest)) {
        char one_title[256];
        int usable_at_all = *name != '!' && (*name != '2' || (ranks & (ranks - 1)) == 0);
        name += *name == '!' || *name == '2';
        const char *found = strstr(at, name);
        if (!found) {
            if (rank == 0)
                printf("%s: MPIR_CVAR_%s_ALGORITHM does not know %s\n", title, variable, name);
            failures++;
        } else
            at = found + strlen(name);
        snprintf(one_title, sizeof one_title, "%s/%s", title, name);
        if (usable_at_all) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_T_cvar_write(handle, &number);
            MPI_Barrier(MPI_COMM_WORLD);
            one_case(one_title, run, wake);
        }
        number++;
    }
    CHECK(number == described);
    number = 0; /* auto */
    MPI_T_cvar_write(handle, &number);
    MPI_T_cvar_handle_free(&handle);
}

static char *algorithms_of(char *variables, const char *variable)
{
    size_t length = strlen(variable);
    for (char *p = variables; p; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (!strncmp(p, variable, length) && p[length] == ' ')
            return strndup(p + length, strcspn(p + length, "\n"));
    }
    return NULL;
}

static int chosen(int argc, char **argv, const char *name)
{
    int any = argc <= 3;
    for (int i = 3; i < argc; i++)
        any |= !strcmp(argv[i], name);
    return any;
}

int main(int argc, char **argv)
{
    int provided;
    if (getenv("BLOCKING_THREADS"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    usable = atof(argv[2]);
    int late = LATE, size;
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    MPI_Group_incl(world_group, 1, &late, &late_group);
    MPI_Group_excl(world_group, 1, &late, &others_group);
    base = malloc(BIG * sizeof *base);
    for (int r = 0; r < ranks; r++) {
        all_ranks[r] = r;
        line[r] = r + 1;
        edges[r] = (r + 1) % ranks;
    }
    snprintf(file_name, sizeof file_name, "/tmp/blocking.%d", (int) getpid());
    MPI_Bcast(file_name, sizeof file_name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Win shared;
    MPI_Aint bytes;
    MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &signalled,
                            &shared);
    MPI_Win_shared_query(shared, 0, &bytes, &size, &signalled);
    if (rank == 0)
        *signalled = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    collectives_begin();

    static char table[1 << 16];
    FILE *f = fopen(argv[1], "r");
    table[fread(table, 1, sizeof table - 1, f)] = 0;
    fclose(f);
    char *variables = strstr(table, "\n[algorithms]"), *rest;
    if (variables)
        *variables++ = 0;
    char *waits = strstr(table, getenv("BLOCKING_THREADS") ? "\n[threads]\n" : "\n[waits]\n") + 1,
         *end_of_waits = strstr(waits, "\n[");
    waits = strchr(waits, '\n');
    if (end_of_waits)
        *end_of_waits = 0;
    for (char *l = strtok_r(waits, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest)) {
        char *words, variable[128];
        l[strcspn(l, "#")] = 0;
        char *call = strtok_r(l, " ", &words), *wake = call ? strtok_r(NULL, " ", &words) : NULL;
        for (char *name = wake ? strtok_r(NULL, " ", &words) : NULL; name; name = strtok_r(NULL, " ", &words)) {
            if (!chosen(argc, argv, name))
                continue;
            Case *run = find_collective(name, variable, sizeof variable);
            if (run) {
                char *algorithms = algorithms_of(variables, variable);
                if (algorithms)
                    with_algorithms(name, run, wake, variable, algorithms);
                else
                    one_case(name, run, wake);
                free(algorithms);
                continue;
            }
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                if (!strcmp(cases[i].name, name))
                    run = cases[i].run;
            if (run)
                one_case(name, run, wake);
            else if (strcmp(name, "-"))
                printf("no case is named %s\n", name);
        }
    }

    collectives_end();
    MPI_Win_free(&shared);
    MPI_Group_free(&world_group);
    MPI_Group_free(&late_group);
    MPI_Group_free(&others_group);
    MPI_T_finalize();
    return end();
}
