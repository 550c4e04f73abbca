/* SPDX-License-Identifier: MIT */
void g(int);
struct pair {
    int a, b;
};

void words(int n, int *x)
{
#pragma ws atomic hint(n)
    n++;
#pragma ws atomic read write
    n = 1;
#pragma ws atomic relaxed seq_cst
    n++;
#pragma ws atomic read, release
    n = *x;
#pragma ws atomic write acquire
    *x = n;
#pragma ws atomic acq_rel
    n++;
#pragma ws atomic (n)
    n++;
#pragma ws atomic update,
    n++;
#pragma ws atomic READ
    n = *x;
#pragma ws atomic swap
    n = *x;
}

void statements(int n, int *x, struct pair p, double d)
{
    int v, w;
#pragma ws atomic
    n = *x;
#pragma ws atomic
    n = g;
#pragma ws atomic
    g(n);
#pragma ws atomic
    { n++; }
#pragma ws atomic
    if (n)
        n++;
#pragma ws atomic
    return;
#pragma ws atomic read
    n++;
#pragma ws atomic write
    n += 1;
#pragma ws atomic capture
    n++;
#pragma ws atomic capture
    { v = n; w = n; }
#pragma ws atomic
    p = p;
#pragma ws atomic
    d %= 2;
#pragma ws atomic
    d |= 2;
#pragma ws atomic
    n && v;
#pragma ws atomic
    undeclared++;
#pragma ws atomic
    3 += n;
}

#pragma ws atomic
int at_file_scope;

void end_of_function(int n)
{
    n++;
#pragma ws atomic
}
