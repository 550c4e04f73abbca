/* SPDX-License-Identifier: MIT
 *
 * An interposer that initializes MPI without calling what stands behind it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

int MPI_Init(int *argc, char ***argv)
{
    static const char *const names[] = {"libmpi.so.40", "libmpi_abi.so.1", "libmpich.so.12"};
    void *mpi = NULL;
    for (int i = 0; i < 3 && !mpi; i++)
        mpi = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY);
    int (*const init)(int *, char ***) = (int (*)(int *, char ***)) dlsym(mpi, "PMPI_Init");
    return init ? init(argc, argv) : MPI_ERR_OTHER;
}
