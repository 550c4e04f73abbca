/* SPDX-License-Identifier: MIT
 *
 * How much a misspelt word differs from a known one: for mpiexec's options and libws's variables, to say which was meant.
 */
#ifndef WORKSHARE_LETTERS_H_INCLUDED
#define WORKSHARE_LETTERS_H_INCLUDED

#include <ctype.h>
#include <string.h>

/* How many letters to insert, to drop, to replace or to swap with the next one make b of a; upper case or lower does not matter. */
static inline int workshare_letters_apart(const char *a, const char *b)
{
    enum { longest = 40 };
    int d[longest + 1][longest + 1];
    int n = (int) strlen(a), m = (int) strlen(b), i, j;

    if (n > longest || m > longest)
        return longest;
    for (i = 0; i <= n; i++)
        for (j = 0; j <= m; j++) {
            int same = i && j && tolower((unsigned char) a[i - 1]) == tolower((unsigned char) b[j - 1]);
            d[i][j] = i && j ? d[i - 1][j - 1] + !same : i + j;
            if (i && d[i - 1][j] + 1 < d[i][j])
                d[i][j] = d[i - 1][j] + 1;
            if (j && d[i][j - 1] + 1 < d[i][j])
                d[i][j] = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[n][m];
}

#endif /* WORKSHARE_LETTERS_H_INCLUDED */
