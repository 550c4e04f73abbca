/* SPDX-License-Identifier: MIT
 * ws atomic: every kind, operator, memory order and type that C and C++ share.
 * also: atomics_elsewhere.inc */
#include "check.h"
#include "atomics_elsewhere.h"

#define N 400

static void assembly(void)
{
    enum { NODES = 37 };
    static double node[NODES];
    double expected[NODES] = {0};
    for (int k = 0; k < NODES; k++)
        node[k] = 0;
    for (int e = 0; e < N; e++)
        for (int k = 0; k < 8; k++)
            expected[(e * 7 + k * 3) % NODES] += 0.5 * (double) (e + k);
#pragma ws for
    for (int e = 0; e < N; e++) {
        for (int k = 0; k < 8; k++) {
#pragma ws atomic
            node[(e * 7 + k * 3) % NODES] += 0.5 * (double) (e + k);
        }
        work();
    }
    for (int k = 0; k < NODES; k++)
        CHECK(node[k] == expected[k]);
}

static void operators(void)
{
    long add = 5, subtract = 5, up = 0, down = 0, reversed = 3, minus = 1000, flipped = 0;
    unsigned both = ~0u, any = 0, odd = 0, product = 1, left = 1, right = 1u << 31;
    double quotient = 1024, inverse = 1;
    int n = N;
#pragma ws for
    for (int i = 0; i < n; i++) {
#pragma ws atomic
        add += i;
#pragma ws atomic update
        subtract -= i;
#pragma ws atomic
        up++;
#pragma ws atomic
        --down;
#pragma ws atomic
        both &= ~(1u << i % 7);
#pragma ws atomic
        any |= 1u << i % 32;
#pragma ws atomic
        odd ^= (unsigned) i;
#pragma ws atomic
        reversed = i + reversed;
#pragma ws atomic
        minus = minus - i;
#pragma ws atomic
        flipped = 1 - flipped;
        if (i % 40 == 0) {
#pragma ws atomic
            product *= 3;
#pragma ws atomic
            left <<= 1;
#pragma ws atomic
            right >>= 1;
#pragma ws atomic
            quotient /= 2;
#pragma ws atomic
            inverse = 1 / inverse;
        }
        work();
    }
    long sum = (long) N * (N - 1) / 2;
    CHECK(add == 5 + sum && subtract == 5 - sum && up == N && down == -N);
    CHECK(both == ~0x7fu && any == ~0u && odd == 0 && product == 59049 && left == 1024 && right == 1u << 21);
    CHECK(quotient == 1 && inverse == 1 && reversed == 3 + sum && minus == 1000 - sum && flipped == 0);
}

static void types(void)
{
    _Bool flag = 0;
    char c = 0;
    signed char sc = 0;
    unsigned char uc = 0;
    short s = 0;
    unsigned short us = 0;
    unsigned u = 0;
    long l = 0;
    unsigned long ul = 0;
    long long ll = 0;
    unsigned long long ull = 0;
    float f = 0;
    double d = 0;
    long double ld = 0;
    char text[N], *p = text;
    enum { RED, GREEN } colour = RED;
#pragma ws for
    for (int i = 0; i < N; i++) {
#pragma ws atomic write
        flag = i >= 0;
#pragma ws atomic
        c += i % 10 == 0;
#pragma ws atomic
        sc -= (signed char) (i % 10 == 0);
#pragma ws atomic
        uc++;
#pragma ws atomic
        s += 2;
#pragma ws atomic
        us--;
#pragma ws atomic
        u += 1000000;
#pragma ws atomic
        l -= 1;
#pragma ws atomic
        ul += 1ul << 40;
#pragma ws atomic
        ll += i - 7;
#pragma ws atomic
        ull += 1ull << 50;
#pragma ws atomic
        f += 0.5f;
#pragma ws atomic
        d += 0.25;
#pragma ws atomic
        ld += 0.125L;
#pragma ws atomic
        p += 1;
#pragma ws atomic write
        colour = GREEN;
        work();
    }
    CHECK(flag && c == N / 10 && sc == -N / 10 && uc == (unsigned char) N && s == 2 * N && us == (unsigned short) -N);
    CHECK(u == 1000000u * N && l == -N && ul == (unsigned long) N << 40 && ll == (long) N * (N - 1) / 2 - 7 * N);
    CHECK(ull == (unsigned long long) N << 50 && f == N / 2 && d == N / 4 && ld == N / 8 && p == text + N);
    CHECK(colour == GREEN);
}

static void captures(void)
{
    int next = 0, stack = N, taken[N], left[N];
    long sum = 0, last = -1, sums[N];
    long double wide = 0, wides[N];
    int swapped = -1, seen[N + 1];
    for (int i = 0; i <= N; i++)
        seen[i] = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
        int mine, top, before;
        long now;
        long double precise;
#pragma ws atomic capture
        mine = next++;
#pragma ws atomic capture
        top = --stack;
#pragma ws atomic capture
        {
            now = sum;
            sum += 2;
        }
#pragma ws atomic capture
        {
            last = last + 1;
            sums[i] = last;
        }
#pragma ws atomic capture seq_cst
        {
            before = swapped;
            swapped = i;
        }
#pragma ws atomic capture
        precise = wide += 1;
        taken[i] = mine;
        left[i] = top;
        wides[i] = precise;
#pragma ws atomic
        seen[before + 1]++;
        if (now % 2 || now < 0 || now >= 2 * N)
            sums[i] = -1;
        work();
    }
    char used[N], freed[N], counted[N], exact[N];
    for (int i = 0; i < N; i++)
        used[i] = freed[i] = counted[i] = exact[i] = 0;
    for (int i = 0; i < N; i++) {
        used[taken[i]]++;
        freed[left[i]]++;
        counted[sums[i]]++;
        exact[(int) wides[i] - 1]++;
    }
    int once = 0;
    for (int i = 0; i < N; i++)
        once += used[i] == 1 && freed[i] == 1 && counted[i] == 1 && exact[i] == 1;
    CHECK(once == N && next == N && stack == 0 && sum == 2 * N && last == N - 1 && wide == N);
    /* Each value but the last was replaced once. */
    seen[swapped + 1]++;
    once = 0;
    for (int i = 0; i <= N; i++)
        once += seen[i] == 1;
    CHECK(once == N + 1);
}

/* What a reader finds behind a flag is what its writer put there before. */
static void memory_orders(void)
{
    static int data[N], ready[N];
    int wrong = 0, found = 0;
    for (int i = 0; i < N; i++)
        data[i] = ready[i] = 0;
#pragma ws for steal_schedule(dynamic, 1)
    for (int i = 0; i < N; i++) {
        data[i] = i + 1;
#pragma ws atomic write release
        ready[i] = 1;
        for (int k = 0; k < N; k += 7) {
            int is;
#pragma ws atomic read acquire
            is = ready[k];
            if (is) {
#pragma ws atomic relaxed
                found++;
                if (data[k] != k + 1) {
#pragma ws atomic update, seq_cst
                    wrong++;
                }
            }
        }
        work();
    }
    CHECK(wrong == 0 && found > 0);
#pragma ws for
    for (int i = 0; i < N; i++) {
        int v;
#pragma ws atomic acq_rel capture
        v = --found;
#pragma ws atomic capture, acquire
        {
            v = wrong;
            wrong += 1;
        }
#pragma ws atomic seq_cst, read
        v = ready[i];
#pragma ws atomic release
        wrong += v;
#pragma ws atomic relaxed write
        ready[i] = v + 1;
    }
    CHECK(wrong == 2 * N && ready[0] == 2 && ready[N - 1] == 2);
}

struct packed_fields {
    unsigned a : 3, b : 13;
    int c : 9;
    short whole;
};
union number {
    float real;
    unsigned bits;
};

/* C++20 warns of updates of volatile variables. */
#if defined __cplusplus && __cplusplus > 201703L
#define VOLATILE
#else
#define VOLATILE volatile
#endif

static void places(void)
{
    struct packed_fields s = {0, 0, 0, 0}, *p = &s;
    VOLATILE int v = 0;
    VOLATILE unsigned char vc = 0;
    union number u;
    struct {
        struct {
            long count[3];
        } inner[2];
    } deep = {{{{0, 0, 0}}, {{0, 0, 0}}}};
    u.real = 1.0f;
#pragma ws for
    for (int i = 0; i < N; i++) {
#pragma ws atomic
        s.a++;
#pragma ws atomic
        p->b += 3;
#pragma ws atomic
        p->c -= 1;
#pragma ws atomic
        s.whole += 2;
#pragma ws atomic
        v += 2;
#pragma ws atomic
        vc ^= (unsigned char) i;
#pragma ws atomic
        u.bits ^= 0x80000000u;
#pragma ws atomic
        deep.inner[i % 2].count[i % 3]++;
        work();
    }
    CHECK(s.a == N % 8 && s.b == 3 * N && s.c == (-N & 511) - ((-N & 256) ? 512 : 0) && s.whole == 2 * N);
    CHECK(v == 2 * N && vc == 0 && u.real == 1.0f);
    long total = 0;
    for (int i = 0; i < 6; i++)
        total += deep.inner[i / 3].count[i % 3];
    CHECK(total == N);
}

static int asked;
static int value_of(int i)
{
#pragma ws atomic
    asked++;
    return i;
}

/* The right side is evaluated once; it may hold calls and atomics of its own. */
static void evaluated_once(void)
{
    long sum = 0;
    int limit = N;
    asked = 0;
#pragma ws for
    for (int i = 0; i < limit; i++) {
#pragma ws atomic
        sum += value_of(i) ? value_of(i) - 1 : 0;
        work();
    }
    CHECK(sum == (long) N * (N - 1) / 2 - (N - 1) && asked == 2 * N - 1);
}

#define ADD(x, y) _Pragma("ws atomic") x += y
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define TAKE(v, x) PRAGMA(ws atomic capture) v = x++

static void operators_of_the_preprocessor(void)
{
    long sum = 0, count = 0, product = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
        long k;
        ADD(sum, i);
        TAKE(k, count);
        ADD(product, k * 2);
        work();
    }
    CHECK(sum == (long) N * (N - 1) / 2 && count == N && product == (long) N * (N - 1));
}

/* Atomics in functions of another file; outside of any loop they are atomics too. */
static void elsewhere(void)
{
    double histogram[5] = {0};
    long double total = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
        add_elsewhere(&histogram[i % 5], i);
        add_wide_elsewhere(&total, 1);
#pragma ws atomic
        total += 1;
        work();
    }
    CHECK(histogram[0] + histogram[1] + histogram[2] + histogram[3] + histogram[4] == (double) N * (N - 1) / 2);
    CHECK(histogram[1] == 15880 && total == 2 * N);
    add_elsewhere(&histogram[1], 1);
    CHECK(histogram[1] == 15881);
    CHECK(next_elsewhere() == 0 && next_elsewhere() == 1);
#pragma ws atomic
    total *= 2;
    CHECK(total == 4 * N);
}

static void nested(void)
{
    long sum = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
#pragma ws for
        for (int j = 0; j < 5; j++) {
#pragma ws atomic
            sum += j;
        }
        work();
    }
    CHECK(sum == 10 * N);
}

static void run_all(void)
{
    RUN(assembly);
    RUN(operators);
    RUN(types);
    RUN(captures);
    RUN(memory_orders);
    RUN(places);
    RUN(evaluated_once);
    RUN(operators_of_the_preprocessor);
    RUN(elsewhere);
    RUN(nested);
}
