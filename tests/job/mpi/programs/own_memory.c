/* SPDX-License-Identifier: MIT
 *
 * Windows of the program's own memory that begin at each word: what others put and get is there, and nothing beside
 * it changes. */
#include "test.h"

enum { WORDS = 16 };

int main(int argc, char **argv)
{
    static long words[WORDS] __attribute__((aligned(64)));
    begin(&argc, &argv);
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int first = 0; first < WORDS; first++) {
        MPI_Win win;
        long put = 1000 * rank + first, got = -1;
        for (int i = 0; i < WORDS; i++)
            words[i] = -1 - i;
        MPI_Win_create(words + first, sizeof *words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(0, win);
        MPI_Put(&put, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < WORDS; i++)
            CHECK(words[i] == (i == first ? 1000 * left + first : -1 - i));
        MPI_Get(&got, 1, MPI_LONG, left, 0, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        CHECK(got == 1000 * ((left + ranks - 1) % ranks) + first);
        MPI_Win_free(&win);
    }
    return end();
}
