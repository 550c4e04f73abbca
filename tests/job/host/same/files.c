/* SPDX-License-Identifier: MIT
 *
 * Files. */
#include "same.h"

#include <stdio.h>
#include <unistd.h>

void files(void)
{
    MPI_File file;
    char name[300];
    int data[4] = {rank, 1, 2, 3}, back[4] = {0};
    snprintf(name, sizeof name, "/tmp/ws-same-%d-%d", (int) getuid(), (int) getppid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    tell("missing %d",
         MPI_File_open(MPI_COMM_WORLD, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < 3; turn++) {
        late(turn);
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
        late(turn + 1);
        MPI_File_write_at_all(file, rank * (MPI_Offset) sizeof data, data, 4, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_read_at_all(file, (rank + 1) % ranks * (MPI_Offset) sizeof data, back, 4, MPI_INT, MPI_STATUS_IGNORE);
        tell("%d %d", back[0], back[3]);
        MPI_File_close(&file);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
}

/* Files with split collective calls, shared pointers, views and requests. */
void io(void)
{
    enum { N = 1000 };
    MPI_File file;
    MPI_Request r;
    MPI_Offset at;
    MPI_Datatype every;
    char name[300];
    static int data[N], back[N];
    snprintf(name, sizeof name, "/tmp/ws-io-%d-%d", (int) getuid(), (int) getppid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        data[i] = rank * N + i;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_Type_vector(N, 1, ranks, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(file, rank * (MPI_Offset) sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
    late(0);
    MPI_File_write_all_begin(file, data, N, MPI_INT);
    MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
    late(1);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_iread_all(file, back, N, MPI_INT, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    tell("view %d %d", back[0], back[N - 1]);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_set_size(file, 0);
    late(2);
    for (int turn = 0; turn < 3; turn++) {
        late(turn);
        MPI_File_write_ordered(file, data, turn + rank + 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_File_get_position_shared(file, &at);
    tell("ordered %d", (int) at);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_Barrier(MPI_COMM_WORLD); /* of Open MPI 5's ranks some begin to read before that */
    MPI_File_read_ordered(file, back, rank + 1, MPI_INT, MPI_STATUS_IGNORE);
#ifndef MPICH_VERSION /* rank 1 of MPICH 4.0.2 alone read from a wrong place in 16 of 70 jobs */
    tell("of it %d %d", back[0], back[rank]);
#endif
    MPI_File_iwrite_at(file, 100 * rank, data, 10, MPI_INT, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, 100 * ((rank + 1) % ranks), back, 10, MPI_INT, MPI_STATUS_IGNORE);
    tell("at %d %d", back[0], back[9]);
    MPI_File_close(&file);
    MPI_Type_free(&every);
}
