/* SPDX-License-Identifier: MIT
 *
 * A program for ws-doctor to look at: two loops, one of them with a name, and a call that polls. */
#include <mpi.h>

static double a[1000];

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
#pragma ws for
    for (int i = 0; i < 1000; i++)
        a[i] = i;
#pragma ws for name("increments")
    for (int i = 0; i < 1000; i++)
        a[i] += i;
    int there;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return a[999] != 1998;
}
