/* SPDX-License-Identifier: MIT
 *
 * racy WHAT: an error that the sanitizers must report, or their silence about the other programs would mean nothing.
 *    race      the iterations of a shared loop write one variable
 *    overrun   they write beyond an array */
#include "test.h"

enum { N = 20000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const int overrun = !strcmp(argv[1], "overrun");
    long *data = calloc(N, sizeof *data), count = 0;
    if (rank == 1)
#pragma ws for schedule(dynamic, 4)
        for (int i = 0; i < N + overrun; i++) {
            if (i < 4000)
                busy(5e-6);
            data[i]++;
            if (!overrun)
                count++;
        }
    CHECK(count >= 0);
    free(data);
    return end();
}
