/* SPDX-License-Identifier: MIT */
void g(int);

void conditions(int n, int a)
{
    struct pair { int x, y; } s = {n, n};
#pragma ws for if(parallel: n > 3)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for if(n > 3) if(a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for if()
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for if
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for if(s)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for if(nothing)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws critical if(n)
    g(n);
}

void simd(int n, float *a)
{
    int k = 0;
#pragma ws for safelen(8)
    for (int i = 0; i < n; i++)
        a[i] = i;
#pragma ws for simd linear(k : 2)
    for (int i = 0; i < n; i++)
        a[i] = k;
#pragma ws for simd safelen(0)
    for (int i = 0; i < n; i++)
        a[i] = i;
#pragma ws for simd safelen(2) safelen(4)
    for (int i = 0; i < n; i++)
        a[i] = i;
#pragma ws for private(k) simd
    for (int i = 0; i < n; i++)
        a[i] = k = i;
#pragma ws simd
    for (int i = 0; i < n; i++)
        a[i] = i;
#pragma ws for simd
    while (n--)
        a[n] = 1;
#pragma ws for simd nowait
    for (int i = 0; i < n; i++)
        a[i] = i;
#pragma ws for simd
    for (int i = 0; i < n; i++) {
#pragma ws atomic
        k += i;
    }
#pragma ws for simd
    for (int i = 0; i < n; i++) {
#pragma ws critical
        k += i;
    }
#pragma ws for simd
    for (int i = 0; i < n; i++) {
#pragma ws for
        for (int j = 0; j < i; j++)
            a[j] = i;
    }
#pragma ws for simd
    for (int i = 0; i < n; i++)
        if (a[i] > 3)
            break;
#pragma ws for simd
    for (int i = 0; i < n; i++)
        i += 2;
}

void sections(int n)
{
    int k = 0;
#pragma ws sections
    g(n);
#pragma ws sections nowait
    {
        g(n);
    }
#pragma ws sections schedule(static)
    {
        g(n);
    }
#pragma ws sections safelen(4)
    {
        g(n);
    }
#pragma ws sections collapse(2)
    {
        g(n);
    }
#pragma ws sections private(zork)
    {
        g(n);
    }
#pragma ws sections private(k) shared(k)
    {
        g(n);
    }
#pragma ws sections default(none)
    {
        g(n);
    }
#pragma ws sections
    {
        g(n);
#pragma ws section private(k)
        g(k);
    }
#pragma ws sections
    {
        g(n);
#pragma ws section
    }
}

void alone(int n)
{
#pragma ws section
    g(n);
#pragma ws for
    for (int i = 0; i < n; i++) {
#pragma ws section
        g(i);
    }
}

int jumps(int n)
{
    for (int i = 0; i < n; i++) {
#pragma ws sections
        {
            g(i);
#pragma ws section
            break;
        }
    }
#pragma ws sections
    {
#pragma ws section
        return n;
    }
#pragma ws sections
    {
#pragma ws section
        goto out;
    }
out:
    return 0;
}
