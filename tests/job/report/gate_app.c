/* SPDX-License-Identifier: MIT

gate_app: each rank computes for SECONDS_EACH (0.3 if it is not set) by the clock, so that its efficiency depends little
on what else runs here. Rank 0 computes for an eighth of it if WAITS is set. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const double all = getenv("SECONDS_EACH") ? atof(getenv("SECONDS_EACH")) : 0.3;
    const double end = MPI_Wtime() + (getenv("WAITS") && rank == 0 ? all / 8 : all);
    while (MPI_Wtime() < end) {
    }
    MPI_Finalize();
    return 0;
}
