/* SPDX-License-Identifier: MIT */
void g(int);

void clauses(int n, int a, int b)
{
#pragma ws for bogus(n)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for nowait
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private(a) num_threads(4) ordered
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private a
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private()
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private(a
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for schedule(dynamic, (a + 1)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private(a))
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private(a),, shared(b)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for , private(a)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for private(a),
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for 3
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for default(private)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for default(none) default(none) shared(n)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for collapse(1) collapse(1)
    for (int i = 0; i < n; i++)
        g(i);
}

void directives(int n)
{
#pragma ws
    g(n);
#pragma ws foo
    g(n);
#pragma ws parallel for
    g(n);
#pragma ws single
    n++;
#pragma ws Critical(name)
    n++;
#pragma ws declare simd
    g(n);
#pragma ws FOR
    g(n);
#pragma ws (for)
    g(n);
}

void names(int n)
{
#pragma ws for name(mine)
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for name("")
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for name("one") schedule(static) name("two")
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for name(L"wide")
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for name("two\nlines")
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for name("\377")
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for name(n ? "one" : "two")
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for name('c')
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for name
    for (int i = 0; i < n; i++)
        g(i);
#define TEN(x) x x x x x x x x x x
#pragma ws for name(TEN("twenty characters...") "more")
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws atomic name("one")
    n++;
#pragma ws critical ("one")
    n++;
}
