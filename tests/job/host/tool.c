/* SPDX-License-Identifier: MIT
 *
 * A small tool of the profiling interface: counts calls by their name and prints the counts in MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>

#define CALLS(X)                                                                                                       \
    X(Init, (int *a, char ***b), (a, b))                                                                               \
    X(Init_thread, (int *a, char ***b, int c, int *d), (a, b, c, d))                                                   \
    X(Comm_rank, (MPI_Comm a, int *b), (a, b))                                                                         \
    X(Comm_dup, (MPI_Comm a, MPI_Comm *b), (a, b))                                                                     \
    X(Comm_free, (MPI_Comm * a), (a))                                                                                  \
    X(Comm_split_type, (MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm *e), (a, b, c, d, e))                           \
    X(Send, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f), (a, b, c, d, e, f))                      \
    X(Isend, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))  \
    X(Irecv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))        \
    X(Recv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status *g), (a, b, c, d, e, f, g))          \
    X(Iprobe, (int a, int b, MPI_Comm c, int *d, MPI_Status *e), (a, b, c, d, e))                                      \
    X(Wait, (MPI_Request * a, MPI_Status * b), (a, b))                                                                 \
    X(Waitall, (int a, MPI_Request *b, MPI_Status *c), (a, b, c))                                                      \
    X(Request_get_status, (MPI_Request a, int *b, MPI_Status *c), (a, b, c))                                           \
    X(Barrier, (MPI_Comm a), (a))                                                                                      \
    X(Allgather, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g),                   \
      (a, b, c, d, e, f, g))                                                                                           \
    X(Allreduce, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f))

#define COUNT(name, parameters, arguments)                                                                             \
    static int count_##name;                                                                                           \
    int MPI_##name parameters                                                                                          \
    {                                                                                                                  \
        count_##name++;                                                                                                \
        return PMPI_##name arguments;                                                                                  \
    }
CALLS(COUNT)

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char text[1000];
    int length = 0;
#define SHOW(name, parameters, arguments)                                                                              \
    if (count_##name)                                                                                                  \
        length += snprintf(text + length, sizeof text - (size_t) length, " %s=%d", #name, count_##name);
    CALLS(SHOW)
    printf("tool %d:%s\n", rank, text);
    fflush(stdout);
    return PMPI_Finalize();
}
