/* SPDX-License-Identifier: MIT
 *
 * A program whose ranks end in ways that they should not, and one that reduces in place at each root.
 *
 *   ends_app exit|_exit|abort STATUS         rank 1 does that while the others wait for it
 *   ends_app after STATUS                    rank 1 calls _exit() after MPI_Finalize
 *   ends_app before                          rank 1 exits before MPI_Init
 *   ends_app killed init|finalize|barrier    rank 1 kills itself in MPI_Init, in MPI_Finalize, or in MPI_Finalize when
 *   it
 *                                            has entered the barrier at its end
 *   ends_app alone                           rank 1 kills itself, and the others go on for a second
 *   ends_app wait                            waits for a signal
 *   ends_app spawn HOW STATUS                starts as many processes, and rank 1 of them does that while all
 *                                            others wait for it; HOW: exit, _exit, abort, alone or after
 *   ends_app spawns                          prints whether this MPICH can start processes
 *   ends_app reduce */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *dies_in = ""; /* where this rank is to kill itself */
static int is_finalizing;

/* In place of libc's: sees what MPI writes to its launcher. */
ssize_t write(int fd, const void *text, size_t length)
{
    const char barrier[] = "cmd=barrier_in";
    int is_barrier = length >= sizeof barrier - 1 && !memcmp(text, barrier, sizeof barrier - 1);
    int dies = is_barrier && !strcmp(dies_in, is_finalizing ? "finalize" : "init");
    ssize_t written = dies ? 0 : syscall(SYS_write, fd, text, length);

    if (dies || (is_barrier && is_finalizing && !strcmp(dies_in, "barrier")))
        kill(getpid(), SIGKILL);
    return written;
}

/* Returns how many sums are wrong. */
static int reduce(int rank, int size)
{
    int bad = 0;
    for (int root = 0; root < size; root++)
        for (int count = 1; count <= 1 << 16; count = count * 5 + 1) {
            double *in = malloc(count * sizeof *in);
            for (int way = 0; way < 2; way++) {
                MPI_Request request = MPI_REQUEST_NULL;
                const void *from = rank == root ? MPI_IN_PLACE : in;
                for (int i = 0; i < count; i++)
                    in[i] = i % 100 + rank;
                if (way == 0)
                    MPI_Reduce(from, in, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
                else
                    MPI_Ireduce(from, in, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                for (int i = 0; rank == root && i < count; i++)
                    bad += in[i] != size * (i % 100) + size * (size - 1) / 2;
            }
            free(in);
        }
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return bad;
}

/* Ends this process, unless `how` is another way. */
static void end(const char *how, int status)
{
    if (!strcmp(how, "exit"))
        exit(status);
    if (!strcmp(how, "_exit"))
        _exit(status);
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, status);
    if (!strcmp(how, "alone"))
        kill(getpid(), SIGKILL);
}

/* Starts as many processes as there are. Rank 1 of them ends as `argv` says, while all others wait for it. Returns
 * main's value. */
static int spawn(int rank, int size, char **argv)
{
    const char *how = argv[2];
    int status = atoi(argv[3]), is_started;
    MPI_Comm between, all;
    MPI_Comm_get_parent(&between);
    is_started = between != MPI_COMM_NULL;
    if (!is_started)
        MPI_Comm_spawn(argv[0], argv + 1, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(between, is_started, &all);
    MPI_Barrier(all);
    if (is_started && rank == 1)
        end(how, status);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    MPI_Finalize();
    return is_started && rank == 1 ? status : 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "", *rank_text = getenv("PMI_RANK");
    int rank, size, status = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(how, "before") && rank_text && atoi(rank_text) == 1)
        return 0;
    if (!strcmp(how, "killed") && rank_text && atoi(rank_text) == 1)
        dies_in = argv[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "reduce")) {
        int bad = reduce(rank, size);
        MPI_Finalize();
        return bad != 0;
    }
    if (!strcmp(how, "wait")) {
        if (rank == 0)
            printf("waiting\n"), fflush(stdout);
        pause();
    }
    if (!strcmp(how, "spawns") && rank == 0)
        puts(MPICH_NUMVERSION >= 50000000 ? "yes" : "no");
    if (!strcmp(how, "spawn"))
        return spawn(rank, size, argv);
    if (rank == 1)
        end(how, status);
    if (!strcmp(how, "alone")) {
        for (unsigned left = 1; left;) /* a signal that says that rank 1 is gone ends a sleep */
            left = sleep(left);
        printf("rank %d goes on\n", rank), fflush(stdout);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    is_finalizing = 1;
    MPI_Finalize();
    if (!strcmp(how, "after")) {
        if (rank == 1)
            _exit(status);
        usleep(300000);
        printf("rank %d goes on\n", rank);
    }
    return 0;
}
