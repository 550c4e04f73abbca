/* SPDX-License-Identifier: MIT
 *
 * looked_up: a module that looks MPI's functions up by dlsym(), which goes past Workshare. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef OPEN_MPI
#define LIBRARY "libmpi.so.40"
#elif defined MPI_ABI_VERSION && MPI_ABI_VERSION > 0
#define LIBRARY "libmpi_abi.so.1"
#else
#define LIBRARY "libmpich.so.12"
#endif

int main(int argc, char **argv)
{
    void *mpi = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    if (!mpi) {
        puts(dlerror());
        return 1;
    }
    int rank = 0, sum = 0;
    ((int (*)(int *, char ***)) dlsym(mpi, "MPI_Init"))(&argc, &argv);
    ((int (*)(MPI_Comm, int *)) dlsym(mpi, "MPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
    ((int (*)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm)) dlsym(mpi, "MPI_Allreduce"))(
        &rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("sum %d\n", sum);
    ((int (*)(void)) dlsym(mpi, "MPI_Finalize"))();
    return 0;
}
