/* SPDX-License-Identifier: MIT
 *
 * Large messages, and large counts. */
#include "same.h"

#include <stdlib.h>

void large(void)
{
    enum { N = 1 << 19 };
    int *a = malloc(N * sizeof *a), *b = calloc(N, sizeof *b);
    MPI_Request r[2];
    MPI_Status s, several[2];
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            a[i] = rank + i + turn;
        late(turn);
        show("exchange", MPI_Sendrecv(a, N, MPI_INT, next, 1, b, N, MPI_INT, before, 1, MPI_COMM_WORLD, &s), &s);
        tell("%d", b[N - 1]);
        MPI_Isend(a, N, MPI_INT, next, 2, MPI_COMM_WORLD, &r[0]);
        MPI_Recv(b, N, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &s);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        tell("%d", b[N - 1]);
        if (rank % 2 == 0 && rank + 1 < ranks)
            MPI_Ssend(a, N, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
        else if (rank % 2)
            MPI_Recv(b, N, MPI_INT, rank - 1, 3, MPI_COMM_WORLD, &s);
        /* a collective call in flight while others are made */
        long sum = rank, all = 0;
        MPI_Iallreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r[0]);
        MPI_Ibarrier(MPI_COMM_WORLD, &r[1]);
        MPI_Bcast(b, N, MPI_INT, turn % ranks, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(2, r, several);
        tell("%ld %d", all, b[7]);
    }
    free(a);
    free(b);
}

#if MPI_VERSION >= 4
/* Calls with counts of MPI_Count. */
void counts(void)
{
    enum { N = 1 << 18 };
    static int a[N], b[N];
    MPI_Status s;
    MPI_Request r[2];
    MPI_Message message;
    MPI_Count n;
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int turn = 0; turn < 3; turn++) {
        const MPI_Count size = turn ? N : 3;
        for (int i = 0; i < N; i++)
            a[i] = rank + i + turn;
        late(turn);
        MPI_Isend_c(a, size, MPI_INT, next, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Recv_c(b, size, MPI_INT, before, 1, MPI_COMM_WORLD, &s);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Get_count_c(&s, MPI_INT, &n);
        tell("received %d %d", (int) n, b[2]);
        MPI_Sendrecv_c(a, size, MPI_INT, next, 2, b, size, MPI_INT, before, 2, MPI_COMM_WORLD, &s);
        tell("exchanged %d", b[size - 1]);
        MPI_Isend_c(a, size, MPI_INT, next, 3, MPI_COMM_WORLD, &r[0]);
        MPI_Mprobe(before, 3, MPI_COMM_WORLD, &message, &s);
        MPI_Mrecv_c(b, size, MPI_INT, &message, &s);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        if (rank % 2 == 0 && rank + 1 < ranks)
            MPI_Send_c(a, size, MPI_INT, rank + 1, 4, MPI_COMM_WORLD);
        else if (rank % 2)
            MPI_Recv_c(b, size, MPI_INT, rank - 1, 4, MPI_COMM_WORLD, &s);
        MPI_Allreduce_c(a, b, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        tell("sum %d", b[size - 1]);
        late(turn + 1);
        MPI_Bcast_c(a, size, MPI_INT, turn % ranks, MPI_COMM_WORLD);
        MPI_Reduce_c(a, b, size, MPI_INT, MPI_MAX, turn % ranks, MPI_COMM_WORLD);
        MPI_Scan_c(a, b, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        tell("scan %d %d", a[0], b[size - 1]);
        MPI_Iallreduce_c(a, b, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
        MPI_Ibarrier(MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        tell("sum %d", b[1]);
    }
    MPI_Win win;
    int *memory;
    MPI_Win_allocate_c(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put_c(a, 4, MPI_INT, next, 0, 4, MPI_INT, win);
    MPI_Win_fence(0, win);
    tell("put %d", memory[3]);
    MPI_Win_free(&win);
}
#endif
