/* SPDX-License-Identifier: MIT
 *
 * death WHO: rank 1 computes, rank 0 waits in a barrier and lends its core. Once a guest is at work, a rank is killed:
 *    owner      rank 1 kills itself in an iteration of its own
 *    guest      rank 1 is killed in an iteration that a guest runs
 *    helper     rank 1 is killed by a child of its own, at any point; mpirun cannot tell, the ranks must notice
 *    idle       the same while rank 1 has no loop that rank 0 could lend to
 *    thief      rank 0 is killed while it lends
 *    abort      rank 1 calls MPI_Abort(3) in an iteration of its own
 * Nothing can be right afterwards: the job has to end, and to leave nothing. */
#include "test.h"
#include <signal.h>

enum { N = 100000 };

/* A child kills us. It holds our connections, so that mpirun does not see them close, until rank 0 is gone. */
static void be_killed_by_child(int rank_0)
{
    int pid = getpid();
    if (fork() == 0) {
        char file[64], target[64];
        usleep(3000);
        kill(pid, SIGKILL);
        snprintf(file, sizeof file, "/proc/%d/exe", rank_0);
        for (double end = now() + 20; now() < end && readlink(file, target, sizeof target) >= 0;)
            usleep(10000);
        _exit(0);
    }
}

int main(int argc, char **argv)
{
    const char *who = argv[1];
    begin(&argc, &argv);
    int pid = getpid(), pids[64];
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    if (rank == 1 && !strcmp(who, "idle")) {
        usleep(100000);
        be_killed_by_child(pids[0]);
        busy(20);
    } else if (rank == 1) {
        static volatile int guest_iterations, killed;
        for (double until = now() + PATIENCE; now() < until && !killed;) {
#pragma ws for schedule(dynamic, 4)
            for (int i = 0; i < N; i++) {
                if (on_guest())
                    guest_iterations++;
                if (guest_iterations > 50 && !killed) {
                    if (!strcmp(who, "owner") && !on_guest())
                        raise(SIGKILL);
                    if (!strcmp(who, "abort") && !on_guest())
                        MPI_Abort(MPI_COMM_WORLD, 3);
                    if (!strcmp(who, "guest") && on_guest())
                        kill(pid, SIGKILL);
                    if (!strcmp(who, "thief") && on_guest()) {
                        killed = 1;
                        printf("killing rank 0\n");
                        fflush(stdout);
                        kill(pids[0], SIGKILL);
                    }
                    if (!strcmp(who, "helper") && !on_guest()) {
                        killed = 1;
                        be_killed_by_child(pids[0]);
                    }
                }
                busy(10e-6);
            }
        }
        if (!killed)
            printf("no guest came\n");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d passed the barrier\n", rank);
    MPI_Finalize();
    return 0;
}
