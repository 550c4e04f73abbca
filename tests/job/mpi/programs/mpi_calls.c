/* SPDX-License-Identifier: MIT
 *
 * mpi_calls HOW: loops whose iterations call MPI, in a program that says MPI_Init. Rank 1 waits and lends; rank 2,
 * where there is one, is the other end.
 *    ring         blocking calls with rank 2
 *    nonblocking  requests started and completed in an iteration, or completed in another one
 *    self         messages of the rank to itself
 *    files        MPI-IO on MPI_COMM_SELF
 *    level        prints the level of thread support */
#include "test.h"

enum { N = 600, STOP = 1 << 20 };
static int on_guests, wrong;

static void serve(void)
{
    for (;;) {
        MPI_Status status;
        int value;
        MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP)
            return;
        value *= 2;
        MPI_Send(&value, 1, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD);
    }
}

static int exchange(int i)
{
    int answer = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, ranks - 1, i, &answer, 1, MPI_INT, ranks - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return answer == 2 * i;
}

static void ring(void)
{
#pragma ws for reduction(+ : on_guests, wrong)
    for (int i = 0; i < N; i++) {
        busy(20e-6);
        wrong += !exchange(i);
        on_guests += on_guest();
    }
}

static void nonblocking(void)
{
    static MPI_Request sends[N], receives[N];
    static int values[N], answers[N];
#pragma ws for reduction(+ : on_guests)
    for (int i = 0; i < N; i++) {
        busy(10e-6);
        values[i] = i;
        MPI_Irecv(&answers[i], 1, MPI_INT, ranks - 1, i, MPI_COMM_WORLD, &receives[i]);
        MPI_Isend(&values[i], 1, MPI_INT, ranks - 1, i, MPI_COMM_WORLD, &sends[i]);
        if (i % 3 == 0)
            MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
        on_guests += on_guest();
    }
#pragma ws for reduction(+ : on_guests, wrong)
    for (int i = N - 1; i >= 0; i--) {
        MPI_Request both[2] = {sends[i], receives[i]};
        int done = 0;
        busy(10e-6);
        if (i % 2)
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        else
            while (!done)
                MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
        wrong += answers[i] != 2 * i;
        on_guests += on_guest();
    }
}

static void self(void)
{
#pragma ws for reduction(+ : on_guests, wrong)
    for (int i = 0; i < N; i++) {
        int sent = 3 * i, got = -1;
        MPI_Request request;
        busy(20e-6);
        MPI_Irecv(&got, 1, MPI_INT, 0, i, MPI_COMM_SELF, &request);
        MPI_Send(&sent, 1, MPI_INT, 0, i, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += got != 3 * i;
        on_guests += on_guest();
    }
}

static void files(const char *name)
{
    MPI_File file;
    CHECK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
#pragma ws for reduction(+ : on_guests, wrong)
    for (int i = 0; i < N; i++) {
        int block[4] = {i, i + 1, i + 2, i + 3}, back[4] = {0};
        MPI_Status status;
        busy(10e-6);
        wrong += MPI_File_write_at(file, (MPI_Offset) (i * sizeof block), block, 4, MPI_INT, &status) != MPI_SUCCESS;
        wrong += MPI_File_read_at(file, (MPI_Offset) (i * sizeof back), back, 4, MPI_INT, &status) != MPI_SUCCESS;
        wrong += memcmp(block, back, sizeof block) != 0;
        on_guests += on_guest();
    }
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    int level;
    const char *how = argv[1];
    begin(&argc, &argv);
    MPI_Query_thread(&level);
    if (!strcmp(how, "level")) {
        if (rank == 0)
            printf("%s\n", level == MPI_THREAD_MULTIPLE ? "multiple"
                           : level == MPI_THREAD_SINGLE ? "single"
                                                        : "between");
        return end();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        double deadline = now() + PATIENCE;
        do {
            if (!strcmp(how, "ring"))
                ring();
            else if (!strcmp(how, "nonblocking"))
                nonblocking();
            else if (!strcmp(how, "self"))
                self();
            else if (!strcmp(how, "files"))
                files(argv[2]);
        } while (!on_guests && with_workshare && now() < deadline);
        CHECK(wrong == 0);
        CHECK(on_guests > 0 || !with_workshare);
        MPI_Send(&level, 1, MPI_INT, ranks - 1, STOP, MPI_COMM_WORLD);
    } else if (rank == ranks - 1)
        serve();
    return end();
}
