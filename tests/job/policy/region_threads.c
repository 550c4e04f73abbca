/* SPDX-License-Identifier: MIT
 *
 * How many threads an OpenMP region gets that asks for none, and one that asks for 4. With an argument, in a child of
 * fork(). */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(void)
{
    int usual = 0, four = 0;
    #pragma omp parallel
    {
        #pragma omp single
        usual = omp_get_num_threads();
    }
    #pragma omp parallel num_threads(4)
    {
        #pragma omp single
        four = omp_get_num_threads();
    }
    #pragma ws for
    for (int i = 0; i < 1; i++) /* so that libws is linked, before libgomp */
        four += 0;
    printf("%d %d\n", usual, four);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc == 1)
        tell();
    else {
        const pid_t child = fork();
        if (child == 0) {
            tell();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    MPI_Finalize();
    return 0;
}
