/* SPDX-License-Identifier: MIT */
/* usage: served N. Rank 1 waits in MPI_Barrier for 20 ms, longer than it is awake for nothing. Then rank 0 makes N
 * one-sided calls of each kind to it, each of which rank 1 has to answer. */
#include "test.h"

#include <unistd.h>

static long counter = 5;

static void call(int kind, MPI_Win window, long *value)
{
    const long one = 1;
    if (kind == 4)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    switch (kind) {
    case 0:
    case 4: MPI_Put(value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window); break;
    case 1: MPI_Get(value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window); break;
    case 2: MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, window); break;
    case 3: MPI_Fetch_and_op(&one, value, MPI_LONG, 1, 0, MPI_SUM, window); break;
    }
    if (kind == 4)
        MPI_Win_unlock(1, window);
    else
        MPI_Win_flush(1, window);
}

int main(int argc, char **argv)
{
    int me;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    const int calls = atoi(argv[1]);
    MPI_Win_create(&counter, sizeof counter, sizeof counter, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int kind = 0; kind < 5; kind++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0) {
            long value = 7;
            usleep(20000);
            if (kind != 4)
                MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
            for (int i = 0; i < calls; i++)
                call(kind, window, &value);
            if (kind != 4)
                MPI_Win_unlock(1, window);
            const long wanted[] = { 7, 7, 7, 7 + 2 * calls - 1, 7 };
            if (value != wanted[kind])
                printf("kind %d: %ld, not %ld\n", kind, value, wanted[kind]);
        }
    }
    MPI_Win_free(&window);
    if (me == 0)
        printf("%d calls\n", 5 * calls);
    MPI_Finalize();
    return 0;
}
