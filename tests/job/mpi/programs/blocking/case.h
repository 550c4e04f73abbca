/* SPDX-License-Identifier: MIT
 *
 * What a case of blocking.c is, and what the cases work with. */
#ifndef BLOCKING_CASE_H
#define BLOCKING_CASE_H

#include "../test.h"

/* What the sections "since" of blocking_calls.txt are about */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40200000
#define HAS_FLUSH
#endif
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
#define HAS_ACCEPT
#endif

enum { LATE = 1, MOST_RANKS = 8, BIG = 1 << 18 };

/* A case is one function, called three times on each rank: before the barrier that begins the case, to do its part of
 * the call (LATE does its own later than the others), and to look at the result and clean up. */
enum phase { PREPARE, ACT, FINISH };
typedef void Case(enum phase phase);

#define EACH_OTHER(r) \
    for (int r = 0; r < ranks; r++) \
        if (r != LATE)

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

/* A call that starts, and the wait for it. */
#define WAIT_FOR(call) (call, MPI_Wait(requests, MPI_STATUS_IGNORE))

#endif
