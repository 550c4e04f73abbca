/* SPDX-License-Identifier: MIT
 *
 * unseen_calls LEVEL: a loop that calls MPI in a function of another file (unseen.c), where the compiler cannot see it.
 * Guests must not break MPI, whatever level of thread support the program has asked for. */
#include "test.h"

extern int unseen_exchange(int i);

enum { N = 600 };

int main(int argc, char **argv)
{
    int level, on_guests = 0, wrong = 0;
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    const int asked = levels[atoi(argv[1])];
    MPI_Init_thread(&argc, &argv, asked, &level);
    CHECK(level >= asked);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        double deadline = now() + PATIENCE;
        do {
#pragma ws for reduction(+ : on_guests, wrong)
            for (int i = 1; i < N; i++) {
                busy(20e-6);
                wrong += !unseen_exchange(i);
                on_guests += on_guest();
            }
        } while (!on_guests && now() < deadline);
        CHECK(wrong == 0);
        CHECK(on_guests > 0);
        MPI_Send(&level, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Status status;
        int value;
        while (MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status), status.MPI_TAG) {
            value *= 2;
            MPI_Send(&value, 1, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD);
        }
    }
    return end();
}
