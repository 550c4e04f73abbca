/* SPDX-License-Identifier: MIT
 *
 * host gain | nothing KIND | pmpi | sums | double | rounds | target | stop | twice | again | forever | killed |
 * version: what host_test.py, the tests of nodes and trouble_test.py run under another MPI. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int rank, ranks;

static double spin(double seconds)
{
    double began = MPI_Wtime();
    while (MPI_Wtime() - began < seconds)
        ;
    return seconds;
}

enum { N = 200 };

/* Rank 0 alone has a loop. Returns the smaller of `best` and its time. */
static double loop_of_rank_0(double best)
{
    double began = MPI_Wtime();
    if (rank == 0) {
#pragma ws for
        for (int i = 0; i < N; i++)
            spin(100e-6);
        double took = MPI_Wtime() - began;
        best = took < best ? took : best;
    }
    return best;
}

/* Rank 0 computes; the others wait, by each kind of call in turn. */
static void gain(void)
{
    enum { KINDS = 8 };
    static const char *const names[KINDS] = {"Barrier", "Recv",     "Wait",      "Waitall",
                                             "Probe",   "Sendrecv", "Allreduce", "Bcast"};
    MPI_Comm comm; /* each communicator that is made has its own row on the board */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int kind = 0; kind < KINDS; kind++) {
        double best = 1e9, mine[2] = {rank, 1}, all[2];
        for (int turn = 0; turn < 4; turn++) {
            MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
            MPI_Barrier(MPI_COMM_WORLD);
            best = loop_of_rank_0(best);
            if (kind == 0)
                MPI_Barrier(comm);
            else if (kind == 5) {
                MPI_Sendrecv(mine, 1, MPI_DOUBLE, (rank + 1) % ranks, 3, all, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks,
                             3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (all[0] != (rank + ranks - 1) % ranks)
                    printf("wrong: Sendrecv\n");
            } else if (kind == 6)
                MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, comm);
            else if (kind == 7)
                MPI_Bcast(mine, 1, MPI_DOUBLE, 0, comm);
            else if (rank == 0) {
                for (int to = 1; to < ranks; to++)
                    MPI_Send(&turn, 1, MPI_INT, to, kind, MPI_COMM_WORLD);
            } else {
                int got = -1;
                MPI_Status status;
                if (kind == 1)
                    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, kind, MPI_COMM_WORLD, &status);
                else if (kind == 4) {
                    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
                    MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                } else {
                    MPI_Irecv(&got, 1, MPI_INT, 0, kind, MPI_COMM_WORLD, &requests[1]);
                    if (kind == 2)
                        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
                    else
                        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
                }
                if (got != turn || requests[1] != MPI_REQUEST_NULL)
                    printf("wrong: %s\n", names[kind]);
            }
        }
        if (rank == 0)
            printf("%s %.3f\n", names[kind], best / (N * 100e-6));
    }
    MPI_Comm_free(&comm);
}

static int none_query(void *extra, MPI_Status *s)
{
    (void) extra;
    MPI_Status_set_elements(s, MPI_INT, 0);
    MPI_Status_set_cancelled(s, 0);
    return MPI_SUCCESS;
}
static int none_free(void *extra) { return (void) extra, MPI_SUCCESS; }
static int none_cancel(void *extra, int complete) { return (void) extra, (void) complete, MPI_SUCCESS; }

/* The same in waits that lend nothing: in a collective call on a communicator on which one has failed, or for a
 * generalized request beside a message. */
static void nothing(const char *kind)
{
    const int failed = !strcmp(kind, "failed");
    double best = 1e9;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (failed && MPI_Bcast(&rank, -1, MPI_INT, 0, comm) == MPI_SUCCESS)
        printf("wrong: a negative count is no error\n");
    for (int turn = 0; turn < 4; turn++) {
        MPI_Request requests[2];
        MPI_Barrier(MPI_COMM_WORLD);
        if (!failed && rank != 0) {
            int got = -1;
            MPI_Grequest_start(none_query, none_free, none_cancel, NULL, &requests[0]);
            MPI_Grequest_complete(requests[0]);
            MPI_Irecv(&got, 1, MPI_INT, 0, turn, comm, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            if (got != turn)
                printf("wrong: %d\n", got);
        }
        best = loop_of_rank_0(best);
        if (failed)
            MPI_Barrier(comm);
        else if (rank == 0)
            for (int to = 1; to < ranks; to++)
                MPI_Send(&turn, 1, MPI_INT, to, turn, comm);
    }
    MPI_Comm_free(&comm);
    if (rank == 0)
        printf("%s %.3f\n", kind, best / (N * 100e-6));
}

/* Each even rank has a loop, whose iterations sleep; the next rank waits for a message of it. */
static void doubled(void)
{
    enum { ITERATIONS = 60, COST_US = 1000 };
    const int peer = rank ^ 1;
    double best = 1e9;
    long all = 0;
    for (int turn = 0; turn < 4 && peer < ranks; turn++) {
        long sum = 0, got = -1;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank % 2) {
            MPI_Recv(&got, 1, MPI_LONG, peer, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            const double began = MPI_Wtime();
#pragma ws for reduction(+ : sum) schedule(dynamic, 1)
            for (int i = 0; i < ITERATIONS; i++) {
                usleep(COST_US);
                sum += i;
            }
            const double took = MPI_Wtime() - began;
            best = took < best ? took : best;
            MPI_Send(&sum, 1, MPI_LONG, peer, turn, MPI_COMM_WORLD);
        }
        MPI_Allreduce(rank % 2 ? &got : &sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (all != ranks * (ITERATIONS - 1) * ITERATIONS / 2)
            printf("wrong: %ld\n", all);
    }
    if (rank % 2 == 0)
        printf("loop %d %.3f\n", rank,
               best / (ITERATIONS * (COST_US + 60) * 1e-6)); /* the kernel's clock adds some 60 us */
}

/* Ranks wait in calls by the names of the profiling interface. */
static void pmpi(void)
{
    double best = 1e9;
    for (int turn = 0; turn < 4; turn++) {
        PMPI_Barrier(MPI_COMM_WORLD);
        best = loop_of_rank_0(best);
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("PMPI %.3f\n", best / (N * 100e-6));
}

/* Sums whose last bits depend on the order, at places that wait and at places that do not. */
static void sums(void)
{
    enum { LENGTH = 1000 };
    static double mine[LENGTH], all[LENGTH];
    for (int turn = 0; turn < 40; turn++) {
        for (int i = 0; i < LENGTH; i++)
            mine[i] = 1.0 / (1 + i + rank * 7 + turn) * (i % 3 ? 1e10 : 1e-7);
        if (turn % 8 == rank)
            spin(1e-3);
        MPI_Allreduce(mine, all, turn % 2 ? LENGTH : 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce(all, mine, LENGTH, MPI_DOUBLE, MPI_SUM, turn % ranks, MPI_COMM_WORLD);
        MPI_Scan(mine, all, LENGTH, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(all, LENGTH, MPI_DOUBLE, turn % ranks, MPI_COMM_WORLD);
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Allreduce(MPI_IN_PLACE, all, LENGTH, MPI_DOUBLE, MPI_PROD, half);
        MPI_Comm_free(&half);
        for (int r = 0; r < ranks; r++) {
            if (r == rank && turn % 10 == 9) {
                for (int i = 0; i < LENGTH; i += 111)
                    printf("%d %d %a\n", turn, rank, all[i]);
                fflush(stdout);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

/* Calls that need several rounds of messages each, of which MPI alone knows. */
static void rounds(void)
{
    double began = MPI_Wtime();
    for (int turn = 0; turn < 300; turn++) {
        MPI_Comm comm;
        MPI_Request request;
        MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
    }
    if (rank == 0)
        printf("rounds %.3f\n", MPI_Wtime() - began);
}

/* A rank waits in a call of a communicator that has no row on which ranks see who has come: there are 256 rows. */
static void many(void)
{
    enum { MANY = 300, TURNS = 10 };
    MPI_Comm comms[MANY];
    for (int i = 0; i < MANY; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int turn = 0; turn < TURNS; turn++) {
        int one = 1, sum = 0;
        if (rank == 1)
            usleep(50000);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[MANY - 1]);
        if (sum != ranks)
            printf("wrong\n");
    }
    for (int i = 0; i < MANY; i++)
        MPI_Comm_free(&comms[i]);
}

/* Rank 0 changes memory of rank 1, which waits for a message. */
static void target(void)
{
    enum { LENGTH = 1 << 14, CALLS = 20 };
    static int memory[LENGTH], ones[LENGTH], before[LENGTH];
    MPI_Win win;
    MPI_Request request;
    int end = 0;
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < LENGTH; i++)
        ones[i] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(&end, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        usleep(20000); /* rank 1 sleeps now */
        const double began = MPI_Wtime();
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        for (int i = 0; i < CALLS; i++) {
            MPI_Accumulate(ones, LENGTH, MPI_INT, 1, 0, LENGTH, MPI_INT, MPI_SUM, win);
            MPI_Win_flush(1, win);
            MPI_Raccumulate(ones, LENGTH, MPI_INT, 1, 0, LENGTH, MPI_INT, MPI_SUM, win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Get_accumulate(NULL, 0, MPI_INT, before, LENGTH, MPI_INT, 1, 0, LENGTH, MPI_INT, MPI_NO_OP, win);
        MPI_Win_unlock(1, win);
        printf("target %.4f\n", MPI_Wtime() - began);
        for (int i = 0; i < LENGTH; i++)
            if (before[i] != 2 * CALLS)
                printf("wrong: %d\n", before[i]);
        MPI_Send(&end, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
}

/* Rank 1 stops in an iteration of a loop that it shares, until somebody lets it go on. */
static void stop(void)
{
    int sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
#pragma ws for reduction(+ : sum)
        for (int i = 0; i < N; i++) {
            spin(1e-3);
            if (i == N / 2)
                raise(SIGSTOP);
            sum += i;
        }
    }
    MPI_Bcast(&sum, 1, MPI_INT, 1, MPI_COMM_WORLD);
    printf("rank %d: sum %d\n", rank, sum);
}

static volatile sig_atomic_t goes_on;
static void go_on(int number) { goes_on = number; }

/* Rank 1 comes only after 60 s, or if it gets SIGUSR1. */
static void forever(void)
{
    signal(SIGUSR1, go_on);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        printf("all have begun\n");
        fflush(stdout);
        prctl(PR_SET_NAME, "begun"); /* for readers that see no output */
        for (int i = 0; i < 6000 && !goes_on; i++)
            spin(0.01);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void killed(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void version(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    printf("%s\n", text);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!strcmp(argv[1], "gain"))
        gain();
    else if (!strcmp(argv[1], "nothing"))
        nothing(argv[2]);
    else if (!strcmp(argv[1], "pmpi"))
        pmpi();
    else if (!strcmp(argv[1], "sums"))
        sums();
    else if (!strcmp(argv[1], "double"))
        doubled();
    else if (!strcmp(argv[1], "rounds"))
        rounds();
    else if (!strcmp(argv[1], "many"))
        many();
    else if (!strcmp(argv[1], "target"))
        target();
    else if (!strcmp(argv[1], "killed"))
        killed();
    else if (!strcmp(argv[1], "version"))
        version();
    else if (!strcmp(argv[1], "stop"))
        stop();
    else if (!strcmp(argv[1], "forever"))
        forever();
    else if (!strcmp(argv[1], "again"))
        MPI_Finalize();
    if (!strcmp(argv[1], "twice") || !strcmp(argv[1], "again")) {
        MPI_Init(&argc, &argv);
        printf("MPI_Init returned\n");
    }
    MPI_Finalize();
    return 0;
}
