/* SPDX-License-Identifier: MIT
 *
 * Cases of blocking.c: one-sided communication. */
#ifndef BLOCKING_WINDOWS_H
#define BLOCKING_WINDOWS_H

#include "case.h"

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

/* Not in MPICH 5 on UCX, as it is built by default. */
static int mpi_shares_memory;

#define WINDOWS(name, ...) \
    static void name(enum phase phase) \
    { \
        int *memory = NULL; \
        if (phase == ACT) { \
            __VA_ARGS__; \
            (void) memory; \
        } else if (phase == FINISH && win != MPI_WIN_NULL) \
            MPI_Win_free(&win); \
    }
#define OF_THE_WORLD sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD
WINDOWS(win_create, MPI_Win_create(&more, sizeof more, OF_THE_WORLD, &win))
WINDOWS(win_allocate, MPI_Win_allocate(sizeof(int), OF_THE_WORLD, &memory, &win))
WINDOWS(win_allocate_shared, if (mpi_shares_memory) MPI_Win_allocate_shared(sizeof(int), OF_THE_WORLD, &memory, &win))
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

#endif
