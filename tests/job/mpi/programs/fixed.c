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

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    void (*const cases[])(void) = {reduce_in_place, ialltoallw_in_place, allgather_again, neighbours,
                                   allgatherv_of_one};
    const int only = argc > 1 ? atoi(argv[1]) : -1;
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++)
        if (only < 0 || only == i)
            cases[i]();
    return end();
}
