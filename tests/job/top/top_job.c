/* SPDX-License-Identifier: MIT
 *
 * top_job ROUNDS MS: in each round rank 0 sleeps through a loop of MS milliseconds in all, which the others help with
 * from MPI_Allreduce; then the last rank waits for MS / 2 in MPI_Recv for a message that rank 0 sends late, with
 * nothing shared. Iterations sleep, so that all this is to be seen on a machine with fewer cores. */
#include "test.h"
#include <workshare/ws.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const int rounds = atoi(argv[1]), ms = atoi(argv[2]), last = ranks - 1;
    for (int round = 0; round < rounds && argc == 3; round++) {
        long sum = 0;
        ws_phase_begin("round");
        ws_phase_begin("loop");
        if (rank == 0) {
#pragma ws for reduction(+ : sum)
            for (int i = 0; i < ms; i++) {
                usleep(1000);
                sum++;
            }
        }
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == ms);
        ws_phase_end();
        if (rank == 0 && last > 0) {
            usleep((useconds_t) (500 * ms));
            MPI_Send(&sum, 1, MPI_LONG, last, 0, MPI_COMM_WORLD);
        } else if (rank == last)
            MPI_Recv(&sum, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ws_phase_end();
    }
    return end();
}
