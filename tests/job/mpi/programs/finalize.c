/* SPDX-License-Identifier: MIT
 *
 * finalize: all ranks but one wait in MPI_Finalize, and help that one. It sees its guests before it comes, so that a
 * wait that does not help is a failure, not a slow run. Nobody may wait before.
 * finalize late RANK: MPI_Init and MPI_Finalize, into which that rank comes when the others have been there for a
 * while. finalize messages: each rank puts and sends to all others between them. */
#include "test.h"

static void put_and_send(void)
{
    int *memory, *got = malloc(sizeof(int) * (size_t) ranks);
    MPI_Win window;
    MPI_Win_allocate((MPI_Aint) sizeof(int) * ranks, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    for (int to = 0; to < ranks; to++)
        MPI_Put(&rank, 1, MPI_INT, to, rank, 1, MPI_INT, window);
    MPI_Win_unlock_all(window);
    MPI_Alltoall(memory, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int from = 0; from < ranks; from++)
        CHECK(memory[from] == from);
    MPI_Win_free(&window);
    free(got);
}

int main(int argc, char **argv)
{
    enum { N = 2000 };
    static volatile int guests_seen;
    begin(&argc, &argv);
    if (argc > 1) {
        if (!strcmp(argv[1], "messages"))
            put_and_send();
        else if (rank == atoi(argv[2]))
            usleep(200000);
        MPI_Finalize();
        return failures != 0;
    }
    double deadline = now() + PATIENCE;
    while (rank == 1 && !guests_seen && now() < deadline) {
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
    if (rank == 1) {
        CHECK(guests_seen);
        printf("%s\n", failures ? "wrong" : "right");
    }
    MPI_Finalize();
    return failures != 0;
}
