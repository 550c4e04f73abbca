/* SPDX-License-Identifier: MIT
 *
 * mpi_in_chunks HOW: with MPI_THREAD_MULTIPLE the iterations, those on guests too, call MPI as the owner.
 *    serve      each iteration asks rank 1, whose core the guest may be running on, and waits for its answer
 *    thread     meanwhile another thread of rank 1 waits in MPI_Recv until all is over */
#include "test.h"
#include <pthread.h>

enum { N = 1500, END = N, OTHER = N + 1 };

static void *wait_for_the_end(void *got)
{
    MPI_Recv(got, 1, MPI_INT, 0, OTHER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, value, on_guests = 0, wrong = 0, got = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    int with_thread = !strcmp(argv[1], "thread");
    pthread_t thread;
    if (rank == 1 && with_thread)
        pthread_create(&thread, NULL, wait_for_the_end, &got);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        double deadline = now() + PATIENCE;
        do {
#pragma ws for reduction(+ : on_guests, wrong)
            for (int i = 0; i < N; i++) {
                int answer = -1;
                busy(20e-6);
                MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
                MPI_Recv(&answer, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                wrong += answer != 2 * i;
                on_guests += on_guest();
            }
        } while (!on_guests && now() < deadline);
        CHECK(wrong == 0);
        CHECK(on_guests > 0);
        MPI_Send(&value, 1, MPI_INT, 1, END, MPI_COMM_WORLD);
        value = 42;
        if (with_thread)
            MPI_Send(&value, 1, MPI_INT, 1, OTHER, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (;;) {
            MPI_Status status;
            MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == OTHER) /* the other thread's */
                continue;
            MPI_Recv(&value, 1, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == END)
                break;
            value *= 2;
            MPI_Send(&value, 1, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD);
        }
        if (with_thread) {
            pthread_join(thread, NULL);
            CHECK(got == 42);
        }
    }
    return end();
}
