/* SPDX-License-Identifier: MIT
 * Every reduction operator, several at once, arrays, user-defined ones. */
#include "check.h"

#define N 200

typedef struct {
    double x, y;
} point;

#pragma ws declare reduction(add_points : point : omp_out.x += omp_in.x, omp_out.y += omp_in.y) \
    initializer(omp_priv = {0, 0})

static void arithmetic(void)
{
    long sum = 10, difference = 10;
    double product = 1;
    int n = N;
#pragma ws for reduction(+ : sum) reduction(- : difference) reduction(* : product)
    for (int i = 0; i < n; i++) {
        sum += i;
        difference -= i;
        if (i % 20 == 0)
            product *= 2;
        work();
    }
    CHECK(sum == 10 + 19900 && difference == 10 - 19900 && product == 1024);
}

static void bits(void)
{
    unsigned and_ = ~0u, or_ = 0, xor_ = 5;
#pragma ws for reduction(& : and_) reduction(| : or_) reduction(^ : xor_)
    for (int i = 0; i < N; i++) {
        and_ &= ~(1u << i % 7);
        or_ |= 1u << i % 32;
        xor_ ^= (unsigned) i;
        work();
    }
    CHECK(and_ == ~0x7fu && or_ == ~0u && xor_ == (5u ^ 0u));
}

static void logic(void)
{
    int all = 1, any = 0, none = 1;
#pragma ws for reduction(&& : all) reduction(|| : any) reduction(&& : none)
    for (int i = 0; i < N; i++) {
        all = all && i >= 0;
        any = any || i == 77;
        none = none && i != 77;
        work();
    }
    CHECK(all == 1 && any == 1 && none == 0);
}

static void extremes(void)
{
    double largest = -1, smallest = 1e9;
    int imax = 0;
    unsigned char cmin = 200;
    long long lmin = 5;
#pragma ws for reduction(max : largest, imax) reduction(min : smallest, cmin, lmin)
    for (int i = 0; i < N; i++) {
        double v = (i * 37 % N) * 0.5;
        if (v > largest)
            largest = v;
        if (v < smallest)
            smallest = v;
        if (i > imax)
            imax = i;
        if (i == 3 && 3 < cmin)
            cmin = 3;
        if (-i < lmin)
            lmin = -i;
        work();
    }
    CHECK(largest == 99.5 && smallest == 0 && imax == N - 1 && cmin == 3 && lmin == -(N - 1));
}

static void one_variable_of_each_type(void)
{
    char c = 0;
    short s = 0;
    unsigned long long u = 0;
    float f = 0;
    long double l = 0;
#pragma ws for reduction(+ : c)
    for (int i = 0; i < N; i++)
        c += i % 20 == 0;
#pragma ws for reduction(+ : s)
    for (int i = 0; i < N; i++)
        s += 1;
#pragma ws for reduction(+ : u)
    for (int i = 0; i < N; i++)
        u += 1ull << 40;
#pragma ws for reduction(+ : f)
    for (int i = 0; i < N; i++)
        f += 0.5f;
#pragma ws for reduction(+ : l)
    for (int i = 0; i < N; i++)
        l += 0.25L;
    CHECK(c == 10 && s == N && u == (unsigned long long) N << 40 && f == N / 2 && l == N / 4);
}

static void array(void)
{
    int h[8] = {0};
#pragma ws for reduction(+ : h)
    for (int i = 0; i < N; i++) {
        h[i % 8]++;
        work();
    }
    for (int k = 0; k < 8; k++)
        CHECK(h[k] == N / 8);
}

static void array_sections(void)
{
    int h[10] = {0}, n = 8;
    int *p = h + 1;
    double m[3][4] = {{0}};
#ifdef __clang__    /* sums elements, not rows */
#define ROWS m[1 : 2][0 : 4]
#else
#define ROWS m[1 : 2]
#endif
#pragma ws for reduction(+ : p[0 : n]) reduction(+ : ROWS) steal_schedule(dynamic, 1)
    for (int i = 0; i < N; i++) {
        p[i % 8]++;
        m[1 + i % 2][i % 4] += 1;
        work();
    }
    for (int k = 0; k < 8; k++)
        CHECK(h[k + 1] == N / 8);
    CHECK(h[0] == 0 && h[9] == 0);
    CHECK(m[0][0] == 0 && m[1][0] == N / 4 && m[1][2] == N / 4 && m[2][1] == N / 4 && m[2][3] == N / 4);
}

static void user_defined(void)
{
    point sum = {1, 2};
    int count = 0;
#pragma ws for reduction(add_points : sum) reduction(+ : count)
    for (int i = 0; i < N; i++) {
        sum.x += i;
        sum.y -= i;
        count++;
        work();
    }
    CHECK(sum.x == 1 + 19900 && sum.y == 2 - 19900 && count == N);
}

static void declared_in_a_block(void)
{
#pragma ws declare reduction(longest : int : omp_out = omp_in > omp_out ? omp_in : omp_out) \
    initializer(omp_priv = -1000)
    int length = -5;
#pragma ws for reduction(longest : length)
    for (int i = 0; i < N; i++)
        if (i > length)
            length = i;
    CHECK(length == N - 1);
}

static void merges_are_locked(void)
{
    int before = &ws_fake_merges ? ws_fake_merges : 0;
    double a = 0, b = 0;
#pragma ws for reduction(+ : a, b)
    for (int i = 0; i < N; i++) {
        a += 1;
        b += 2;
    }
    CHECK(a == N && b == 2 * N);
    CHECK(!&ws_fake_merges || ws_fake_merges > before);
}

static void run_all(void)
{
    RUN(arithmetic);
    RUN(bits);
    RUN(logic);
    RUN(extremes);
    RUN(one_variable_of_each_type);
    RUN(array);
    RUN(array_sections);
    RUN(user_defined);
    RUN(declared_in_a_block);
    RUN(merges_are_locked);
}
