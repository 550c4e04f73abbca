/* SPDX-License-Identifier: MIT
 *
 * oracle SEED REGIONS [hidden]: each iteration counts itself in the owner's memory; every count must come to 1 and
 * every sum be right. Loops of random length, iterations of random cost, schedules of every kind with random chunks,
 * random waits.
 *
 * For torments_test.py: the processes are named "ready" while the regions run, and a thread that gets SIGUSR1 stalls.
 * With `hidden` mpirun does not see that a rank dies: a child of the rank holds its connections until the others are
 * gone. */
#include "test.h"
#include <signal.h>
#include <sys/prctl.h>

enum { MOST = 4000 };
enum cost { NOTHING, BUSY, UNEVEN, SLEEP, COSTS };

static unsigned ran[MOST];
static enum cost cost;
static double unit;

static void body(long i)
{
    ran[i]++; /* not atomic: nobody else has iteration i */
    switch (cost) {
    case BUSY:
        busy(unit);
        break;
    case UNEVEN: /* most work at the front */
        busy(i < 16 ? 30 * unit : unit / 10);
        break;
    case SLEEP:
        if (i % 16 == 0)
            usleep(50);
        break;
    default:
        break;
    }
}

#define LOOP \
    for (long i = 0; i < n; i++) { \
        body(i); \
        sum += i * i; \
    }

/* The clauses' kinds are the compiler's, their chunks ours. */
static long loop(int kind, long n, long chunk, long steal_chunk)
{
    long sum = 0;
    switch (kind) {
    case 0:
#pragma ws for reduction(+ : sum)
        LOOP
        break;
    case 1:
#pragma ws for reduction(+ : sum) schedule(static)
        LOOP
        break;
    case 2:
#pragma ws for reduction(+ : sum) schedule(static, chunk)
        LOOP
        break;
    case 3:
#pragma ws for reduction(+ : sum) schedule(dynamic, chunk)
        LOOP
        break;
    case 4:
#pragma ws for reduction(+ : sum) schedule(guided, chunk)
        LOOP
        break;
    case 5:
#pragma ws for reduction(+ : sum) schedule(dynamic, chunk) steal_schedule(guided, steal_chunk)
        LOOP
        break;
    case 6:
#pragma ws for reduction(+ : sum) steal_schedule(dynamic, steal_chunk)
        LOOP
        break;
    default:
#pragma ws for reduction(+ : sum) schedule(guided) steal_schedule(static)
        LOOP
        break;
    }
    return sum;
}

static void meet(int how)
{
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, token = rank, got = -1;
    switch (how) {
    case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Allreduce(&token, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(got == ranks * (ranks - 1) / 2);
        break;
    default:
        MPI_Sendrecv(&token, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == left);
    }
}

static void stall(int signal)
{
    static unsigned turn;
    usleep(1000u << (__atomic_fetch_add(&turn, 5, __ATOMIC_RELAXED) + (unsigned) signal) % 7); /* to 64 ms */
}

static void hide_death(void)
{
    int pid = getpid(), pids[64];
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    if (fork() == 0) {
        while (getppid() == pid)
            usleep(2000);
        for (int r = 0; r < ranks; r++) {
            char file[64], target[64];
            snprintf(file, sizeof file, "/proc/%d/exe", pids[r]); /* not to be read of a zombie */
            while (readlink(file, target, sizeof target) >= 0)
                usleep(5000);
        }
        _exit(0);
    }
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = stall, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    begin(&argc, &argv);
    uint64_t common = strtoull(argv[1], NULL, 10), own = common * 1000 + (uint64_t) rank;
    int regions = atoi(argv[2]);
    if (argc > 3)
        hide_death();
    MPI_Barrier(MPI_COMM_WORLD);
    prctl(PR_SET_NAME, "ready");
    for (int r = 0; r < regions; r++) {
        int late = (int) random_below(&common, (uint64_t) ranks); /* the rank that the others wait for */
        int how = (int) random_below(&common, 3);
        long n = (long) random_below(&own, 8);
        if (rank == late)
            n = (long) random_below(&own, r % 8 ? 200 : MOST);
        cost = (enum cost) random_below(&own, COSTS);
        unit = 1e-6 * (double) random_below(&own, 20);
        if (n > 200)
            unit /= 10;
        long chunk = 1 + (long) random_below(&own, random_below(&own, 4) ? 6 : 300);
        long steal_chunk = 1 + (long) random_below(&own, 10);
        int kind = (int) random_below(&own, 8);
        memset(ran, 0, sizeof ran);
        long sum = loop(kind, n, chunk, steal_chunk);
        for (long i = 0; i < n; i++)
            CHECK(ran[i] == 1);
        for (long i = n; i < MOST; i++)
            CHECK(ran[i] == 0);
        CHECK(sum == (n - 1) * n * (2 * n - 1) / 6);
        meet(how);
    }
    prctl(PR_SET_NAME, "oracle");
    return end();
}
