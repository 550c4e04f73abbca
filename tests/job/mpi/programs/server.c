/* SPDX-License-Identifier: MIT */
/* usage: server N. Rank 1 has a thread that waits for requests in MPI_Recv and answers them, while its first thread
 * computes. Rank 0 sends N requests, long apart. Prints "cpu P median U us": the part of a core that the waiting thread
 * used, and how long an answer took. Needs MPI_THREAD_MULTIPLE. */
#include "test.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST = 1, ANSWER, END };

static double share;

static double clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void *serve(void *unused)
{
    const double began = clock_of(CLOCK_MONOTONIC), cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
    MPI_Status status;
    long value;
    do {
        MPI_Recv(&value, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        value++;
        if (status.MPI_TAG == REQUEST)
            MPI_Send(&value, 1, MPI_LONG, 0, ANSWER, MPI_COMM_WORLD);
    } while (status.MPI_TAG != END);
    share = (clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu) / (clock_of(CLOCK_MONOTONIC) - began);
    return unused;
}

static int order(const void *a, const void *b)
{
    return (*(const double *) a > *(const double *) b) - (*(const double *) a < *(const double *) b);
}

int main(int argc, char **argv)
{
    int me, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    const int n = atoi(argv[1]);
    if (me == 0) {
        double *took = malloc(sizeof *took * (size_t) n);
        for (long k = 0; k < n; k++) {
            long value = k;
            usleep(20000);
            took[k] = clock_of(CLOCK_MONOTONIC);
            MPI_Send(&value, 1, MPI_LONG, 1, REQUEST, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_LONG, 1, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            took[k] = clock_of(CLOCK_MONOTONIC) - took[k];
            CHECK(value == k + 1);
        }
        MPI_Send(&n, 0, MPI_LONG, 1, END, MPI_COMM_WORLD);
        MPI_Recv(&share, 1, MPI_DOUBLE, 1, END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        qsort(took, (size_t) n, sizeof *took, order);
        printf("cpu %.3f median %.1f us\n", share, 1e6 * took[n / 2]);
        free(took);
    } else {
        pthread_t thread;
        pthread_create(&thread, NULL, serve, NULL);
        pthread_join(thread, NULL);
        MPI_Send(&share, 1, MPI_DOUBLE, 0, END, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
