/* SPDX-License-Identifier: MIT
 *
 * late <milliseconds>: rank 0 sleeps, the others wait for it with nothing to steal. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const long ms = argc > 1 ? atol(argv[1]) : 500;
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    if (rank == 0)
        nanosleep(&t, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
