/* SPDX-License-Identifier: MIT */
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define LOOP(n, ...) \
    PRAGMA(ws for) \
    for (int i = 0; i < n; i++) { \
        __VA_ARGS__; \
    }
#define CLAUSE(x) schedule(dynamic, x)
void g(int);

#pragma ws for
int file_scope;

void operators(int n, double d)
{
    PRAGMA(ws for zork(n))
    for (int i = 0; i < n; i++)
        g(i);
    _Pragma("ws for private(zork)")
    for (int i = 0; i < n; i++)
        g(i);
    LOOP(n, break)
    _Pragma("ws") g(n);
    _Pragma("ws nothing") g(n);
}

void macros(int n, double d)
{
#pragma ws for CLAUSE(d)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for \
    private(n)  \
    shared(zork)
    for (int i = 0; i < n; i++)
        g(i);
}

void twice(int n)
{
#pragma ws for
#pragma ws for
    for (int i = 0; i < n; i++)
        g(i);
}

#line 300 "elsewhere.h"
void renamed(int n)
{
#pragma ws for frob(n)
    for (int i = 0; i < n; i++)
        g(i);
}
