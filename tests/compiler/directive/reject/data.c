/* SPDX-License-Identifier: MIT */
void g(int);
struct thing { int x; };
typedef int type;

void lists(int n, int a, int *p, struct thing s)
{
    const int c = 3;
#pragma ws for private(zzz)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for firstprivate(g)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private(type)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for lastprivate(s.x)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private(a) firstprivate(a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for shared(a, a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private(c)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for lastprivate(c)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for lastprivate(conditional: a)
    for (int i = 0; i < n; i++)
        a = i;
#pragma ws for default(none) shared(n)
    for (int i = 0; i < n; i++)
        g(i + a);
#pragma ws for private(3)
    for (int i = 0; i < n; i++)
        g(i);
}

void reductions(int n, int a, double d, struct thing s, int *p, const int c)
{
#pragma ws for reduction(/ : a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(+ a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(+ : s)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(& : d)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(nobody : a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(+ : p)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(+ : p[0 : -1])
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(+ : p[0 : ])
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(+ : c)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(+ : a) reduction(* : a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(task, + : a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(inscan, + : a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for reduction(default, + : a)
    for (int i = 0; i < n; i++)
        g(i);
}

#pragma ws declare reduction(max2 : int : omp_out = other)
#pragma ws declare reduction(plus : int)
#pragma ws declare reduction(+ : int : omp_out += omp_in)
#pragma ws declare reduction
