/* SPDX-License-Identifier: MIT
 *
 * Calls of MPI that give wrong results, or crash, in MPICH 4.0.2 without runtime/mpich/patches/4.0/upstream. On a power
 * of two of ranks. */
#include "test.h"

enum { STARTS = 3, MOST_RANKS = 8 };

/* 0015: issue 6540 */
static void reduce_in_place(void)
{
    for (int root = 0; root < ranks; root++) {
        int mine = rank + 1, sum = mine;
        MPI_Reduce(rank == root ? MPI_IN_PLACE : &mine, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        CHECK(rank != root || sum == ranks * (ranks + 1) / 2);
    }
}

/* 0018: what is exchanged with rank r is large or small, as both know. Upstream took the size of the part for
 * oneself. */
static void ialltoallw_in_place(void)
{
    char parts[MOST_RANKS][8], expected[MOST_RANKS][8];
    int counts[MOST_RANKS], displacements[MOST_RANKS];
    MPI_Datatype types[MOST_RANKS];
    MPI_Request request;
    memset(parts, 0, sizeof parts);
    memset(expected, 0, sizeof expected);
    for (int r = 0; r < ranks; r++) {
        size_t bytes = (r + rank) % 2 ? 8 : 1;
        types[r] = bytes == 8 ? MPI_INT64_T : MPI_CHAR;
        counts[r] = 1;
        displacements[r] = 8 * r;
        memset(parts[r], 'a' + rank, bytes);
        memset(expected[r], 'a' + r, bytes);
    }
    MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, parts, counts, displacements, types, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!memcmp(parts, expected, sizeof parts));
}

/* 0019: upstream's counted on from the start before */
static void allgather_again(void)
{
#if MPI_VERSION >= 4
    int mine = 0, all[MOST_RANKS];
    MPI_Request request;
    MPI_Allgather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int start = 1; start <= STARTS; start++) {
        mine = 100 * start + rank;
        memset(all, 0, sizeof all);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int r = 0; r < ranks; r++)
            CHECK(all[r] == 100 * start + r);
    }
    MPI_Request_free(&request);
#endif
}

/* 0020: rank 0 sends to all others, and has no neighbour to receive from. Upstream took the number of the one for that
 * of the other. */
static void neighbours(void)
{
    int sends = rank == 0 ? ranks - 1 : 0, receives = rank != 0, root = 0, to[MOST_RANKS], values[MOST_RANKS],
        value = 0;
    int counts[MOST_RANKS];
    MPI_Aint displacements[MOST_RANKS];
    MPI_Datatype types[MOST_RANKS];
    MPI_Comm star;
    for (int i = 0; i < sends; i++) {
        to[i] = i + 1;
        values[i] = 10 * (i + 1);
    }
    for (int i = 0; i < MOST_RANKS; i++) {
        counts[i] = 1;
        displacements[i] = (MPI_Aint)sizeof(int) * i;
        types[i] = MPI_INT;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, receives, &root, MPI_UNWEIGHTED, sends, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &star);
    /* as many counts as there are neighbours, each in memory of its own */
    int *send_counts = malloc((size_t)(sends + 1) * sizeof *send_counts),
        *receive_counts = malloc(sizeof *receive_counts);
    memcpy(send_counts, counts, (size_t)sends * sizeof *send_counts);
    *receive_counts = 1;
    MPI_Neighbor_alltoallw(values, send_counts, displacements, types, &value, receive_counts, displacements, types,
                           star);
    CHECK(value == 10 * rank);
    free(send_counts);
    free(receive_counts);
    MPI_Comm_free(&star);
}

/* 0021: upstream's wrote to the beginning of the buffer */
static void allgatherv_of_one(void)
{
    int mine = 7, all[3] = {1, 2, 3}, count = 1, displacement = 2;
    MPI_Request request;
    MPI_Allgatherv(&mine, 1, MPI_INT, all, &count, &displacement, MPI_INT, MPI_COMM_SELF);
    CHECK(all[0] == 1 && all[2] == 7);
    all[2] = 3;
    MPI_Iallgatherv(&mine, 1, MPI_INT, all, &count, &displacement, MPI_INT, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(all[0] == 1 && all[2] == 7);
}

#if MPI_VERSION >= 4
/* 0022: requests in memory of requests to no process. Upstream's did not start them. */
static void start_after_no_process(void)
{
    enum { REQUESTS = 8 };
    const int one = 1;
    int sum = 0;
    double parts[2] = {rank, -rank};
    MPI_Request requests[REQUESTS];
    for (int i = 0; i < REQUESTS; i++)
        MPI_Send_init(&one, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Request_free(&requests[i]);
    for (int i = 0; i < REQUESTS - 1; i++)
        MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    if (rank % 2 == 0)
        MPI_Psend_init(parts, 2, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[REQUESTS - 1]);
    else
        MPI_Precv_init(parts, 2, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[REQUESTS - 1]);
    for (int i = 0; i < REQUESTS; i++) {
        sum = 0;
        MPI_Start(&requests[i]);
        for (int part = 0; part < 2 && i == REQUESTS - 1 && rank % 2 == 0; part++)
            MPI_Pready(part, requests[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        CHECK(i == REQUESTS - 1 || sum == ranks);
        MPI_Request_free(&requests[i]);
    }
    CHECK(parts[1] == -(rank - rank % 2));
}

/* 0022: each start gathers what there is then. Upstream's root had its value of the call that made the request. */
static void gather_again(void)
{
    int mine = -1, all[MOST_RANKS];
    MPI_Request request;
    MPI_Gather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int start = 1; start <= STARTS; start++) {
        mine = 100 * start + rank;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int r = 0; r < ranks && rank == 0; r++)
            CHECK(all[r] == 100 * start + r);
    }
    MPI_Request_free(&request);
}

/* 0023: upstream's crashed, and its status named rank 0 */
static void no_process(void)
{
    int send = 1, receive = 2;
    MPI_Request request;
    MPI_Status status;
    MPI_Isendrecv(&send, 1, MPI_INT, MPI_PROC_NULL, 0, &receive, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(&send, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(send == 1 && receive == 2);
    MPI_Irecv(&receive, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
}

/* 0026: issue 7098. Upstream's released the type and the communicator too often. */
static void isendrecv_of_types(void)
{
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int turn = 0; turn < STARTS; turn++) {
        int sent[4] = {rank, -1, rank + 10, -1}, received[4] = {0};
        MPI_Datatype pair;
        MPI_Request request;
        MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        MPI_Isendrecv(sent, 1, pair, right, 0, received, 1, pair, left, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(received[0] == left && received[2] == left + 10);
        MPI_Type_free(&pair);
    }
}
#endif

/* 0024: issue 5977. Upstream's gave the memory of the first request to the second. */
static void free_before_received(void)
{
    int sent = rank, received = -1, other;
    MPI_Request request;
    MPI_Isend(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Request_free(&request);
    MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(&received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(received == rank);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* 0025: an error upstream */
static void pack_from_bottom(void)
{
    int length = 1, position = 0, value = 7;
    char packed[16];
    MPI_Aint address;
    MPI_Datatype there;
    MPI_Get_address(&value, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &there);
    MPI_Type_commit(&there);
    MPI_Pack(MPI_BOTTOM, 1, there, packed, sizeof packed, &position, MPI_COMM_WORLD);
    value = position = 0;
    MPI_Unpack(packed, sizeof packed, &position, MPI_BOTTOM, 1, there, MPI_COMM_WORLD);
    CHECK(*(volatile int *)&value == 7);
    MPI_Type_free(&there);
}

/* 0027: the first rank of each half does not take part. Upstream's did not return. */
static void split_without_the_first(void)
{
    const int half = rank < ranks / 2;
    int mine = rank, other = -1, number;
    MPI_Comm local, both, rest;
    MPI_Comm_split(MPI_COMM_WORLD, half, rank, &local);
    MPI_Comm_rank(local, &number);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, half ? ranks / 2 : 0, 0, &both);
    MPI_Comm_split(both, number == 0 ? MPI_UNDEFINED : 0, rank, &rest);
    if (rest != MPI_COMM_NULL) {
        MPI_Sendrecv(&mine, 1, MPI_INT, number - 1, 0, &other, 1, MPI_INT, number - 1, 0, rest, MPI_STATUS_IGNORE);
        CHECK(other == (rank + ranks / 2) % ranks);
        MPI_Comm_free(&rest);
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&local);
}

/* 0028: on a ring of two, what is sent to the left is received from the right. Upstream's mixed them up. */
static void neighbours_on_both_sides(void)
{
    int size = 2, periodic = 1, mine, sent[2], received[2] = {-1, -1}, counts[2] = {1, 1}, places[2] = {0, 1};
    MPI_Aint displacements[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm two, ring;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &two);
    MPI_Cart_create(two, 1, &size, &periodic, 0, &ring);
    MPI_Comm_rank(ring, &mine);
    sent[0] = 10 * mine;
    sent[1] = 10 * mine + 1;
    MPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, ring);
    CHECK(received[0] == 10 * !mine + 1 && received[1] == 10 * !mine);
    memset(received, 0, sizeof received);
    MPI_Neighbor_alltoallw(sent, counts, displacements, types, received, counts, displacements, types, ring);
    CHECK(received[0] == 10 * !mine + 1 && received[1] == 10 * !mine);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&two);
}

static int keys[2];

static int delete_the_first(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)value;
    (void)extra;
    return key == keys[1] ? MPI_Comm_delete_attr(comm, keys[0]) : MPI_SUCCESS;
}

/* 0029: upstream's refused the error handler, and kept an attribute that was freed */
static void handlers_and_attributes(void)
{
    int value, found = 1;
    void *got;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
#if MPI_VERSION >= 4
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT);
#endif
    for (int i = 0; i < 2; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_the_first, &keys[i], NULL);
        MPI_Comm_set_attr(comm, keys[i], &value);
    }
    MPI_Comm_delete_attr(comm, keys[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_get_attr(comm, keys[i], &got, &found);
        CHECK(!found);
        MPI_Comm_free_keyval(&keys[i]);
    }
    MPI_Comm_free(&comm);
}

/* 0030: issue 7896. Upstream's request was complete before the data were there. */
static void get_with_gaps(void)
{
    enum { INTS = 1 << 12 };
    const int target = (rank + 1) % ranks;
    int *exposed, *got = calloc(INTS, sizeof *got);
    MPI_Win window;
    MPI_Datatype pairs;
    MPI_Request request;
    MPI_Win_allocate(INTS * sizeof *got, sizeof *got, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window);
    for (int i = 0; i < INTS; i++)
        exposed[i] = INTS * rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_vector(INTS / 4, 2, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Win_lock_all(0, window);
    MPI_Rget(got, 1, pairs, target, 0, 1, pairs, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int wrong = 0;
    for (int i = 0; i < INTS; i++)
        wrong += got[i] != (i % 4 < 2 ? INTS * target + i : 0);
    CHECK(wrong == 0);
    MPI_Win_unlock_all(window);
    MPI_Type_free(&pairs);
    MPI_Win_free(&window);
    free(got);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    void (*const cases[])(void) = {
        reduce_in_place, ialltoallw_in_place, allgather_again, neighbours, allgatherv_of_one, free_before_received,
        pack_from_bottom, split_without_the_first, neighbours_on_both_sides, handlers_and_attributes, get_with_gaps,
#if MPI_VERSION >= 4
        start_after_no_process, gather_again, no_process, isendrecv_of_types,
#endif
    };
    const int only = argc > 1 ? atoi(argv[1]) : -1;
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++)
        if (only < 0 || only == i)
            cases[i]();
    return end();
}
