/* SPDX-License-Identifier: MIT
 *
 * peers TURNS peer|buffer: an outer loop that calls MPI at one place alone, three times a turn, and in which only the
 * peer differs, or only the buffer. Four ranks. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 3 };

/* The only place. */
__attribute__((noinline)) static void exchange(int *out, int *in, int peer)
{
    MPI_Sendrecv(out, 1, MPI_INT, peer, 0, in, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, out[calls], in[calls], wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int turns = atoi(argv[1]), by_peer = !strcmp(argv[2], "peer");
    for (int turn = 0; turn < turns; turn++)
        for (int k = 0; k < calls; k++) {
            const int peer = by_peer ? rank ^ (k + 1) : rank ^ 1, buffer = by_peer ? 0 : k;
            out[buffer] = rank * 1000 + turn + k;
            exchange(&out[buffer], &in[buffer], peer);
            wrong |= in[buffer] != peer * 1000 + turn + k;
        }
    MPI_Finalize();
    return wrong;
}
