/* SPDX-License-Identifier: MIT */
void g(int);

int leaves(int n)
{
#pragma ws for
    for (int i = 0; i < n; i++) {
        if (i == 3)
            break;
        g(i);
    }
#pragma ws for
    for (int i = 0; i < n; i++) {
        if (i == 3)
            return i;
        g(i);
    }
#pragma ws for
    for (int i = 0; i < n; i++) {
        if (i == 3)
            goto out;
        g(i);
    }
out:
    return 0;
}

void enters(int n)
{
    if (n)
        goto in;
#pragma ws for
    for (int i = 0; i < n; i++) {
    in:
        g(i);
    }
}

void collapsed(int n)
{
#pragma ws for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (j == i)
                break;
            g(i);
        }
}
