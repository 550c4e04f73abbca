/* SPDX-License-Identifier: MIT
 *
 * Threads, processes that come later, and sessions. */
#include "same.h"

#include <pthread.h>

static void *thread_of(void *argument)
{
    MPI_Comm comm = ((MPI_Comm *) argument)[0];
    long sum = 0;
    for (int i = 0; i < 50; i++) {
        MPI_Comm copy;
        int in = i + rank, out, got;
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
        sum += out;
        MPI_Sendrecv(&in, 1, MPI_INT, (rank + 1) % ranks, 1, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, comm,
                     MPI_STATUS_IGNORE);
        sum += got;
        if (i % 10 == 0) {
            MPI_Comm_dup(comm, &copy);
            MPI_Barrier(copy);
            MPI_Comm_free(&copy);
        }
    }
    return (void *) sum;
}

void threads(void)
{
    enum { N = 4 };
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) {
        tell("no threads");
        return;
    }
    pthread_t thread[N];
    MPI_Comm comm[N];
    for (int i = 0; i < N; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    }
    for (int i = 0; i < N; i++)
        pthread_create(&thread[i], NULL, thread_of, &comm[i]);
    for (int i = 0; i < N; i++) {
        void *sum;
        pthread_join(thread[i], &sum);
        tell("%ld", (long) sum);
        MPI_Comm_free(&comm[i]);
    }
}

void dynamic(void)
{
    MPI_Comm children, all;
    int codes[2], sum = 0, one = 1;
    MPI_Comm_get_parent(&all);
    char name[] = "child", *words[] = {name, NULL};
    if (MPI_Comm_spawn(self, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes) != MPI_SUCCESS)
        return;
    MPI_Intercomm_merge(children, 0, &all);
    for (int turn = 0; turn < 4; turn++) {
        late(turn);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
        tell("%d", sum);
    }
    if (rank == 0) {
        MPI_Send(&one, 1, MPI_INT, 0, 1, children);
        MPI_Recv(&one, 1, MPI_INT, 1, 2, children, MPI_STATUS_IGNORE);
        tell("from a child %d", one);
    }
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm half, other;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (rank % 2 == 0) {
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        }
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
    } else {
        if (rank == 1)
            MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
    }
    MPI_Barrier(other);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other);
    tell("the others %d", sum);
    MPI_Comm_disconnect(&other);
    MPI_Comm_free(&half);
}

void child(void)
{
    MPI_Comm parent, all;
    int sum, one = 1;
    MPI_Comm_get_parent(&parent);
    MPI_Intercomm_merge(parent, 1, &all);
    for (int turn = 0; turn < 4; turn++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    one = 41 + rank;
    if (rank == 0)
        MPI_Recv(&one, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    else
        MPI_Send(&one, 1, MPI_INT, 0, 2, parent);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
}

#if MPI_VERSION >= 4
/* A communicator of a session, its collective calls and messages. */
void in_session(const char *tag)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) {
        tell("no session");
        return;
    }
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int got = -1;
    for (int turn = 0; turn < 3; turn++) {
        late(turn);
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 1, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, comm,
                     MPI_STATUS_IGNORE);
        tell("from %d", got);
    }
    all_collectives(tag, comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}
void sessions(void)
{
    in_session("beside");
    in_session("again");
}
#endif
