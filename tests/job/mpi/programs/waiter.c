/* SPDX-License-Identifier: MIT
 *
 * Compiled without -fws: it has no loop to share, but lends its core to programs that have. Waits as imbalance does. */
#include "test.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("right\n");
    return end();
}
