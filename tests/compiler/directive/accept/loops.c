/* SPDX-License-Identifier: MIT
 * Every form of canonical loop: types, directions, ends, collapse. */
#include "check.h"

#include <limits.h>

enum { N = 100 };

static void each_once(const int *hits, int n, int line)
{
    for (int i = 0; i < n; i++)
        if (hits[i] != 1) {
            failures++;
            printf("%s:%d: iteration %d ran %d times\n", __FILE__, line, i, hits[i]);
        }
}

static void types(void)
{
    int hits[N];
#define LOOP_OVER(type) \
    for (int k = 0; k < N; k++) \
        hits[k] = 0; \
    _Pragma("ws for") \
    for (type i = 0; i < N; i++) { \
        hits[i]++; \
        work(); \
    } \
    each_once(hits, N, __LINE__);
    LOOP_OVER(int)
    LOOP_OVER(unsigned)
    LOOP_OVER(long)
    LOOP_OVER(unsigned long)
    LOOP_OVER(long long)
    LOOP_OVER(unsigned long long)
    LOOP_OVER(short)
    LOOP_OVER(unsigned short)
    LOOP_OVER(signed char)
    LOOP_OVER(unsigned char)
    LOOP_OVER(size_t)
    LOOP_OVER(int32_t)
    LOOP_OVER(int64_t)
}

static void variable_bounds(void)
{
    int hits[N] = {0}, from = 10, to = 90;
    unsigned long ufrom = 0, uto = 10;
#pragma ws for
    for (int i = from; i < to; i++)
        hits[i]++;
#pragma ws for
    for (unsigned long i = ufrom; i < uto; i++)
        hits[i]++;
#pragma ws for
    for (long i = to; i <= N - 1; i++)
        hits[i]++;
    each_once(hits, N, __LINE__);
}

static void downwards(void)
{
    int hits[N] = {0};
    long d, sum = 0;
    int n = N;
#pragma ws for
    for (int i = n - 1; i >= 0; i--) {
        hits[i]++;
        work();
    }
    each_once(hits, N, __LINE__);
#pragma ws for reduction(+ : sum) lastprivate(d)
    for (d = 50; d > -50; d -= 2)
        sum += d;
    CHECK(sum == 50 && d == -50);
#pragma ws for reduction(+ : sum)
    for (unsigned i = 99; i > 49; i = i - 1)
        sum += i;
    CHECK(sum == 50 + 3725);
}

/* GCC's own OpenMP runs none of these with schedule(dynamic). */
static void unsigned_countdown(void)
{
    long sum = 0;
    unsigned from = 99, to = 49, step = 3;
    unsigned char narrow = 99;
#pragma ws for reduction(+ : sum)
    for (unsigned i = 99; i > 49; i--)
        sum += i;
    CHECK(sum == 3725);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (unsigned i = from; i >= to + 1; --i)
        sum += i;
    CHECK(sum == 3725);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (unsigned i = from; i != to; i -= 1)
        sum += i;
    CHECK(sum == 3725);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (unsigned i = from; i > to; i -= step)
        sum += i;
    CHECK(sum == 1275);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (unsigned short i = 99; i > 49; i -= 3)
        sum += i;
    CHECK(sum == 1275);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (unsigned char i = narrow; i > 49; i--)
        sum += i;
    CHECK(sum == 3725);
    sum = 0;
#pragma ws for reduction(+ : sum) collapse(2)
    for (unsigned i = from; i > to; i--)
        for (unsigned char j = 2; j > 0; --j)
            sum += i * j;
    CHECK(sum == 3 * 3725);
#ifndef __clang__   /* computes end - start + step, which must fit the type */
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (unsigned i = 0; i < 4000000000u; i += 1000000000u)
        sum += i / 1000000000u;
    CHECK(sum == 6);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (unsigned i = 4000000000u; i > 5; i -= 1000000000u)
        sum += i / 1000000000u;
    CHECK(sum == 10);
#endif
}

static void unsigned_64_bits(void)
{
    unsigned long long u, sum = 0;
    const unsigned long long base = 18446744073709551000ull;
#pragma ws for reduction(+ : sum) lastprivate(u)
    for (u = base; u < base + 100; u++) {
        sum += u - base;
        work();
    }
    CHECK(sum == 4950 && u == base + 100);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (unsigned long long i = base + 99; i > base; i -= 3)
        sum += i - base;
    CHECK(sum == 1683);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (size_t i = N; i != 0; --i)
        sum += i;
    CHECK(sum == 5050);
}

static void around_zero_and_limits(void)
{
    long sum = 0, low = LONG_MIN + 1;
#pragma ws for reduction(+ : sum)
    for (int i = -50; i < 51; i++)
        sum += i + 1;
    CHECK(sum == 101);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (long i = low; i < low + 40; i++)
        sum += i - low;
    CHECK(sum == 780);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (int i = INT_MAX - 20; i < INT_MAX; i++)
        sum++;
    CHECK(sum == 20);
}

static void steps(void)
{
    long sum = 0;
    int step = 7;
#pragma ws for reduction(+ : sum)
    for (int i = 3; i < N; i += step)
        sum += i;
    CHECK(sum == 679);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (int i = 0; i < N; i = i + 9)
        sum += i;
    CHECK(sum == 594);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (int i = 0; N > i; i = 2 + i)
        sum += i;
    CHECK(sum == 2450);
    sum = 0;
#pragma ws for reduction(+ : sum)
    for (int i = 0; i != N; i++)
        sum += i;
    CHECK(sum == 4950);
}

static void few_iterations(void)
{
    for (int n = -1; n <= 3; n++) {
        int count = 0;
        size_t size = n < 0 ? 0 : (size_t) n;
#pragma ws for reduction(+ : count)
        for (int i = 0; i < n; i++)
            count++;
#pragma ws for reduction(+ : count)
        for (size_t i = 0; i < size; i++)
            count++;
        CHECK(count == 2 * (int) size);
    }
}

static void many_iterations(void)
{
    long sum = 0, n = 100000;
#pragma ws for reduction(+ : sum) schedule(dynamic, 10000) steal_schedule(dynamic, 10000)
    for (long i = 0; i < n; i++)
        sum += i;
    CHECK(sum == n * (n - 1) / 2);
}

static void pointers(void)
{
    int a[N] = {0}, *end = a + N, *last = NULL;
#pragma ws for lastprivate(last)
    for (int *p = a; p < end; p++) {
        ++*p;
        last = p;
        work();
    }
    CHECK(last == a + N - 1);
    each_once(a, N, __LINE__);
#pragma ws for
    for (int *p = end - 1; p >= a; p -= 2)
        ++*p;
    CHECK(a[0] == 1 && a[1] == 2);
}

static void collapsed(void)
{
    int m[10][7], k[4][5][6];
    int rows = 10, columns = 7;
#pragma ws for collapse(2) schedule(dynamic, rows - 7)
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            m[i][j] = 10 * i + j;
            work();
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            CHECK(m[i][j] == 10 * i + j);
    CHECK_SCHEDULE(WS_DYNAMIC, 3, WS_AUTO, 0);
    int i, j, l;
#pragma ws for collapse(3) lastprivate(i, j, l)
    for (i = 3; i >= 0; i--)
        for (j = 0; j < 5; j++)
            for (l = 0; l < 6; l += 2)
                k[i][j][l] = i + j + l;
    CHECK(i == -1 && j == 5 && l == 6 && k[3][4][4] == 11 && k[0][0][0] == 0);
    long count = 0;
    size_t n = 9;
#pragma ws for collapse(2) reduction(+ : count)
    for (size_t a = 0; a < n; a++)
        for (short b = 5; b > 0; b--)
            count += b;
    CHECK(count == 135);
}

static void variable_length_rows(int rows, int columns)
{
    double a[rows][columns], sum = 0;
#pragma ws for reduction(+ : sum)
    for (int i = 0; i < rows; i++) {
        double row[columns];
        for (int j = 0; j < columns; j++)
            row[j] = a[i][j] = i + j;
        sum += row[columns - 1];
    }
    CHECK(sum == rows * (columns - 1) + rows * (rows - 1) / 2);
}

static void vla(void)
{
    variable_length_rows(20, 5);
}

/* A step that passes the last value of the variable's type: as many iterations as there are before that. */
static void past_the_end(void)
{
    long sum = 0;
    int n = 0;
#pragma ws for reduction(+ : sum, n)
    for (int i = 0; i < 2147483647; i += 2000000000) {
        sum += i;
        n++;
    }
    CHECK(n == 2 && sum == 2000000000);
#ifndef __clang__   /* clang 14, with its own OpenMP too, counts in 32 bits */
    sum = n = 0;
#pragma ws for reduction(+ : sum, n)
    for (int i = 2147483647; i > -2147483647; i -= 2000000000) {
        sum += i;
        n++;
    }
    CHECK(n == 3 && sum == 3L * 2147483647 - 6000000000);
#endif
    n = 0;
#pragma ws for reduction(+ : n) schedule(dynamic, 7)
    for (unsigned i = 199; i > 0; i -= 3)
        n++;
    CHECK(n == 67);
#pragma ws for reduction(+ : n)
    for (unsigned char i = 0; i < 250; i += 99)
        n++;
    CHECK(n == 70);
#pragma ws for reduction(+ : n)
    for (short i = 32000; i < 32767; i += 5)
        n++;
    CHECK(n == 224);
}

static void run_all(void)
{
    RUN(past_the_end);
    RUN(types);
    RUN(variable_bounds);
    RUN(downwards);
    RUN(unsigned_countdown);
    RUN(unsigned_64_bits);
    RUN(around_zero_and_limits);
    RUN(steps);
    RUN(few_iterations);
    RUN(many_iterations);
    RUN(pointers);
    RUN(collapsed);
    RUN(vla);
}
