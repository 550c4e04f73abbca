/* SPDX-License-Identifier: MIT
 *
 * leaves HOW NUMBER [asked]: thread NUMBER of a parallel region of rank 0 leaves it by exit, _exit, pthread_exit,
 * pthread_cancel (of itself), or longjmp; then the rank goes on to MPI_Finalize. "asked": the others ask OpenMP who
 * they are for as long as they live. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf before;

static void leave(const char *how)
{
    if (!strcmp(how, "exit"))
        exit(7);
    if (!strcmp(how, "_exit"))
        _exit(7);
    if (!strcmp(how, "pthread_exit"))
        pthread_exit(NULL);
    if (!strcmp(how, "pthread_cancel")) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    longjmp(before, 1);
}

int main(int argc, char **argv)
{
    int rank, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0 && setjmp(before) == 0) {
#pragma omp parallel
        {
            usleep(1000);
            if (omp_get_thread_num() == atoi(argv[2]))
                leave(argv[1]);
            while (argc > 3)
                if (omp_get_thread_num() >= omp_get_num_threads() || omp_get_level() != 1)
                    _exit(8);
        }
        printf("nobody left\n");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
