// SPDX-License-Identifier: MIT
//
// calls SECONDS [multiple]: rank 0 waits for rank 1, which computes so long, and meanwhile asks MPI for names and for
// nothing else: it never waits. With `multiple` a second thread does so too, and MPI takes its lock in each of these
// calls.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static volatile int ended;

static void ask(double until)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length, rank;
    volatile double x = 1;
    while (!ended && MPI_Wtime() < until) {
        for (int i = 0; i < 20000; i++)
            x = x * 0.5 + 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank); // takes no lock
        MPI_Get_processor_name(name, &length);
    }
}

static void *ask_too(void *nothing)
{
    ask(1e300);
    return nothing;
}

int main(int argc, char **argv)
{
    const int multiple = argc > 2;
    int rank, provided;
    pthread_t second;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        if (multiple)
            pthread_create(&second, NULL, ask_too, NULL);
        ask(MPI_Wtime() + atof(argv[1]));
        ended = 1;
        if (multiple)
            pthread_join(second, NULL);
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        MPI_Recv(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
