/* SPDX-License-Identifier: MIT
 *
 * What clang, unlike GCC, cannot copy for tasks: arrays whose length is no constant. */
long f(int n)
{
    long list[n], x = 0;
#pragma ws task firstprivate(list)
    list[0]++;
#pragma ws taskgroup task_reduction(+ : list[:n])
    x++;
#pragma ws task in_reduction(+ : list[:n])
    list[0]++;
#pragma ws taskloop reduction(+ : x, list[:n])
    for (int i = 0; i < n; i++)
        list[i]++;
    return x + list[0];
}
