/* SPDX-License-Identifier: MIT
 *
 * A tree of tasks whose levels two compilers have compiled in turn: each waits for tasks that the other's code has put,
 * and that put tasks themselves. Compiled twice, the second time with -DODD. */
#include "test.h"

#ifdef ODD
#define MINE odd
#define OTHERS even
#else
#define MINE even
#define OTHERS odd
#endif

long even(int depth), odd(int depth);

long MINE(int depth)
{
    long a = 0, b = 0, c = 0;
    if (!depth)
        return 1;
#pragma ws task shared(a) depend(out : a) if(depth % 5)
    a = OTHERS(depth - 1);
#pragma ws taskgroup
    {
#pragma ws task shared(b) final(depth == 2)
        b = OTHERS(depth - 1);
    }
#pragma ws task shared(a, c) depend(in : a)
    c = a;
#pragma ws taskwait
    busy(2e-6);
    return 1 + c + b;
}

#ifndef ODD
int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int i = 0; i < 20; i++) {
        if (rank == 0) {
            CHECK(even(9) == 1023);
            CHECK(odd(8) == 511);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
#endif
