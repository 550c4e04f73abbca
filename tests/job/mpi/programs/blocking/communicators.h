/* SPDX-License-Identifier: MIT
 *
 * Cases of blocking.c: communicators, and what else is made of ranks. */
#ifndef BLOCKING_COMMUNICATORS_H
#define BLOCKING_COMMUNICATORS_H

#include "case.h"

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
#if MPI_VERSION >= 4
MAKES(comm_idup_with_info, WAIT_FOR(MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made, requests)))
MAKES(comm_create_from_group,
      MPI_Comm_create_from_group(world_group, "blocking", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made))
#endif
MAKES(comm_split, MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made))
MAKES(comm_create, MPI_Comm_create(MPI_COMM_WORLD, world_group, &made))
MAKES(comm_create_group, MPI_Comm_create_group(MPI_COMM_WORLD, world_group, 3, &made))
MAKES(cart_create, int periodic = 1; MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &made))
MAKES(graph_create, MPI_Graph_create(MPI_COMM_WORLD, ranks, line, edges, 0, &made))
MAKES(dist_graph_create, int degree = 1, to = (rank + 1) % ranks;
      MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made))
MAKES(dist_graph_create_adjacent,
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all_ranks, MPI_UNWEIGHTED, ranks, all_ranks, MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &made))

/* Each rank gets a communicator of its own from MPICH 5.0 on UCX. */
static void comm_split_type(enum phase phase)
{
    if (phase == PREPARE)
        made = MPI_COMM_NULL;
    else if (phase == ACT)
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    else if (made != MPI_COMM_NULL) {
        int size;
        MPI_Comm_size(made, &size);
        CHECK(sum_over(made) == size && (size == ranks || (MPI_VERSION >= 5 && size == 1)));
        MPI_Comm_free(&made);
    }
}

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

#if MPI_VERSION >= 4
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
#endif

#ifdef HAS_ACCEPT
/* LATE accepts, or connects, alone; the others do the opposite together. */
static void connected(enum phase phase, int late_accepts)
{
    static char port[MPI_MAX_PORT_NAME];
    int accepts = (rank == LATE) == late_accepts;
    int opener = late_accepts ? LATE : 0;
    if (phase == PREPARE) {
        MPI_Comm_split(MPI_COMM_WORLD, rank == LATE, rank, &comm);
        if (rank == opener) {
            MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
            MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
            if (MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS) {
                puts("MPI_Open_port failed"); /* MPICH 5.0.2 has no port after some dozens */
                port[0] = '\0';
            }
            MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
            MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        }
        MPI_Bcast(port, sizeof port, MPI_CHAR, opener, MPI_COMM_WORLD);
    } else if (!port[0]) {
        if (phase != ACT)
            MPI_Comm_free(&comm);
    } else if (phase == ACT && accepts)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &made);
    else if (phase == ACT)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &made);
    else {
        MPI_Barrier(made);
        MPI_Comm_disconnect(&made);
        MPI_Comm_free(&comm);
        if (rank == opener)
            MPI_Close_port(port);
    }
}
static void comm_accept(enum phase phase) { connected(phase, 0); }
static void comm_connect(enum phase phase) { connected(phase, 1); }
#endif

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

#endif
