/* SPDX-License-Identifier: MIT
 *
 * tiny_regions REGIONS: rank 1 runs that many loops of 1 to 16 cheap iterations, now and then a long one, while all
 * others wait for it; then all compute the same for a while. Every sum must be right. */
#include "test.h"

static long loop(int n, double each)
{
    long sum = 0;
#pragma ws for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        sum += i + 1;
        if (each > 0)
            busy(each);
    }
    return sum;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long regions = atol(argv[1]);
    if (rank == 1 % ranks)
        for (long r = 0; r < regions; r++) {
            int n = 1 + (int) (r % 16);
            CHECK(loop(n, 0) == n * (n + 1L) / 2);
            if (r % 10000 == 0)
                CHECK(loop(200, 2e-6) == 200 * 201L / 2);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < 100; r++) { /* balanced */
        CHECK(loop(100, 1e-6) == 100 * 101L / 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
