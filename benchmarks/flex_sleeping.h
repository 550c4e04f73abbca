/* SPDX-License-Identifier: MIT
 *
 * Rows of XMPI that cost time in which a process sleeps, so that processes may share cores. For flex_resize and
 * flex_spawn. */
#ifndef WS_FLEX_SLEEPING_H
#define WS_FLEX_SLEEPING_H

#include "bench.h"

#include <workshare/xmpi.h>

enum { WIDTH = 1024 }; /* numbers of a row */
static const double row_s = 20e-6;
static long slow = 1; /* processes with an odd number take N times as long for a row */

static XMPI_Partition rows = XMPI_PARTITION_NULL;
static MPI_Count count, displ;
static double *data;

/* Gives the processes of MPI_COMM_WORLD rows whose numbers are counted from 0. */
static inline void make_rows(long all_rows)
{
    XMPI_Get_wsize(MPI_COMM_WORLD, all_rows, MPI_INFO_NULL, &rows, &count, &displ);
    data = malloc(count ? sizeof *data * (size_t) (count * WIDTH) : 1);
    for (long i = 0; i < count * WIDTH; i++)
        data[i] = (double) (displ * WIDTH + i);
    XMPI_Register(rows, &data, WIDTH, MPI_DOUBLE, XMPI_ROWS);
}

static inline double speed_of(int rank) { return rank % 2 ? 1 / (double) slow : 1; }

/* Sleeps for this process's rows, and ends the iteration that XMPI_Monitor_begin has begun. Returns the seconds of the
 * slowest of the `active` processes, as a part of what they would be if all finished together. */
static inline double sleep_and_end(MPI_Comm comm, int active, long all_rows, int *moved)
{
    int rank;
    double most, power = 0;
    MPI_Comm_rank(comm, &rank);
    const double mine = (double) count * row_s / speed_of(rank);
    const struct timespec sleep = {(time_t) mine, (long) ((mine - (double) (time_t) mine) * 1e9)};
    nanosleep(&sleep, NULL);
    XMPI_Set_work(rows, (double) count);
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    XMPI_Monitor_end(rows, &count, &displ, moved);
    for (int r = 0; r < active; r++)
        power += speed_of(r);
    return most / ((double) all_rows * row_s / power);
}

/* The MB of all processes of `comm` that have come from another one. This one had `had` rows before, from `had_from`
 * on. */
static inline double moved_mb(MPI_Count had, MPI_Count had_from, MPI_Comm comm)
{
    const MPI_Count first = had_from > displ ? had_from : displ,
                    last = had_from + had < displ + count ? had_from + had : displ + count;
    double mb = (double) (count - (last > first ? last - first : 0)) * WIDTH * sizeof *data * 1e-6;
    MPI_Allreduce(MPI_IN_PLACE, &mb, 1, MPI_DOUBLE, MPI_SUM, comm);
    return mb;
}

#endif
