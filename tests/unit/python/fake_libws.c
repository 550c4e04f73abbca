/* SPDX-License-Identifier: MIT
 *
 * libws's functions for Python's module, which print that they were called. Loaded first, as libws is. */
#include <stdio.h>
#include <string.h>

void ws_wait_begin(void) { puts("wait begins"); }
void ws_wait_end(void) { puts("wait ends"); }
void ws_phase_begin(const char *name) { printf("phase %s begins\n", name); }
void ws_phase_end(void) { puts("phase ends"); }

int ws_enable(int on)
{
    static int before = 1;
    const int was = before;
    before = on;
    return was;
}

/* An old one, which knows four fields. */
int ws_metrics(void *out, size_t size)
{
    const double values[] = { 2.5, 1.5, 1, 0.5 };
    const unsigned long long filled = 8 + sizeof values;
    if (size < filled)
        return -1;
    memset(out, 0, size);
    memcpy(out, &filled, 8);
    memcpy((char *) out + 8, values, sizeof values);
    return 0;
}
