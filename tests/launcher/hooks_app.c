/* SPDX-License-Identifier: MIT
 *
 * Rank 1 waits in MPI in every way there is a hook for, each time for a message or an epoch of rank 0 that comes late;
 * prints the ways in which it was not told that it is blocked. Then polls only: nothing may be told but, with FAKE_POLL set,
 * each look that found nothing.
 * Argument: `multiple` for MPI_THREAD_MULTIPLE.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fake_counts {
    unsigned long blocked, waits, polled, taken, rings[16];
};

static struct fake_counts *counts;
static struct fake_counts before;
static int rank, wrong;
static MPI_Comm comm;           /* rank 0 and 1 of the world, the other way round */
static MPI_Win win;

static void late(void)
{
    struct timespec ms20 = { 0, 20000000 };
    nanosleep(&ms20, NULL);
}

static void begin(void)
{
    MPI_Barrier(comm);
    before = *counts;
}

/* Receives, and says that it has taken something in, which the sender waits for. */
static void receive(const char *what, void *buffer, int count, MPI_Datatype type, int from)
{
    unsigned long taken = counts->taken;
    MPI_Recv(buffer, count, type, from, 0, comm, MPI_STATUS_IGNORE);
    if (counts->taken == taken) {
        printf("%s: the receiver does not say so\n", what);
        wrong = 1;
    }
}

static void look(const char *what, int found, int polled)
{
    if (found)
        return;
    if ((counts->polled > before.polled) != polled) {
        printf("%s: polled %s\n", what, polled ? "not called" : "called");
        wrong = 1;
    }
    before.polled = counts->polled;
}

static void end(const char *what, int told)
{
    int blocked = counts->blocked > before.blocked, waits = counts->waits > before.waits;
    if (rank == 1 && (blocked != told || waits != told)) {
        printf("%s: blocked %s, unblocked %s\n", what, blocked ? "called" : "not called", waits ? "called" : "not called");
        wrong = 1;
    }
    if (rank == 0 && counts->rings[1] == before.rings[1]) {
        printf("%s: rank 1 was not rung\n", what);
        wrong = 1;
    }
}

int main(int argc, char **argv)
{
    int provided, x = 0, other, flag, index, n, size;
    char big[1 << 20];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Message message;
    MPI_Group world, peer;
    MPI_Aint here = sizeof(int);
    int *memory;

    if (argc > 1 && !strcmp(argv[1], "multiple"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        return 2;
    other = rank;               /* the peer's rank in comm */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    counts = dlsym(RTLD_DEFAULT, "fake_counts");
    if (!counts) {
        if (rank == 0)
            puts("no stand-in for libws");
        MPI_Comm_free(&comm);
        MPI_Finalize();
        return 0;
    }

#define SEND_LATE() (late(), MPI_Send(&x, 1, MPI_INT, other, 0, comm))
#define ROUND(what, sender, receiver) \
    do { begin(); if (rank == 0) { sender; } else { receiver; } end(what, 1); } while (0)
#define RECEIVE() MPI_Recv(&x, 1, MPI_INT, other, 0, comm, MPI_STATUS_IGNORE)
#define POST() MPI_Irecv(&x, 1, MPI_INT, other, 0, comm, requests); requests[1] = MPI_REQUEST_NULL

    ROUND("Recv", SEND_LATE(), RECEIVE());
    ROUND("Wait", SEND_LATE(), POST(); MPI_Wait(requests, MPI_STATUS_IGNORE));
    ROUND("Waitall", SEND_LATE(), POST(); MPI_Waitall(2, requests, statuses));
    ROUND("Waitany", SEND_LATE(), POST(); MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
    ROUND("Waitsome", SEND_LATE(), POST(); MPI_Waitsome(2, requests, &n, &index, statuses));
    ROUND("Probe", SEND_LATE(), MPI_Probe(other, 0, comm, MPI_STATUS_IGNORE); RECEIVE());
    ROUND("Mprobe", SEND_LATE(), MPI_Mprobe(other, 0, comm, &message, MPI_STATUS_IGNORE);
          MPI_Mrecv(&x, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    ROUND("Sendrecv", late(); MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 0, other, 0, comm, MPI_STATUS_IGNORE),
          MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 0, other, 0, comm, MPI_STATUS_IGNORE));
    ROUND("Barrier", late(); MPI_Barrier(comm), MPI_Barrier(comm));
    ROUND("Bcast", late(); MPI_Bcast(&x, 1, MPI_INT, 1, comm), MPI_Bcast(&x, 1, MPI_INT, 1, comm));
    ROUND("Ssend", late(); receive("Ssend", &x, 1, MPI_INT, MPI_ANY_SOURCE); MPI_Send(&x, 1, MPI_INT, other, 1, comm),
          MPI_Ssend(&x, 1, MPI_INT, other, 0, comm);
          MPI_Recv(&x, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE));
    ROUND("Send of 1 MiB", late(); receive("Send of 1 MiB", big, sizeof(big), MPI_CHAR, other);
          MPI_Send(&x, 1, MPI_INT, other, 1, comm),
          MPI_Send(big, sizeof(big), MPI_CHAR, other, 0, comm);
          MPI_Recv(&x, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE));

    MPI_Comm_group(comm, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    MPI_Win_allocate(here, sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
    ROUND("Win_lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win); MPI_Barrier(comm); late(); MPI_Win_unlock(1, win),
          MPI_Barrier(comm); MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win); MPI_Get(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
          MPI_Win_unlock(1, win));
    ROUND("Win_fence", late(); MPI_Win_fence(0, win), MPI_Win_fence(0, win));
    ROUND("Win_start", late(); MPI_Win_post(peer, 0, win); MPI_Win_wait(win),
          MPI_Win_start(peer, 0, win); MPI_Win_complete(win));
    ROUND("Win_wait", MPI_Win_start(peer, 0, win); late(); MPI_Win_complete(win),
          MPI_Win_post(peer, 0, win); MPI_Win_wait(win));
    MPI_Win_lock_all(0, win);
    ROUND("Win_flush", late(); SEND_LATE(), MPI_Put(&x, 1, MPI_INT, other, 0, 1, MPI_INT, win); MPI_Win_flush(other, win); RECEIVE());
    MPI_Win_unlock_all(win);

    /* Who only polls is not blocked. The rounds before left nothing open, so the counts must stand still. */
    begin();
    if (rank == 0) {
        SEND_LATE();
        SEND_LATE();
    } else {
        POST();
        for (flag = 0; !flag;)
            MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;)
            MPI_Iprobe(other, 0, comm, &flag, MPI_STATUS_IGNORE);
        if (counts->blocked != before.blocked) {
            puts("blocked called from Test or Iprobe");
            wrong = 1;
        }
        RECEIVE();
        POST();
#define LOOK(call, flag, nothing) (call, look(#call, (flag) != (nothing), getenv("FAKE_POLL") != NULL))
        before = *counts;
        LOOK(MPI_Test(requests, &flag, MPI_STATUS_IGNORE), flag, 0);
        LOOK(MPI_Testall(2, requests, &flag, statuses), flag, 0);
        LOOK(MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE), flag, 0);
        LOOK(MPI_Testsome(2, requests, &n, &index, statuses), n, 0);
        LOOK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE), flag, 0);
        LOOK(MPI_Iprobe(other, 1, comm, &flag, MPI_STATUS_IGNORE), flag, 0);
        LOOK(MPI_Improbe(other, 1, comm, &flag, &message, MPI_STATUS_IGNORE), flag, 0);
        MPI_Win_post(peer, 0, win);
        LOOK(MPI_Win_test(win, &flag), flag, 0);
        MPI_Ssend(&x, 1, MPI_INT, other, 2, comm); /* rank 0 goes on */
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        MPI_Win_wait(win);
    }
    if (rank == 0) {
        MPI_Recv(&x, 1, MPI_INT, other, 2, comm, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, other, 0, comm);
        MPI_Win_start(peer, 0, win);
        MPI_Win_complete(win);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&peer);
    MPI_Group_free(&world);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return wrong;
}
