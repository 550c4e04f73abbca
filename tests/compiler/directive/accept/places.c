/* SPDX-License-Identifier: MIT
 * Where a directive can stand, what may surround it and what the loop's body may do. */
#include "check.h"

#include "../../../../runtime/abi/abi.h"

enum { N = 90 };
#define TOTAL_OF_N (N * (N - 1) / 2)

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define WS_FOR PRAGMA(ws for schedule(dynamic, 2))
#define FOR_EACH(i, n, ...) \
    WS_FOR \
    for (int i = 0; i < n; i++) { \
        __VA_ARGS__; \
    }
#define SAME(...) __VA_ARGS__

static void pragma_operator(void)
{
    long s = 0;
    int a[N], n = N;
    _Pragma("ws for reduction(+ : s) steal_schedule(guided, 9)")
    for (int i = 0; i < n; i++)
        s += i;
    CHECK(s == TOTAL_OF_N);
    CHECK_SCHEDULE(WS_AUTO, 0, WS_GUIDED, 9);
    s = 0;
    PRAGMA(ws for reduction(+ : s) schedule(static, 3))
    for (int i = 0; i < n; i++)
        s += i;
    CHECK(s == TOTAL_OF_N);
    CHECK_SCHEDULE(WS_STATIC, 3, WS_AUTO, 0);
    FOR_EACH(i, n, a[i] = i; work())
    CHECK(a[N - 1] == N - 1);
    CHECK_SCHEDULE(WS_DYNAMIC, 2, WS_AUTO, 0);
    SAME(FOR_EACH(i, n, a[i] = -i))
    CHECK(a[N - 1] == 1 - N);
    SAME(SAME(_Pragma("ws for schedule(guided)") for (int i = 0; i < n; i++) a[i] = 2 * i;))
    CHECK(a[N - 1] == 2 * N - 2);
    CHECK_SCHEDULE(WS_GUIDED, 0, WS_AUTO, 0);
    /* A macro expanded inside the operator's string. */
#define CHUNK 11
    _Pragma("ws for schedule(dynamic, CHUNK)")
    for (int i = 0; i < n; i++)
        a[i] = i;
    CHECK_SCHEDULE(WS_DYNAMIC, 11, WS_AUTO, 0);
    _Pragma("GCC ivdep")
    for (int i = 0; i < n; i++)
        a[i]++;
    CHECK(a[3] == 4);
}

static void in_macro_arguments(void)
{
    int a[N];
#ifdef __clang__    /* clang allows no directive there, only _Pragma */
    SAME(
        _Pragma("ws for schedule(guided, 7)")
        for (int i = 0; i < N; i++)
            a[i] = i;
    )
#else
    SAME(
#pragma ws for schedule(guided, 7)
        for (int i = 0; i < N; i++)
            a[i] = i;
    )
#endif
    CHECK(a[N - 1] == N - 1);
    CHECK_SCHEDULE(WS_GUIDED, 7, WS_AUTO, 0);
}

static void from_included_files(void)
{
    long s = 0;
#define TOTAL s
#include "included_loop.inc"
    CHECK(s == TOTAL_OF_N);
    s = 0;
#include "included_directive.inc"
    for (int i = 0; i < N; i++)
        s += i;
    CHECK(s == TOTAL_OF_N);
    CHECK_SCHEDULE(WS_DYNAMIC, 4, WS_AUTO, 0);
}

static void other_pragmas_between(void)
{
    int a[N];
#pragma ws for
#pragma GCC ivdep
    for (int i = 0; i < N; i++)
        a[i] = i;
    CHECK(a[N - 1] == N - 1);
#pragma ws for schedule(static)
#pragma GCC unroll 4
    for (int i = 0; i < N; i++)
        a[i] = 2 * i;
    CHECK(a[N - 1] == 2 * N - 2);
#define INDEPENDENT _Pragma("GCC ivdep")
#pragma ws for
    INDEPENDENT
    for (int i = 0; i < N; i++)
        a[i] = 3 * i;
    CHECK(a[N - 1] == 3 * N - 3);
    PRAGMA(ws for) INDEPENDENT PRAGMA(GCC unroll 2)
    for (int i = 0; i < N; i++)
        a[i] = 4 * i;
    CHECK(a[N - 1] == 4 * N - 4);
}

static void continued_lines(void)
{
    long s = 0;
#pragma ws for reduction(+ : s) /* a comment */ \
        schedule(dynamic,       \
                 2)             // and another
    for (int i = 0; i < N; i++)
        s += i;
    CHECK(s == TOTAL_OF_N);
    CHECK_SCHEDULE(WS_DYNAMIC, 2, WS_AUTO, 0);
}

static void control_flow_in_the_body(void)
{
    int kinds[4] = {0};
#pragma ws for reduction(+ : kinds)
    for (int i = 0; i < N; i++) {
        work();
        if (i % 2)
            continue;
        switch (i % 3) {
        case 0:
            kinds[0]++;
            break;
        case 1:
            kinds[1]++;
            __attribute__((fallthrough));
        default:
            kinds[2]++;
        }
        for (int j = 0;; j++)
            if (j == 3)
                break;
        if (i == 4)
            goto out;
        kinds[3]++;
    out:;
    }
    CHECK(kinds[0] == 15 && kinds[1] == 15 && kinds[2] == 30 && kinds[3] == 44);
}

static int twice(int i)
{
    static int calls;       /* shared by all */
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return 2 * i;
}

static inline long sum_of(const int *a, int n)
{
    long s = 0;
#pragma ws for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

static void calls_and_inline_functions(void)
{
    int a[N];
#pragma ws for
    for (int i = 0; i < N; i++)
        a[i] = twice(i);
    CHECK(sum_of(a, N) == 2 * TOTAL_OF_N);
    CHECK(sum_of(a, 10) == 90);
}

static void nested(void)
{
    long s = 0;
#pragma ws for reduction(+ : s)
    for (int i = 0; i < 12; i++) {
        long inner = 0;
#pragma ws for reduction(+ : inner)
        for (int j = 0; j < 30; j++)
            inner += j;
        s += inner;
        work();
    }
    CHECK(s == 12 * 435);
}

static long recursive(int depth)
{
    long s = 1;
    if (depth == 0)
        return s;
#pragma ws for reduction(+ : s)
    for (int i = 0; i < 4; i++)
        s += recursive(depth - 1);
    return s;
}

static void recursion(void)
{
    CHECK(recursive(3) == 85);
}

static void under_an_if(void)
{
    int a[N] = {0};
    for (int round = 0; round < 2; round++)
        if (round)
#pragma ws for
            for (int i = 0; i < N; i++)
                a[i]++;
        else
#pragma ws for
            for (int i = 0; i < N; i++)
                a[i] += 10;
    CHECK(a[0] == 11 && a[N - 1] == 11);
}

static void empty_body(void)
{
    int i;
#pragma ws for lastprivate(i)
    for (i = 0; i < N; i++)
        ;
    CHECK(i == N);
}

#if defined(__GNUC__) && !defined(__cplusplus) && !defined(__clang__)
static void nested_functions(void)
{
    int n = N;
    long sum(int factor)
    {
        long s = 0;
#pragma ws for reduction(+ : s)
        for (int i = 0; i < n; i++)
            s += factor;
        return s;
    }
    CHECK(sum(2) == 2 * N);
}
#else
static void nested_functions(void) {}
#endif

static void statement_expressions(void)
{
    int n = __extension__({
        int s = 0;
#pragma ws for reduction(+ : s)
        for (int i = 0; i < N; i++)
            s += __extension__({ int t = i; t * 2; });
        s;
    });
    CHECK(n == 2 * TOTAL_OF_N);
}

static void names_the_place(void)
{
    int a[N];
#line 1000 "some/where/else.c"
#pragma ws for
    for (int i = 0; i < N; i++)
        a[i] = i;
    CHECK(a[1] == 1);
    if (!&ws_fake_site)
        return;
    CHECK(strcmp(ws_fake_site->where, "some/where/else.c:1000:names_the_place") == 0);
}

static void run_all(void)
{
    RUN(pragma_operator);
    RUN(in_macro_arguments);
    RUN(from_included_files);
    RUN(other_pragmas_between);
    RUN(continued_lines);
    RUN(control_flow_in_the_body);
    RUN(calls_and_inline_functions);
    RUN(nested);
    RUN(recursion);
    RUN(under_an_if);
    RUN(empty_body);
    RUN(nested_functions);
    RUN(statement_expressions);
    RUN(names_the_place);
}
