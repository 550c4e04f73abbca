/* SPDX-License-Identifier: MIT
 * Calls of MPI that a shared loop cannot make. */
#ifdef __cplusplus
extern "C" {
#endif
int MPI_Barrier(int);
int PMPI_Allreduce(const void *, void *, int, int, int, int);
int MPI_Ibcast(void *, int, int, int, int, int *);
int MPI_Comm_dup(int, int *);
int MPI_Put(const void *, int, int, int, long, int, int, int);
int MPI_Win_fence(int, int);
int MPI_Finalize(void);
int MPI_Send(const void *, int, int, int, int, int);
int MPI_File_open(int, const char *, int, int, int *);
void exit(int);
#ifdef __cplusplus
}
#endif
#define MPI_COMM_WORLD 0x44000000
#define MPI_COMM_SELF 0x44000001

void collectives(int n, double *a)
{
    int request, other;
#pragma ws for
    for (int i = 0; i < n; i++) {
        MPI_Send(a + i, 1, 0, 0, 0, MPI_COMM_WORLD);
        if (i == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        PMPI_Allreduce(a, a + i, 1, 0, 0, MPI_COMM_WORLD);
        MPI_Ibcast(a, 1, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Comm_dup(MPI_COMM_SELF, &other);
    }
}

void one_sided(int n, double *a, int window)
{
#pragma ws for
    for (int i = 0; i < n; i++) {
        MPI_Put(a + i, 1, 0, 0, 0, 1, 0, window);
        MPI_Win_fence(0, window);
    }
}

static void third(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}
static void second(int i)
{
    if (i)
        third();
}
static void stop(void)
{
    MPI_Finalize();
    exit(1);
}

void through_functions(int n)
{
#pragma ws for
    for (int i = 0; i < n; i++) {
        second(i);
        if (i < 0)
            stop();
    }
}

void end(int n)
{
#pragma ws for
    for (int i = 0; i < n; i++)
        if (i == 3)
            MPI_Finalize();
}

void files(int n)
{
#pragma ws for
    for (int i = 0; i < n; i++) {
        int file;
        MPI_File_open(MPI_COMM_SELF, "own", 0, 0, &file);
        MPI_File_open(MPI_COMM_WORLD, "all", 0, 0, &file);
    }
}

static void all(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void sections(void)
{
#pragma ws sections
    {
        MPI_Finalize();
#pragma ws section
        all();
    }
}
