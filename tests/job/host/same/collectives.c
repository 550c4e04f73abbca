/* SPDX-License-Identifier: MIT
 *
 * Collective calls, and communicators. */
#include "same.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ranks that wait in a collective call still take part in messages, and in puts and gets. */
void progress(void)
{
    enum { N = 1 << 20 };
    int *data = calloc(N, sizeof *data), *other = calloc(N, sizeof *data), *shared;
    MPI_Request request;
    MPI_Win win;
    for (int turn = 0; turn < 3; turn++) {
        if (rank == 0) {
            data[N - 1] = turn + 7;
            MPI_Isend(data, N, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            late(1);
            if (rank == 1) {
                MPI_Recv(other, N, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                tell("%d", other[N - 1]);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Win_allocate(sizeof(int) * 64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    memset(shared, 0, 64 * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
        late(1);
        for (int i = 0; i < 20; i++) {
            int one = 1, got;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
            MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
            MPI_Win_unlock(0, win);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    tell("counted %d", shared[1]);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    free(data);
    free(other);
}

/* A call with a wrong argument returns at once, whatever the others do. */
void alone(void)
{
    MPI_Comm comm;
    int in = 1, out = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 0) {
        tell("root %d", class_of(MPI_Bcast(&in, 1, MPI_INT, ranks, comm)));
#ifndef MPICH /* Debian's crashes */
        tell("reduce %d", class_of(MPI_Reduce(&in, &out, -1, MPI_INT, MPI_SUM, 0, comm)));
        tell("count %d", class_of(MPI_Allreduce(&in, &out, -1, MPI_INT, MPI_SUM, comm)));
        tell("op %d", class_of(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, comm)));
        tell("type %d", class_of(MPI_Allreduce(&in, &out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm)));
#endif
    }
    if (rank == 0)
        for (int to = 1; to < ranks; to++)
            MPI_Send(&in, 1, MPI_INT, to, 1, comm);
    else
        MPI_Recv(&in, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    for (int turn = 0; turn < 5; turn++) {
        in = turn + rank;
        late(turn % ranks);
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
        tell("sum %d", out);
        out = turn;
        MPI_Bcast(&out, 1, MPI_INT, turn % ranks, comm);
    }
    MPI_Comm_free(&comm);
}

/* Rank 1 has too little room; it has taken part all the same. */
void truncated(void)
{
    MPI_Comm comm;
    int data[4] = {1, 2, 3, 4};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int error = MPI_Bcast(data, rank == 1 ? 2 : 4, MPI_INT, 0, comm);
    tell("%s", rank == 1 && error != MPI_SUCCESS ? "an error" : error != MPI_SUCCESS ? "error?" : "fine");
    for (int turn = 0; turn < 5; turn++) {
        /* a rank that has fallen behind is waited for while it waits for a message */
        if (rank == 1) {
            MPI_Bcast(data, 1, MPI_INT, 1, comm);
            MPI_Recv(data, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Bcast(data, 1, MPI_INT, 1, comm);
            if (rank == 0)
                MPI_Send(data, 1, MPI_INT, 1, 2, comm);
        }
        MPI_Barrier(comm);
    }
    tell("over");
    MPI_Comm_free(&comm);
}

/* Calls about nothing return at once. */
void zero(void)
{
    int in = 1, out = 0, token = 0;
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &out, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&out, 0, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(&in, &out, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    tell("over");
}

/* A rank depends on those alone that send it something. */
void sparse(void)
{
    int in[64], out[64] = {0}, counts[64] = {0}, places[64], token;
    for (int i = 0; i < 64; i++)
        in[i] = 100 * rank + i, places[i] = i;
    if (rank < 2)
        counts[1 - rank] = 1;
    if (rank == ranks - 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, ranks - 1, 3, MPI_COMM_WORLD);
    tell("%d %d", out[0], out[1]);
}

/* Products of 2x2 matrices: associative, not commutative. */
static void multiply(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *n; i++) {
        int *x = (int *) a + 4 * i, *y = (int *) b + 4 * i;
        int z[4] = {x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2],
                    x[2] * y[1] + x[3] * y[3]};
        memcpy(y, z, sizeof z);
    }
}

void all_collectives(const char *name, MPI_Comm comm)
{
    int me, n, is_inter;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Comm_test_inter(comm, &is_inter);
    int in[64], out[64] = {0}, counts[64], places[64], zeros[64] = {0};
    for (int i = 0; i < 64; i++)
        in[i] = 3 * me + i, counts[i] = 1, places[i] = i;
    MPI_Barrier(comm);
    if (is_inter) {
        MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, comm);
        tell("%s %d", name, out[2]);
        return;
    }
    for (int turn = 0; turn < 3; turn++) {
        if (me == turn)
            usleep(2000);
        const int root = turn % n;
        long sum = 0;
#define ADD for (int i = 0; i < 64; i++) sum = sum * 31 + out[i]
        MPI_Bcast(in, 3, MPI_INT, root, comm), sum += in[2];
        MPI_Reduce(in, out, 3, MPI_INT, MPI_MAX, root, comm); ADD;
        MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, comm); ADD;
        MPI_Allreduce(MPI_IN_PLACE, out, 3, MPI_INT, MPI_BXOR, comm); ADD;
        MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, root, comm); ADD;
        MPI_Gatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, root, comm); ADD;
        MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, root, comm); ADD;
        MPI_Scatterv(in, counts, places, MPI_INT, out, 1, MPI_INT, root, comm); ADD;
        MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm); ADD;
        MPI_Allgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, comm); ADD;
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm); ADD;
        MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm); ADD;
        MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm); ADD;
        MPI_Scan(in, out, 3, MPI_INT, MPI_SUM, comm); ADD;
        out[0] = out[1] = out[2] = 0;
        MPI_Exscan(in, out, 3, MPI_INT, MPI_SUM, comm); ADD;
        MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm); ADD;
        MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm); ADD;
        MPI_Alltoallv(in, zeros, places, MPI_INT, out, zeros, places, MPI_INT, comm); ADD;
        MPI_Barrier(comm);
        tell("%s %ld", name, sum);
    }
}

void kinds(void)
{
    MPI_Comm comm, two, merged;
    int dims[2] = {ranks, 1}, wraps[2] = {1, 0}, keep[2] = {1, 0};
    all_collectives("world", MPI_COMM_WORLD);
    all_collectives("self", MPI_COMM_SELF);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all_collectives("dup", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, -rank, &comm);
    if (comm != MPI_COMM_NULL) {
        all_collectives("reversed", comm);
        MPI_Comm_free(&comm);
    }
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 0, &comm);
    all_collectives("cart", comm);
    MPI_Cart_sub(comm, keep, &two);
    all_collectives("sub", two);
    MPI_Comm_free(&two);
    MPI_Comm_free(&comm);
    int index[64], edges[64];
    for (int i = 0; i < ranks; i++)
        index[i] = i + 1, edges[i] = (i + 1) % ranks;
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm);
    all_collectives("graph", comm);
    MPI_Comm_free(&comm);
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    all_collectives("idup", comm);
    MPI_Comm_free(&comm);
    if (ranks < 2)
        return;
    MPI_Group all, some;
    int first[1] = {0};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, first, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    if (comm != MPI_COMM_NULL) {
        all_collectives("created", comm);
        MPI_Comm_free(&comm);
    }
    if (rank != 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &comm);
        all_collectives("of group", comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 1 - rank % 2, 6, &two);
    all_collectives("inter", two);
    MPI_Intercomm_merge(two, rank % 2, &merged);
    all_collectives("merged", merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&two);
    MPI_Comm_free(&comm);
    MPI_Op op;
    MPI_Datatype matrix;
    int in[4] = {1, rank + 1, rank, 1}, out[4] = {0};
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &op);
    for (int turn = 0; turn < 3; turn++) {
        late(turn);
        MPI_Allreduce(in, out, 1, matrix, op, MPI_COMM_WORLD);
        tell("product %d %d %d %d", out[0], out[1], out[2], out[3]);
        MPI_Scan(in, out, 1, matrix, op, MPI_COMM_WORLD);
        tell("products %d %d %d %d", out[0], out[1], out[2], out[3]);
        MPI_Reduce(in, out, 1, matrix, op, ranks - 1, MPI_COMM_WORLD);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&matrix);
}

/* More communicators than the board has rows, some of them freed by callbacks. */
static int frees(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) extra;
    MPI_Comm *const inner = value;
    MPI_Comm_free(inner);
    free(inner);
    return MPI_SUCCESS;
}

void many(void)
{
    enum { N = 300 };
    static MPI_Comm comms[N];
    int key, sum = 0, total = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, frees, &key, NULL);
    for (int i = 0; i < N; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 0 ? rank % 2 : 0, i % 2 ? rank : -rank, &comms[i]);
        if (i % 5 == 0) {
            MPI_Comm *const inner = malloc(sizeof *inner);
            MPI_Comm_dup(comms[i], inner);
            MPI_Barrier(*inner);
            MPI_Comm_set_attr(comms[i], key, inner);
        }
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
        total += sum;
        if (i % 2)
            MPI_Comm_free(&comms[i]);
        if (i % 7 == 6 && comms[i - 2] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i - 2]);
    }
    for (int i = N - 1; i >= 0; i--)
        if (comms[i] != MPI_COMM_NULL) {
            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
            MPI_Comm_free(&comms[i]);
            total += sum;
        }
    for (int i = 0; i < 60; i++) {
        MPI_Comm one, two;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &one);
        MPI_Comm_idup(MPI_COMM_WORLD, &two, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(one);
        MPI_Barrier(two);
        MPI_Comm_free(i % 2 ? &one : &two);
        MPI_Comm_free(i % 2 ? &two : &one);
    }
    MPI_Comm_free_keyval(&key);
    tell("%d", total);
}
