/* SPDX-License-Identifier: MIT
 *
 * What the programs about waits outside of MPI share: a flag in memory of all ranks of the node, and a loop whose
 * iterations count themselves. */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include "test.h"

static volatile int *over; /* the flag */
static MPI_Win window;
static int *counts;

static void share_flag(void)
{
    MPI_Aint size;
    int unit;
    void *base;
    MPI_Win_allocate_shared(rank == 0 ? 4096 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &base);
    over = base;
    if (rank == 0)
        *over = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_loop(long n, double seconds)
{
#pragma ws for schedule(dynamic, 1)
    for (long i = 0; i < n; i++) {
        work_on_cpu(seconds);
        __atomic_fetch_add(&counts[i], 1, __ATOMIC_RELAXED);
    }
}

#endif
