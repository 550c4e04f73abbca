/* SPDX-License-Identifier: MIT
 *
 * Three independent parts of rank 0's work as sections. Rank 1 waits in the barrier and runs some of them.
 *
 * Compile: mpicc -fws -O3 sections.c -o sections
 * Run:     mpirun -workshare -n 2 ./sections
 * Prints:  primes below 200000: 17984, twins: 2160, largest gap: 86
 */
#include <mpi.h>
#include <stdio.h>

enum { limit = 200000 };

static int is_prime(int n)
{
    for (int d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return n > 1;
}

static int count(void)
{
    int found = 0;
    for (int n = 2; n < limit; n++)
        found += is_prime(n);
    return found;
}

static int count_twins(void)
{
    int found = 0;
    for (int n = 2; n + 2 < limit; n++)
        found += is_prime(n) && is_prime(n + 2);
    return found;
}

static int largest_gap(void)
{
    int last = 2, gap = 0;
    for (int n = 3; n < limit; n++)
        if (is_prime(n)) {
            gap = n - last > gap ? n - last : gap;
            last = n;
        }
    return gap;
}

int main(int argc, char **argv)
{
    int me, primes, twins, gap;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) {
#pragma ws sections name("primes")
        {
            primes = count();
#pragma ws section
            twins = count_twins();
#pragma ws section
            gap = largest_gap();
        }
        printf("primes below %d: %d, twins: %d, largest gap: %d\n", limit, primes, twins, gap);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
