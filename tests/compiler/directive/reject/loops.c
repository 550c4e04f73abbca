/* SPDX-License-Identifier: MIT */
void g(int);
int h(int);

void not_a_loop(int n)
{
#pragma ws for
    while (n--)
        g(n);
#pragma ws for
    do
        g(n);
    while (n--);
#pragma ws for
    g(n);
#pragma ws for
    {
        g(n);
    }
#pragma ws for
}

void not_canonical(int n, int *a)
{
    int i, j;
    double d;
#pragma ws for
    for (;;)
        g(n);
#pragma ws for
    for (int i = 0;; i++)
        g(i);
#pragma ws for
    for (int i = 0; i < n;)
        g(i);
#pragma ws for
    for (; n > 0; n--)
        g(n);
#pragma ws for
    for (int i = 0; i != n; i += 2)
        g(i);
#pragma ws for
    for (int i = 1; i < n; i *= 2)
        g(i);
#pragma ws for
    for (i = 0, j = 0; i < n; i++)
        g(i);
#pragma ws for
    for (i = 0, j = 0; i < n; i++, j++)
        g(i);
#pragma ws for
    for (int i = 0; i < n; i = h(i))
        g(i);
#pragma ws for
    for (int i = 0; h(i); i++)
        g(i);
#pragma ws for
    for (int i = 0; i < n * i; i++)
        g(i);
#pragma ws for
    for (int i = 0; i < n && a[i]; i++)
        g(i);
#pragma ws for
    for (d = 0; d < 1; d += 0.1)
        g(1);
#pragma ws for
    for (int i = 0; i == n; i++)
        g(i);
#pragma ws for
    for (a[0] = 0; a[0] < n; a[0]++)
        g(n);
#pragma ws for
    for (int i = 0; i < n; i += i)
        g(i);
#pragma ws for
    for (int i = 0; i < n; g(i))
        g(i);
}

void changed(int n, int m)
{
#pragma ws for
    for (int i = 0; i < n; i++)
        n--;
#pragma ws for
    for (int i = m; i < n + 1; i++) {
        g(i);
        if (i == 3)
            m = 2;
    }
#pragma ws for
    for (int i = 0; i < n; i++) {
        g(i);
        i++;
    }
}

void collapsed(int n)
{
#pragma ws for collapse(2)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for collapse(2)
    for (int i = 0; i < n; i++) {
        g(i);
        for (int j = 0; j < n; j++)
            g(j);
    }
#pragma ws for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            g(j);
#pragma ws for collapse(0)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for collapse(n)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j *= 2)
            g(i);
}

void changes_its_step(int n, int step)
{
#pragma ws for
    for (int i = 0; i < n; i += step) {
        g(i);
        step++;
    }
#pragma ws for collapse(2)
    for (int i = n; i > 0; i = i - step)
        for (int j = 0; j < n; ++j)
            if (j == 3)
                step = 2;
}
