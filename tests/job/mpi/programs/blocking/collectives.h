/* SPDX-License-Identifier: MIT
 *
 * Cases of blocking.c that are collectives: each blocking, nonblocking and waited for, persistent, on an
 * intracommunicator, an intercommunicator, and a neighbourhood of all ranks. */
#ifndef BLOCKING_COLLECTIVES_H
#define BLOCKING_COLLECTIVES_H

#include "case.h"

#include <ctype.h>

enum { COUNT = 24 }; /* of ints to each rank */

/* A communicator, and whom in the world its ranks (the remote ones of an intercommunicator) are. */
static struct comm {
    MPI_Comm comm;
    /* late: LATE's rank among the peers; -1 on LATE's side of an inter */
    int inter, peers, world[MOST_RANKS], me, late;
} intra, reversed, inter, graph;

static enum { BLOCKING, NONBLOCKING, PERSISTENT } form;
static struct comm *c;
static int out[MOST_RANKS * COUNT], in[MOST_RANKS * COUNT], counts[MOST_RANKS], displs[MOST_RANKS], bytes[MOST_RANKS];
static MPI_Aint byte_displs[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];

static void describe(struct comm *d, MPI_Comm comm)
{
    d->comm = comm;
    MPI_Comm_test_inter(comm, &d->inter);
    MPI_Comm_rank(comm, &d->me);
    MPI_Group group, world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (d->inter)
        MPI_Comm_remote_group(comm, &group);
    else
        MPI_Comm_group(comm, &group);
    MPI_Group_size(group, &d->peers);
    d->late = -1;
    for (int r = 0; r < d->peers; r++) {
        MPI_Group_translate_ranks(group, 1, &r, world, &d->world[r]);
        if (d->world[r] == LATE)
            d->late = r;
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void collectives_begin(void)
{
    MPI_Comm comm, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    describe(&intra, comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); /* rank 0 comes after LATE */
    describe(&reversed, comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank == LATE, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == LATE ? 0 : LATE, 3, &comm);
    MPI_Comm_free(&half);
    describe(&inter, comm);
    int everyone[MOST_RANKS];
    for (int r = 0; r < ranks; r++)
        everyone[r] = r;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, everyone, MPI_UNWEIGHTED, ranks, everyone, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm);
    describe(&graph, comm);
    for (int r = 0; r < MOST_RANKS; r++) {
        counts[r] = COUNT;
        displs[r] = r * COUNT;
        byte_displs[r] = bytes[r] = r * COUNT * (int) sizeof(int);
        types[r] = MPI_INT;
    }
}

static void collectives_end(void)
{
    MPI_Comm_free(&intra.comm);
    MPI_Comm_free(&reversed.comm);
    MPI_Comm_free(&inter.comm);
    MPI_Comm_free(&graph.comm);
}

/* out[k] for the peer with rank r there: it says who sends it, and to which of his peers. */
static void fill(void)
{
    for (int r = 0; r < MOST_RANKS; r++)
        for (int k = 0; k < COUNT; k++)
            out[r * COUNT + k] = rank * 10000 + r * 100 + k;
    memset(in, -1, sizeof in);
}

/* in[] has from each peer what he has for `slot` (his rank for us, or 0 where all get the same). */
static void check_from(int from, int to, int slot)
{
    for (int r = from; r < to; r++)
        for (int k = 0; k < COUNT; k++)
            CHECK(in[(r - from) * COUNT + k] == c->world[r] * 10000 + slot * 100 + k);
}

/* in[] is the sum over the peers that pass for what they have for `slot`. */
static void check_sum(int from, int to, int slot)
{
    for (int k = 0; k < COUNT; k++) {
        int sum = 0;
        for (int r = from; r < to; r++)
            sum += c->world[r] * 10000 + slot * 100 + k;
        CHECK(in[k] == sum);
    }
}

static void wait_for(MPI_Request *request)
{
    if (form == PERSISTENT)
        MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        MPI_Request_free(request);
}

/* Persistent collectives are MPI 4.0's. */
#if MPI_VERSION >= 4
#define INIT(Name, ...) MPI_##Name##_init(__VA_ARGS__)
#else
#define INIT(Name, ...) abort()
#endif
#define CALL(Name, name, ...) \
    do { \
        MPI_Request request_; \
        if (form == BLOCKING) \
            MPI_##Name(__VA_ARGS__, c->comm); \
        else if (form == NONBLOCKING) \
            MPI_I##name(__VA_ARGS__, c->comm, &request_); \
        else \
            INIT(Name, __VA_ARGS__, c->comm, MPI_INFO_NULL, &request_); \
        if (form != BLOCKING) \
            wait_for(&request_); \
    } while (0)

/* In an intercommunicator, `root` is this process, in the group that is not LATE's, or LATE itself. */
static int root_is(int world_rank)
{
    if (!c->inter) {
        for (int r = 0; r < c->peers; r++)
            if (c->world[r] == world_rank)
                return r;
        return -1;
    }
    if (rank == world_rank)
        return MPI_ROOT;
    if ((rank == LATE) == (world_rank == LATE))
        return MPI_PROC_NULL;
    return 0;
}

#define COLLECTIVE(name, call, check) \
    static void name(enum phase phase) \
    { \
        if (phase == PREPARE) \
            fill(); \
        else if (phase == ACT) { \
            call; \
        } else { \
            check; \
        } \
    }

static int slot(void) { return c->me; } /* of this process among its peers' peers */

COLLECTIVE(bcast, { int *buffer = rank == LATE ? out : in; CALL(Bcast, bcast, buffer, COUNT, MPI_INT, root_is(LATE)); },
           if (rank != LATE) check_from(c->late, c->late + 1, 0))
COLLECTIVE(gather, CALL(Gather, gather, out, COUNT, MPI_INT, in, COUNT, MPI_INT, root_is(0)),
           if (rank == 0) check_from(0, c->peers, 0))
COLLECTIVE(gatherv, CALL(Gatherv, gatherv, out, COUNT, MPI_INT, in, counts, displs, MPI_INT, root_is(0)),
           if (rank == 0) check_from(0, c->peers, 0))
COLLECTIVE(scatter, CALL(Scatter, scatter, out, COUNT, MPI_INT, in, COUNT, MPI_INT, root_is(LATE)),
           if (rank != LATE) check_from(c->late, c->late + 1, slot()))
COLLECTIVE(scatterv, CALL(Scatterv, scatterv, out, counts, displs, MPI_INT, in, COUNT, MPI_INT, root_is(LATE)),
           if (rank != LATE) check_from(c->late, c->late + 1, slot()))
COLLECTIVE(allgather, CALL(Allgather, allgather, out, COUNT, MPI_INT, in, COUNT, MPI_INT), check_from(0, c->peers, 0))
COLLECTIVE(allgatherv, CALL(Allgatherv, allgatherv, out, COUNT, MPI_INT, in, counts, displs, MPI_INT),
           check_from(0, c->peers, 0))
COLLECTIVE(alltoall, CALL(Alltoall, alltoall, out, COUNT, MPI_INT, in, COUNT, MPI_INT), check_from(0, c->peers, slot()))
COLLECTIVE(alltoallv, CALL(Alltoallv, alltoallv, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT),
           check_from(0, c->peers, slot()))
COLLECTIVE(alltoallw, CALL(Alltoallw, alltoallw, out, counts, bytes, types, in, counts, bytes, types),
           check_from(0, c->peers, slot()))
COLLECTIVE(reduce, CALL(Reduce, reduce, out, in, COUNT, MPI_INT, MPI_SUM, root_is(0)),
           if (rank == 0) check_sum(0, c->peers, 0))
COLLECTIVE(allreduce, CALL(Allreduce, allreduce, out, in, COUNT, MPI_INT, MPI_SUM), check_sum(0, c->peers, 0))
COLLECTIVE(scan, CALL(Scan, scan, out, in, COUNT, MPI_INT, MPI_SUM), check_sum(0, c->me + 1, 0))
COLLECTIVE(exscan, CALL(Exscan, exscan, out, in, COUNT, MPI_INT, MPI_SUM), if (c->me > 0) check_sum(0, c->me, 0))
COLLECTIVE(neighbor_allgather, CALL(Neighbor_allgather, neighbor_allgather, out, COUNT, MPI_INT, in, COUNT, MPI_INT),
           check_from(0, c->peers, 0))
COLLECTIVE(neighbor_allgatherv,
           CALL(Neighbor_allgatherv, neighbor_allgatherv, out, COUNT, MPI_INT, in, counts, displs, MPI_INT),
           check_from(0, c->peers, 0))
COLLECTIVE(neighbor_alltoall, CALL(Neighbor_alltoall, neighbor_alltoall, out, COUNT, MPI_INT, in, COUNT, MPI_INT),
           check_from(0, c->peers, slot()))
COLLECTIVE(neighbor_alltoallv,
           CALL(Neighbor_alltoallv, neighbor_alltoallv, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT),
           check_from(0, c->peers, slot()))
COLLECTIVE(neighbor_alltoallw,
           CALL(Neighbor_alltoallw, neighbor_alltoallw, out, counts, byte_displs, types, in, counts, byte_displs,
                types),
           check_from(0, c->peers, slot()))

static void barrier(enum phase phase)
{
    if (phase != ACT)
        return;
    MPI_Request request;
    if (form == BLOCKING)
        MPI_Barrier(c->comm);
    else if (form == NONBLOCKING)
        MPI_Ibarrier(c->comm, &request);
    else
        INIT(Barrier, c->comm, MPI_INFO_NULL, &request);
    if (form != BLOCKING)
        wait_for(&request);
}

/* The result is cut over the own group, and comes from the other one where there is one. */
static int own_size(void)
{
    int size;
    MPI_Comm_size(c->comm, &size);
    return size;
}

static void reduce_scatter(enum phase phase)
{
    /* Both groups of an intercommunicator must give the same number of elements: COUNT * (peers of LATE) in all. */
    int size = own_size(), each[MOST_RANKS], first = 0, all = c->inter ? ranks - 1 : ranks;
    for (int r = 0; r < size; r++)
        each[r] = all * COUNT / size;
    for (int r = 0; r < c->me; r++)
        first += each[r];
    if (phase == PREPARE)
        fill();
    else if (phase == ACT)
        CALL(Reduce_scatter, reduce_scatter, out, in, each, MPI_INT, MPI_SUM);
    else
        for (int k = 0; k < each[c->me]; k++) {
            int sum = 0, at = first + k;
            for (int r = 0; r < c->peers; r++)
                sum += c->world[r] * 10000 + at / COUNT * 100 + at % COUNT;
            CHECK(in[k] == sum);
        }
}

static void reduce_scatter_block(enum phase phase)
{
    int size = own_size(), each = (c->inter ? ranks - 1 : ranks) * COUNT / size;
    if (phase == PREPARE)
        fill();
    else if (phase == ACT)
        CALL(Reduce_scatter_block, reduce_scatter_block, out, in, each, MPI_INT, MPI_SUM);
    else
        for (int k = 0; k < each; k++) {
            int sum = 0, at = each * c->me + k;
            for (int r = 0; r < c->peers; r++)
                sum += c->world[r] * 10000 + at / COUNT * 100 + at % COUNT;
            CHECK(in[k] == sum);
        }
}

static const struct {
    const char *name;
    Case *run;
} collectives[] = {
#define NAMED(name) {#name, name}
    NAMED(barrier),        NAMED(bcast),
    NAMED(gather),         NAMED(gatherv),
    NAMED(scatter),        NAMED(scatterv),
    NAMED(allgather),      NAMED(allgatherv),
    NAMED(alltoall),       NAMED(alltoallv),
    NAMED(alltoallw),      NAMED(reduce),
    NAMED(allreduce),      NAMED(reduce_scatter),
    NAMED(scan),           NAMED(reduce_scatter_block),
    NAMED(exscan),         NAMED(neighbor_allgather),
    NAMED(neighbor_allgatherv), NAMED(neighbor_alltoall),
    NAMED(neighbor_alltoallv), NAMED(neighbor_alltoallw),
};

static Case *by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (strlen(collectives[i].name) == length && !strncmp(collectives[i].name, name, length))
            return collectives[i].run;
    return NULL;
}

/* `name` is a collective with a form and a kind of communicator, as in "ibcast" or "inter_bcast". Returns its case, or
 * NULL, and the start of the name of its algorithm variable, as in "IBCAST_INTRA". */
static Case *find_collective(const char *name, char *variable, size_t size)
{
    int is_inter = !strncmp(name, "inter_", 6);
    if (is_inter)
        name += 6;
    size_t length = strlen(name);
    Case *found;
    const char *i = "";
    if ((found = by_name(name, length)))
        form = BLOCKING;
    else if (name[0] == 'i' && (found = by_name(name + 1, --length))) {
        form = NONBLOCKING;
        name++, i = "I";
    } else if (MPI_VERSION >= 4 && length > 5 && !strcmp(name + length - 5, "_init") &&
               (found = by_name(name, length -= 5))) {
        form = PERSISTENT;
        i = "I"; /* MPICH schedules both alike */
    } else
        return NULL;
    c = is_inter                               ? &inter
        : found == scan || found == exscan     ? &reversed
        : !strncmp(name, "neighbor_", 9)       ? &graph
                                               : &intra;
    snprintf(variable, size, "%s%.*s_%s", i, (int) length, name, is_inter ? "INTER" : "INTRA");
    for (char *p = variable; *p; p++)
        *p = (char) toupper(*p);
    return found;
}

#endif
