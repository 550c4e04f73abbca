/* SPDX-License-Identifier: MIT
 *
 * cliques: rank 1 computes (asleep, so that any number of cores will do), all others wait. Prints how many different
 * guests it had and how many ranks share its node. */
#include "test.h"

int main(int argc, char **argv)
{
    enum { N = 300, MOST = 64 };
    static volatile long guests[MOST];
    static volatile int met;
    begin(&argc, &argv);
    MPI_Comm node;
    int on_node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        double deadline = now() + PATIENCE;
        do {
#pragma ws for schedule(dynamic, 1)
            for (int i = 0; i < N; i++) {
                usleep(1000);
                if (!on_guest())
                    continue;
#pragma ws critical
                {
                    long self = syscall(SYS_gettid);
                    int known = 0;
                    for (int g = 0; g < met; g++)
                        known |= guests[g] == self;
                    if (!known && met < MOST)
                        guests[met++] = self;
                }
            }
        } while (met < on_node - 1 && now() < deadline);
        printf("%d guests, %d ranks on the node\n", met, on_node);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&node);
    return end();
}
