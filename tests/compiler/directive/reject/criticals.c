/* SPDX-License-Identifier: MIT */
void g(int);

void names(int n)
{
#pragma ws critical name
    n++;
#pragma ws critical()
    n++;
#pragma ws critical(a b)
    n++;
#pragma ws critical(a
    n++;
#pragma ws critical(a) hint(2)
    n++;
#pragma ws critical(3)
    n++;
#pragma ws critical(a, b)
    n++;
#pragma ws critical("a")
    n++;
}

int jumps(int n)
{
#pragma ws critical
    return n;
    while (n--) {
#pragma ws critical(a)
        if (n == 3)
            break;
#pragma ws critical(a)
        {
            if (n == 3)
                continue;
        }
    }
#pragma ws critical(a)
    {
        if (n == 7)
            goto out;
    }
out:
#pragma ws critical(a)
    {
    in:
        n++;
    }
    if (n < 0)
        goto in;
    return 0;
}

void nested(int n)
{
#pragma ws critical(a)
    {
#pragma ws critical(a)
        n++;
    }
#pragma ws critical
    {
        g(n);
#pragma ws critical
        n++;
    }
}

void loops_in_criticals(int n)
{
#pragma ws for critical
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws critical(a) for
    for (int i = 0; i < n; i++)
        g(i);
}

#pragma ws critical
int at_file_scope;
