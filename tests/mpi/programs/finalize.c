/* SPDX-License-Identifier: MIT
 *
 * finalize: all ranks but one wait in MPI_Finalize, and help that one. It sees its guests before it comes, so that a wait that does
 * not help is a failure, not a slow run. Nobody may wait before. */
#include "test.h"

int main(int argc, char **argv)
{
    enum { N = 2000 };
    static volatile int guests_seen;
    begin(&argc, &argv);
    double deadline = now() + 10;
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
