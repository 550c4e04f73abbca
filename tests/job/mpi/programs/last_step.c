/* SPDX-License-Identifier: MIT
 *
 * Loops whose last step leaves the type of their variable, and which need to know where it is then: they end with a
 * message.
 *
 * last_step lastprivate|lastprivate_inside|simd */
#include "test.h"

#include <limits.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    /* -2 and 1 times 10^9 */
    const int low = -argc * 1000000000, high = INT_MAX - argc + 2, step = 1000000000 * (argc / 2);
    const unsigned long most = ULONG_MAX - (unsigned long) argc + 2;
    int last = 0, n = 0;
    if (strcmp(what, "lastprivate") == 0) {
#pragma ws for lastprivate(last)
        for (int i = low; i < high; i += step)
            last = i;
    } else if (strcmp(what, "lastprivate_inside") == 0) {
#pragma ws for lastprivate(last)
        for (unsigned long i = most - 5; i < most; i += 4)
            last = (int) (most - i);
    } else if (strcmp(what, "simd") == 0) {
#pragma ws for simd reduction(+ : n)
        for (int i = low; i < high; i += step)
            n++;
    }
    printf("%s: last %d, %d iterations\n", what, last, n);
    return end();
}
