/* SPDX-License-Identifier: MIT
 *
 * blocked_in CALL: rank 1 computes a long loop; all others wait in CALL until it is done, and help meanwhile. Rank 1 sees
 * its guests before it answers, so that a wait that does not help is a failure, not a slow run. */
#include "test.h"

enum { N = 20000 };
static double result[N];
static volatile int guests_seen;

static void compute(void)
{
    double deadline = now() + 10;
    do { /* a busy machine may let a first loop pass without help */
        double sum = 0;
#pragma ws for reduction(+ : sum)
        for (int i = 0; i < N; i++) {
            busy(3e-6);
            result[i] = 0.5 * i;
            sum += 1;
            if (on_guest())
                guests_seen = 1;
        }
        CHECK(sum == N);
        for (int i = 0; i < N; i++)
            CHECK(result[i] == 0.5 * i);
    } while (!guests_seen && now() < deadline);
}

static void send_to_all(int value)
{
    for (int r = 0; r < ranks; r++)
        if (r != 1)
            MPI_Send(&value, 1, MPI_INT, r, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *call = argv[1];
    int value = -1, more = -1, index = -1, many[2], one = rank, out = 0;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message message;
    MPI_Status status, statuses[2];
    int late = rank == 1, finalize = !strcmp(call, "finalize");
    MPI_Win win = MPI_WIN_NULL;
    int cell = 0;
    int one_sided = !strcmp(call, "fence") || !strcmp(call, "win_wait");
    if (one_sided)
        MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Group everyone, target;
    MPI_Comm_group(MPI_COMM_WORLD, &everyone);
    int first = 1;
    MPI_Group_incl(everyone, 1, &first, &target);
    MPI_Barrier(MPI_COMM_WORLD);

    if (late)
        compute();
#define IS(name) (!strcmp(call, name))
    if (IS("barrier")) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (IS("allreduce")) {
        MPI_Allreduce(&one, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(out == ranks * (ranks - 1) / 2);
    } else if (IS("bcast")) {
        value = late ? 42 : 0;
        MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
        CHECK(value == 42);
    } else if (IS("fence")) {
        MPI_Win_fence(0, win);
    } else if (IS("win_wait")) {
        if (late) {
            for (int r = 0; r < ranks; r++)
                if (r != 1) {
                    MPI_Group to;
                    MPI_Group_incl(everyone, 1, &r, &to);
                    MPI_Win_start(to, 0, win); /* no MPI_Put: MPICH 4.0.2's is not always there after MPI_Win_wait */
                    MPI_Win_complete(win);
                    MPI_Group_free(&to);
                }
        } else {
            MPI_Win_post(target, 0, win);
            MPI_Win_wait(win);
        }
    } else if (IS("ibarrier")) {
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (IS("ssend")) { /* rendezvous: done when rank 1 receives */
        if (late)
            for (int r = 1; r < ranks; r++)
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Ssend(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else if (finalize) {
    } else if (late) {
        send_to_all(42);
        send_to_all(43);
    } else {
        if (IS("recv")) {
            MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (IS("wait")) {
            MPI_Irecv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[0]);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        } else if (IS("waitall")) {
            MPI_Irecv(&many[0], 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(&many[1], 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, statuses);
            value = many[0], more = many[1];
        } else if (IS("waitany")) {
            MPI_Irecv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
            CHECK(index == 1);
        } else if (IS("waitsome")) {
            int count = 0, indices[2];
            MPI_Irecv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitsome(2, requests, &count, indices, statuses);
            CHECK(count == 1 && indices[0] == 1);
        } else if (IS("probe")) {
            MPI_Probe(1, 7, MPI_COMM_WORLD, &status);
            MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (IS("mprobe")) {
            MPI_Mprobe(1, 7, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        } else if (IS("any_source")) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            printf("blocked_in: no call named %s\n", call);
            failures++;
        }
        CHECK(value == 42);
        if (more < 0)
            MPI_Recv(&more, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(more == 43);
    }

    if (finalize) { /* nobody may wait before it */
        if (late) {
            CHECK(guests_seen);
            printf("%s\n", failures ? "wrong" : "right");
        }
        MPI_Finalize();
        return failures != 0;
    }
    if (late)
        CHECK(guests_seen);
    MPI_Group_free(&everyone);
    MPI_Group_free(&target);
    if (one_sided)
        MPI_Win_free(&win);
    return end();
}
