/* SPDX-License-Identifier: MIT */
void g(int);
struct thing { int x; };

void chunks(int n, double d, int *p, struct thing s)
{
#pragma ws for schedule(dynamic, d)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(dynamic, 1.5) steal_schedule(guided, 2.0f)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(static, p)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for steal_schedule(static, s)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(static, 0)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(static, -1) steal_schedule(dynamic, 4 - 4)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(static, unknown)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(static, 1 +)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(static, )
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(static, 1, 2)
    for (int i = 0; i < n; i++)
        g(i);
}

void kinds(int n)
{
#pragma ws for schedule(runtime, n) steal_schedule(auto, 4)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(fastest, 3)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(4)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule()
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(static 4)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(monotonic: dynamic)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for steal_schedule(nonmonotonic: dynamic, 4)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(simd, monotonic: static)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(static) schedule(dynamic)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for steal_schedule(static, 2) steal_schedule(static, 2)
    for (int i = 0; i < n; i++)
        g(i);
}

void no_chunk(int n)
{
#pragma ws for schedule(auto, ) steal_schedule(runtime, (n))
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(nonmonotonic: runtime)
    for (int i = 0; i < n; i++)
        g(i);
}

/* Never called, but checked as well. */
static inline void unused(int n)
{
#pragma ws for schedule(guided, -3)
    for (int i = 0; i < n; i++)
        g(i);
}
