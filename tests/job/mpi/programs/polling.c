/* SPDX-License-Identifier: MIT
 *
 * polling LOOK: rank 1 computes shared loops while rank 0 spins on a call that looks for rank 1's message and returns
 * without it. Then the message is there, rank 1 computes on, and rank 0 looks once more. Prints the microseconds that
 * the longest and the median of those looks took that helped, and that the last one took. */
#include "test.h"

enum { N = 400, LOOKS = 1 << 20 };

static int value = -1;
static MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
static MPI_Win win;
static MPI_Message message = MPI_MESSAGE_NULL;

/* Rank 0's look: whether it found something. */
static int look(const char *name)
{
    int flag = 0, index, count;
    MPI_Status status, statuses[2];
    if (!strcmp(name, "test"))
        MPI_Test(requests, &flag, &status);
    else if (!strcmp(name, "testall"))
        MPI_Testall(2, requests, &flag, statuses);
    else if (!strcmp(name, "testany"))
        MPI_Testany(2, requests, &index, &flag, &status);
    else if (!strcmp(name, "testsome")) {
        int indices[2];
        MPI_Testsome(2, requests, &count, indices, statuses);
        flag = count == 1;
    } else if (!strcmp(name, "get_status"))
        MPI_Request_get_status(requests[0], &flag, &status);
    else if (!strcmp(name, "iprobe"))
        MPI_Iprobe(1, 7, MPI_COMM_WORLD, &flag, &status);
    else if (!strcmp(name, "improbe"))
        MPI_Improbe(1, 7, MPI_COMM_WORLD, &flag, &message, &status);
    else
        MPI_Win_test(win, &flag);
    return flag;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static volatile int *flags; /* shared: the message is on its way; rank 0 has it */
static volatile int guests;

static void compute_until(volatile int *done, int enough, double seconds)
{
    double deadline = now() + seconds;
    do {
#pragma ws for
        for (int i = 0; i < N; i++) {
            busy(5e-6);
            if (on_guest())
                __atomic_fetch_add(&guests, 1, __ATOMIC_RELAXED);
        }
    } while (!*done && guests < enough && now() < deadline);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *name = argv[1];
    static double took[LOOKS];
    int first = 1 - rank, cell = 0, unit, is_probe = !!strstr(name, "probe"), is_win = !strcmp(name, "win_test");
    MPI_Aint size;
    MPI_Group world, peer;
    MPI_Win shared;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &first, &peer);
    MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_allocate_shared(rank == 0 ? 2 * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &flags,
                            &shared);
    MPI_Win_shared_query(shared, 0, &size, &unit, &flags);
    if (rank == 0)
        flags[0] = flags[1] = 0;
    if (rank == 0 && is_win)
        MPI_Win_post(peer, 0, win);
    else if (rank == 0 && !is_probe)
        MPI_Irecv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, requests);
    MPI_Barrier(MPI_COMM_WORLD);

    if (rank == 1) {
        int never = 0, payload = 42;
        compute_until(&never, 40, 0.3);
        MPI_Request sent;
        if (is_win) {
            MPI_Win_start(peer, 0, win);
            MPI_Win_complete(win);
        } else
            MPI_Isend(&payload, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &sent);
        flags[0] = 1;
        compute_until(&flags[1], 1 << 30, 2);
        if (!is_win)
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        int looks = 0, helped = 0, found = 0;
        double longest = 0;
        while (!flags[0]) {
            double t = now();
            found = look(name);
            t = now() - t;
            looks++;
            if (found)
                break;
            if (t > 4e-6 && helped < LOOKS)
                took[helped++] = t;
            longest = t > longest ? t : longest;
        }
        while (!flags[0])
            ;
        busy(1e-3); /* it is there */
        if (!found && (is_probe || is_win))
            found = look(name); /* these poll after they have looked */
        double t = now();
        if (!found)
            found = look(name);
        t = now() - t;
        CHECK(found);
        flags[1] = 1;
        qsort(took, (size_t) helped, sizeof *took, by_value);
        printf("%d looks, longest %.1f, median %.1f, last %.1f\n", looks, 1e6 * longest,
               helped ? 1e6 * took[helped / 2] : 0, 1e6 * t);
        if (!strcmp(name, "iprobe"))
            MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (!strcmp(name, "improbe"))
            MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        else if (!strcmp(name, "get_status"))
            MPI_Wait(requests, MPI_STATUS_IGNORE);
        if (!is_win)
            CHECK(value == 42);
    }
    MPI_Win_free(&shared);
    MPI_Win_free(&win);
    MPI_Group_free(&world);
    MPI_Group_free(&peer);
    return end();
}
