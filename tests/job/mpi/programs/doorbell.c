/* SPDX-License-Identifier: MIT
 *
 * doorbell MESSAGES: rank 1 waits in MPI_Recv and lends its core to rank 0. Rank 0 sends to it from the middle of its
 * loop, in an iteration of its own thread, once a guest is surely at work on the lent core. Prints the median time, in
 * microseconds, from the send until rank 1 has the message. */
#include "test.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    enum { MOST = 1000, N = 1 << 20 };
    static double latency[MOST];
    begin(&argc, &argv);
    int messages = atoi(argv[1]);
    double sent;
    /* How many messages rank 1 has received, for rank 0 to see without a call that would ring or wait. */
    volatile int *received;
    MPI_Win win;
    MPI_Aint size;
    int unit;
    MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &received, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &received);
    if (rank == 0)
        *received = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        for (int m = 0; m < messages; m++) {
            MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            latency[m] = now() - sent; /* one clock for all processes of a machine */
            *received = m + 1;
        }
        qsort(latency, (size_t) messages, sizeof *latency, by_value);
        printf("median %.1f\n", 1e6 * latency[messages / 2]);
    } else if (rank == 0) {
        static volatile int guest_iterations;
        int done = 0, before = 0;
        double deadline = now() + PATIENCE;
        while (done < messages && now() < deadline) {
#pragma ws for
            for (int i = 0; i < N; i++) {
                if (done == messages)
                    continue;
                busy(5e-6);
                if (on_guest())
                    guest_iterations++;
                else if (*received < done)
                    before = guest_iterations;
                else if (guest_iterations > before + 100) {
                    sent = now();
                    MPI_Send(&sent, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
                    before = guest_iterations;
                    done++;
                }
            }
        }
        printf("%d messages\n", done);
        for (sent = now(); done < messages; done++)
            MPI_Send(&sent, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    return end();
}
