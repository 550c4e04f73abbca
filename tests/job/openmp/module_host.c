/* SPDX-License-Identifier: MIT
 *
 * A program that knows MPI and not OpenMP: the module that it loads (argv[1]) brings that, for itself alone or, with
 * `global`, for all. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int me, ranks, is_global = argc > 2 && strcmp(argv[2], "global") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    void *module = dlopen(argv[1], RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!module) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*most_threads)(void) = (int (*)(void)) dlsym(module, "most_threads");
    int (*numbers)(int) = (int (*)(int)) dlsym(module, "numbers");
    for (int turn = 0; turn < 10; turn++) {
        if (me + 1 < ranks || ranks == 1) {
            const int most = most_threads(), there = numbers(is_global);
            if (me == 0 && turn == 9)
                printf("%s, told %d\n", there == most ? "right" : "wrong", most);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
