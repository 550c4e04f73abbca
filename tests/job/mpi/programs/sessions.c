/* SPDX-License-Identifier: MIT
 *
 * sessions ORDER: MPI's sessions, with and without MPI_Init. All ranks but one wait, in a barrier and then in the last
 * call that ends MPI, and help that one, which sees its guests before it comes to either: a wait that does not help is
 * a failure, not a slow run.
 *    only            one session, no MPI_Init
 *    overlapping     a second session begins within the first, and outlives it
 *    world_first     MPI_Init, then a session that outlives MPI_Finalize
 *    session_first   a session, then MPI_Init; MPI_Finalize comes last
 *    either          rank 0 as session_first, the others as world_first */
#include "test.h"

/* Every iteration once, some of them on guests. */
static void loop(MPI_Comm comm, int owner, const char *wait)
{
    enum { N = 2000 };
    static volatile int guests_seen;
    guests_seen = 0;
    for (double deadline = now() + PATIENCE; rank == owner && !guests_seen && now() < deadline;) {
        int sum = 0;
#pragma ws for reduction(+ : sum)
        for (int i = 0; i < N; i++) {
            busy(5e-6);
            sum += 1;
            if (on_guest())
                guests_seen = 1;
        }
        CHECK(sum == N);
    }
    if (rank == owner && !guests_seen)
        printf("nobody helped from %s\n", wait);
    CHECK(rank != owner || guests_seen);
    if (comm != MPI_COMM_NULL)
        MPI_Barrier(comm);
}

static void open_session(MPI_Session *session, MPI_Comm *comm, const char *tag)
{
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
    MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(*comm, &rank);
    MPI_Comm_size(*comm, &ranks);
}

static void close_session(MPI_Session *session, MPI_Comm *comm)
{
    MPI_Comm_free(comm);
    MPI_Session_finalize(session);
}

/* Until the end nobody waits for the owner in anything but the last call. */
static void last_loop(void)
{
    loop(MPI_COMM_NULL, ranks - 1, "the last call");
    if (rank == ranks - 1)
        printf("%s\n", failures ? "wrong" : "right");
}

int main(int argc, char **argv)
{
    const char *order = argc > 1 ? argv[1] : "only";
    MPI_Session first, second;
    MPI_Comm comm, other;

    if (!strcmp(order, "either"))
        order = !strcmp(getenv("PMI_RANK"), "0") ? "session_first" : "world_first";
    if (!strcmp(order, "only")) {
        open_session(&first, &comm, "only");
        loop(comm, 0, "a barrier");
        MPI_Comm_free(&comm);
        last_loop();
        MPI_Session_finalize(&first);
    } else if (!strcmp(order, "overlapping")) {
        open_session(&first, &comm, "first");
        loop(comm, 0, "the first session");
        open_session(&second, &other, "second");
        close_session(&first, &comm);
        loop(other, 1, "the second session");
        MPI_Comm_free(&other);
        last_loop();
        MPI_Session_finalize(&second);
    } else if (!strcmp(order, "world_first")) {
        begin(&argc, &argv);
        loop(MPI_COMM_WORLD, 0, "the world");
        open_session(&first, &comm, "session");
        MPI_Finalize();
        loop(comm, 1, "the session");
        MPI_Comm_free(&comm);
        last_loop();
        MPI_Session_finalize(&first);
    } else if (!strcmp(order, "session_first")) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
        begin(&argc, &argv);
        loop(MPI_COMM_WORLD, 0, "the world");
        MPI_Session_finalize(&first);
        open_session(&first, &comm, "session");
        loop(comm, 1, "the session");
        close_session(&first, &comm);
        last_loop();
        MPI_Finalize();
    }
    return failures != 0;
}
