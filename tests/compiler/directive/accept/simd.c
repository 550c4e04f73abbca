/* SPDX-License-Identifier: MIT
 *
 * `ws for simd`: chunks of the loop, each a simd loop. */
#include "check.h"

static float a[1000], b[1000];
static double c[1000] __attribute__((aligned(64)));

static void fill(void)
{
    for (int i = 0; i < 1000; i++) {
        a[i] = (float) (i % 10);
        b[i] = (float) (i % 7);
        c[i] = i;
    }
}

static void plain(void)
{
    fill();
#pragma ws for simd
    for (int i = 0; i < 1000; i++)
        a[i] = 2 * a[i] + b[i];
    for (int i = 0; i < 1000; i++)
        CHECK(a[i] == 2 * (float) (i % 10) + (float) (i % 7));
}

static void reductions(int n)
{
    float sum = 1;
    int most = -1;
    long count = 0;
    fill();
#pragma ws for simd reduction(+ : sum, count) reduction(max : most) schedule(dynamic, 37) steal_schedule(dynamic, 10) name("dot")
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
        most = (int) a[i] > most ? (int) a[i] : most;
        count++;
    }
    float expected = 1;
    for (int i = 0; i < n; i++)
        expected += a[i] * b[i];    /* whole numbers below 2^24 */
    CHECK(sum == expected && most == 9 && count == n);
    CHECK_SCHEDULE(WS_DYNAMIC, 37, WS_DYNAMIC, 10);
    CHECK_NAME("dot");
}

static void clauses(int n)
{
    double x = 0, y = 3, *p = c;
    int i;
    fill();
#pragma ws for simd safelen(16) simdlen(8) aligned(p : 16) private(x) lastprivate(y, i) firstprivate(n) if(n > 3)
    for (i = 0; i < n; i++) {
        x = p[i] + 1;
        y = x * n;
        p[i] = y;
    }
    for (int k = 0; k < n; k++)
        CHECK(c[k] == (k + 1.0) * n);
    CHECK(x == 0 && y == (double) n * n && i == n);
}

static void collapsed(void)
{
    static int hits[30][40];
    int last = 0;
#pragma ws for simd collapse(2) lastprivate(last)
    for (int i = 0; i < 30; i++)
        for (int j = 39; j >= 0; j--) {
            hits[i][j]++;
            last = 100 * i + j;
        }
    for (int i = 0; i < 1200; i++)
        CHECK(hits[i / 40][i % 40] == 1);
    CHECK(last == 2900);
}

static void directions(unsigned n)
{
    int hits[400] = {0};
#pragma ws for simd
    for (unsigned i = n; i > 0; i -= 3)
        hits[i]++;
#pragma ws for simd
    for (unsigned long i = 200; i < 300; i++)
        hits[i]++;
#pragma ws for simd schedule(static)
    for (int *p = hits + 399; p >= hits + 300; p -= 2)
        ++*p;
#pragma ws for simd
    for (short i = 5; i < 5; i++)
        hits[0]++;
    for (int i = 0; i < 400; i++)
        CHECK(hits[i] == (i < 200 ? i && i % 3 == (int) n % 3 && i <= (int) n : i < 300 || i % 2));
}

/* Whatever is called from the body. */
static long total;
static void add(int i)
{
#pragma ws atomic
    total += i;
}

static void calls(int n)
{
    total = 0;
    /* Clang warns where it optimizes and a call keeps it from making vectors. */
#if !defined __clang__ || !defined __OPTIMIZE__
#pragma ws for simd
#endif
    for (int i = 0; i < n; i++) {
        add(i);
        work();
    }
    CHECK(total == n * (n - 1) / 2);
}

static void run_all(void)
{
    RUN(plain);
    before_test(), reductions(1000);
    before_test(), clauses(900);
    RUN(collapsed);
    before_test(), directions(198);
    before_test(), calls(100);
}
