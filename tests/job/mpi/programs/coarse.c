/* SPDX-License-Identifier: MIT
 *
 * coarse: iterations of 100 ms. Rank 0 sends to rank 1, whose core a guest has just begun to use for such an iteration:
 * rank 1 must not wait for its end. Prints the median time in microseconds from the send until rank 1 has the
 * message. */
#include "test.h"

enum { ROUNDS = 7, MESSAGES = ROUNDS };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double latency[MESSAGES];
    begin(&argc, &argv);
    double sent;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int m = 0; m < MESSAGES; m++) {
        if (rank == 1) {
            MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            latency[m] = now() - sent;
        } else if (rank == 0) {
            static volatile int guest_began;
            int is_sent = 0, ran[4] = {0};
            guest_began = 0;
#pragma ws for schedule(dynamic, 1)
            for (int i = 0; i < 4; i++) {
                ran[i]++;
                if (on_guest())
                    guest_began = 1;
                for (double until = now() + 0.1; now() < until;)
                    if (!on_guest() && guest_began && !is_sent) {
                        is_sent = 1;
                        busy(5e-3); /* well inside the guest's iteration */
                        sent = now();
                        MPI_Send(&sent, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
                    }
            }
            for (int i = 0; i < 4; i++)
                CHECK(ran[i] == 1);
            if (!is_sent) { /* no guest came this time, so this tells nothing about latency */
                sent = now();
                MPI_Send(&sent, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
            }
            printf("%s\n", is_sent ? "sent" : "alone");
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1) {
        qsort(latency, MESSAGES, sizeof *latency, by_value);
        printf("median %.1f\n", 1e6 * latency[MESSAGES / 2]);
    }
    return end();
}
