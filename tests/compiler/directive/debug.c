/* SPDX-License-Identifier: MIT
 *
 * For a debugger: run.py stops in the loop, at the line marked `here`. As C and as C++. */
#include <stdio.h>

struct field {
    double *values;
    int scale;
};

__attribute__((noinline)) double weight(int i, int local, double factor)
{
    return i * factor + local;
}

static void smooth(int n, struct field *field, double factor)
{
    int local;
    double first = field->values[0], sum = 0;
#pragma ws for private(local) firstprivate(first) \
    reduction(+ : sum) schedule(dynamic, 4)
    for (int i = 0; i < n; i++) {
        local = 10 * i + field->scale;
        double inner = weight(i, local, factor); /* here */
        field->values[i] = inner + first;
        sum += field->values[i];
    }
    printf("sum %g\n", sum);
}

int main(void)
{
    double values[10] = {0};
    struct field field = {values, 5};
    smooth(10, &field, 2);
    return 0;
}
