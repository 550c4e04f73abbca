/* SPDX-License-Identifier: MIT
 *
 * Known work: iterations that take a time of the CPU, as the kernel counts it, on any thread and any core. Rank 0 has
 * `ratio` times as much as each other. Prints what MPIX_Load_imbalance says of it.
 *
 *   loads <steps> <ratio> */
#include "test.h"

#include <workshare/mpix.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const int steps = argc > 1 ? atoi(argv[1]) : 20, ratio = argc > 2 ? atoi(argv[2]) : 3;
    const int n = 64;
    const double each = (rank == 0 ? ratio : 1) * 0.005 / n;
    int stolen = 0;
    for (int s = 0; s < steps; s++) {
        #pragma ws for reduction(+: stolen)
        for (int i = 0; i < n; i++) {
            work_on_cpu(each);
            stolen += on_guest();
        }
        work_on_cpu(0.0005); /* and a little work outside of loops, which nobody can help with */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double found = 0;
    CHECK(MPIX_Load_imbalance(MPI_COMM_WORLD, &found) == MPI_SUCCESS);
    MPI_Allreduce(MPI_IN_PLACE, &stolen, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* Every rank has a core of its own. */
    const double first = ratio * 0.005 + 0.0005, other = 0.0055, mean = (first + (ranks - 1) * other) / ranks;
    if (rank == 0)
        printf("imbalance %.4f expected %.4f stolen %d of %d\n", found, first / mean, stolen, steps * n * ranks);
    return end();
}
