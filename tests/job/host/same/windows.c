/* SPDX-License-Identifier: MIT
 *
 * One-sided calls. */
#include "same.h"

#include <stdlib.h>
#include <string.h>

void windows(void)
{
    MPI_Win win;
    int *memory, got = 0, other = (rank + 1) % ranks;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int turn = 0; turn < 12; turn++) {
        MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        memory[0] = rank + turn;
        MPI_Win_fence(0, win);
        MPI_Get(&got, 1, MPI_INT, other, 0, 1, MPI_INT, win);
        if (turn < 4)
            late(turn);
        MPI_Win_fence(0, win);
        if (turn < 4)
            tell("fence %d", got);
        MPI_Win_post(all, 0, win);
        MPI_Win_start(all, 0, win);
        MPI_Put(&turn, 1, MPI_INT, other, 1, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        if (turn < 4)
            tell("post %d", memory[1]);
        MPI_Win_lock_all(0, win);
        MPI_Fetch_and_op(&rank, &got, MPI_INT, other, 2, MPI_REPLACE, win);
        MPI_Win_flush_all(win);
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    }
    MPI_Group_free(&all);
    tell("over");
}

/* Puts and gets of all kinds, into windows of all kinds. */
void rma(void)
{
    enum { N = 100 };
    MPI_Win win;
    MPI_Request r[3];
    MPI_Aint size;
    int unit, *memory, *mine, one = 1, zero = 0, got, old[4], other = (rank + 1) % ranks, data[4] = {rank, 1, 2, 3};
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &unit);
    MPI_Comm_free(&node);
    tell("%d ranks share memory", unit);
    if (unit == ranks) {
        MPI_Win_allocate_shared(4 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
        memory[0] = 10 + rank;
        MPI_Win_sync(win);
        late(1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(win);
        MPI_Win_shared_query(win, other, &size, &unit, &mine);
        tell("shared %d", mine[0]);
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    }

    int *own = calloc(8, sizeof *own);
    MPI_Aint at, all[64];
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, own, 8 * sizeof *own);
    MPI_Get_address(own, &at);
    MPI_Allgather(&at, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(data, 4, MPI_INT, other, all[other], 4, MPI_INT, win);
    late(0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    tell("dynamic %d %d", own[0], own[3]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, own);
    MPI_Win_free(&win);

    memset(own, 0, 8 * sizeof *own);
    MPI_Win_create(own, 8 * sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < N; i++) { /* a lock made of compare and swap, and what it guards */
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        do {
            MPI_Compare_and_swap(&one, &zero, &got, MPI_INT, 0, 0, win);
            MPI_Win_flush(0, win);
        } while (got);
        MPI_Get(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        got++;
        MPI_Put(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Accumulate(&zero, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_lock_all(0, win);
    MPI_Rput(data, 1, MPI_INT, other, 4, 1, MPI_INT, win, &r[0]);
    MPI_Raccumulate(data, 2, MPI_INT, 0, 5, 2, MPI_INT, MPI_SUM, win, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Win_flush_all(win);
    late(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rget(old, 4, MPI_INT, other, 4, 4, MPI_INT, win, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    tell("requests %d %d %d", old[0], old[1], old[2]);
    MPI_Get_accumulate(data, 1, MPI_INT, old, 1, MPI_INT, other, 7, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(other, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(old, 2, MPI_INT, 0, 0, 2, MPI_INT, win);
    MPI_Win_unlock(0, win);
    tell("counted %d %d", old[0], old[1]);
    MPI_Win_free(&win);
    free(own);
}
