/* SPDX-License-Identifier: MIT */
/* Loops whose last step leaves the type of their variable: as many iterations as there are before the bound, each once. Bounds and steps
 * are such as the compiler does not know, but for some that it does. */
#include "check.h"

#include <limits.h>

/* What ran: calls of note() with each value of the variable. */
static long count, sum;

static void note_start(void)
{
    count = sum = 0;
}

#define NOTE(i) \
    do { \
        __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); \
        __atomic_fetch_add(&sum, (long) (i) % 1000003, __ATOMIC_RELAXED); \
        work(); \
    } while (0)

/* The same by numbers: first, first + step, ... of `iterations`. */
static int ran(long iterations, unsigned long first, unsigned long step, int is_unsigned, unsigned bytes)
{
    long wanted = 0;
    for (long i = 0; i < iterations; i++) {
        unsigned long value = first + (unsigned long) i * step;
        long v = (long) value;
        if (is_unsigned && bytes < 8)
            v = (long) (value & ((1ul << 8 * bytes) - 1));
        wanted += v % 1000003;
    }
    if (count != iterations || sum != wanted)
        printf("%ld iterations and sum %ld, not %ld and %ld\n", count, sum, iterations, wanted);
    return count == iterations && sum == wanted;
}

/* Hides a value from the compiler. */
static volatile long hidden;
static long opaque(long value)
{
    hidden = value;
    return hidden;
}

#define UP_AND_DOWN(name, type, least, most, is_unsigned) \
    static void name(void) \
    { \
        const type low = (type) opaque((long) (least)), high = (type) opaque((long) (most)); \
        const type third = (type) opaque((long) ((unsigned long) (most) / 3 + 1)), seven = (type) opaque(7); \
        const unsigned long range = (unsigned long) (most) - (unsigned long) (least); \
        /* Far past the end. */ \
        note_start(); \
        _Pragma("ws for") for (type i = 1; i < high; i += third) NOTE(i); \
        CHECK(ran(3, 1, (unsigned long) (most) / 3 + 1, is_unsigned, sizeof(type))); \
        /* Many iterations, and one too far at the end; the step known and not. */ \
        const unsigned long cut = sizeof(type) > 1 ? range - 5000 : 0; \
        const unsigned long n = (range - cut - 1) / 7 + 1; \
        const type from_low = (type) ((unsigned long) (least) + cut), from_high = (type) ((unsigned long) (most) - cut); \
        note_start(); \
        _Pragma("ws for schedule(dynamic, 3)") for (type i = from_low; i < high; i += 7) NOTE(i); \
        CHECK(ran((long) n, (unsigned long) (least) + cut, 7, is_unsigned, sizeof(type))); \
        note_start(); \
        _Pragma("ws for") for (type i = from_low; i < high; i += seven) NOTE(i); \
        CHECK(ran((long) n, (unsigned long) (least) + cut, 7, is_unsigned, sizeof(type))); \
        note_start(); \
        _Pragma("ws for schedule(guided)") for (type i = from_high; i > low; i -= 7) NOTE(i); \
        CHECK(ran((long) n, (unsigned long) (most) - cut, -7ul, is_unsigned, sizeof(type))); \
        note_start(); \
        _Pragma("ws for steal_schedule(dynamic, 5)") for (type i = from_high; i > low; i -= seven) NOTE(i); \
        CHECK(ran((long) n, (unsigned long) (most) - cut, -7ul, is_unsigned, sizeof(type))); \
        /* One iteration, and none. */ \
        note_start(); \
        const type almost = (type) (high - 1); \
        _Pragma("ws for") for (type i = almost; i < high; i += seven) NOTE(i); \
        CHECK(ran(1, (unsigned long) (most) - 1, 7, is_unsigned, sizeof(type))); \
        note_start(); \
        _Pragma("ws for") for (type i = high; i < high; i += seven) NOTE(i); \
        CHECK(count == 0); \
        /* Not past the end: loops that could be split, but are not. */ \
        const type to = (type) (from_low + 70); \
        note_start(); \
        _Pragma("ws for") for (type i = from_low; i < to; i += seven) NOTE(i); \
        CHECK(ran(10, (unsigned long) (least) + cut, 7, is_unsigned, sizeof(type))); \
    }

UP_AND_DOWN(signed_8, signed char, SCHAR_MIN, SCHAR_MAX, 0)
UP_AND_DOWN(unsigned_8, unsigned char, 0, UCHAR_MAX, 1)
UP_AND_DOWN(signed_16, short, SHRT_MIN, SHRT_MAX, 0)
UP_AND_DOWN(unsigned_16, unsigned short, 0, USHRT_MAX, 1)
UP_AND_DOWN(signed_32, int, INT_MIN, INT_MAX, 0)
UP_AND_DOWN(unsigned_32, unsigned, 0, UINT_MAX, 1)
UP_AND_DOWN(signed_64, long, LONG_MIN, LONG_MAX, 0)
UP_AND_DOWN(unsigned_64, unsigned long, 0, ULONG_MAX, 1)

/* Bounds that the compiler knows: then it decides, and the runtime need not. */
static void constants(void)
{
    note_start();
#pragma ws for
    for (int i = 0; i < INT_MAX; i += 2000000000)
        NOTE(i);
    CHECK(ran(2, 0, 2000000000, 0, 4));
    note_start();
#pragma ws for
    for (long i = LONG_MIN; i < LONG_MAX; i += LONG_MAX / 2)
        NOTE(i);
    CHECK(ran(5, (unsigned long) LONG_MIN, LONG_MAX / 2, 0, 8));
    note_start();
#pragma ws for
    for (unsigned long i = 2000; i > 5; i -= 11)
        NOTE(i);
    CHECK(ran(182, 2000, -11ul, 1, 8));
    note_start();
#pragma ws for
    for (signed char i = -128; i <= 126; i += 127)
        NOTE(i);
    CHECK(ran(3, -128ul, 127, 0, 1));
    int last = 0;
    note_start();
#pragma ws for lastprivate(last)
    for (int i = INT_MAX; i > INT_MIN; i -= 2000000000) {
        last = i;
        NOTE(i);
    }
    CHECK(ran(3, INT_MAX, -2000000000ul, 0, 4) && last == INT_MAX - 2000000000 - 2000000000);
    unsigned char i = 0;
    note_start();
#pragma ws for lastprivate(i)
    for (i = 0; i < 250; i += 99)
        NOTE(i);
    CHECK(ran(3, 0, 99, 1, 1) && i == 41);
}

/* Bounds that are computed in the region. */
static int global_end;
static void in_the_region(int *from, int *step)
{
    note_start();
#pragma ws for
    for (int i = *from; i < global_end; i += *step)
        NOTE(i);
    CHECK(ran(715, INT_MAX - 5000, 7, 0, 4));
}

/* Each of the other clauses. */
static void clauses(void)
{
    const int end = (int) opaque(INT_MAX), from = end - 5000, step = (int) opaque(9);
    long total = 1, first = 5;
    unsigned char seen[556] = {0};
#pragma ws for reduction(+ : total) firstprivate(first) schedule(static)
    for (int i = from; i < end; i += step) {
        total += first;
        seen[(i - from) / step]++;
        work();
    }
    CHECK(total == 1 + 5 * 556);
    int all = 1;
    for (int i = 0; i < 556; i++)
        all &= seen[i] == 1;
    CHECK(all);
    for (int share = 0; share < 2; share++) {
        note_start();
#pragma ws for if (share)
        for (int i = from; i < end; i += step)
            NOTE(i);
        CHECK(ran(556, INT_MAX - 5000, 9, 0, 4));
        note_start();
        const unsigned long most = (unsigned long) opaque(-1);
#pragma ws for if (share)
        for (unsigned long i = most - 40; i < most; i += 16)
            NOTE(i);
        CHECK(ran(3, ULONG_MAX - 40, 16, 1, 8));
    }
    /* In order where nobody shares it. */
    long previous = from - 9L, rising = 1;
#pragma ws for if (end < 0)
    for (int i = from; i < end; i += step) {
        rising &= i == previous + 9;
        previous = i;
    }
    CHECK(rising);
    /* In a loop of ours. */
    int inner[4] = {0};
#pragma ws for
    for (int k = 0; k < 4; k++)
#pragma ws for
        for (int i = from; i < end; i += step)
            inner[k]++;
    CHECK(inner[0] == 556 && inner[1] == 556 && inner[2] == 556 && inner[3] == 556);
}

static void collapsed(void)
{
    const int end = (int) opaque(INT_MAX), step = (int) opaque(2000000000);
    const unsigned char small = (unsigned char) opaque(250);
    const unsigned long most = (unsigned long) opaque(-1);
    note_start();
    long inner = 0;
#pragma ws for collapse(2) reduction(+ : inner)
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < end; j += step) {
            inner += i;
            NOTE(j);
        }
    CHECK(count == 20 && sum == 10 * (2000000000 % 1000003) && inner == 90);
    note_start();
    inner = 0;
#pragma ws for collapse(3) reduction(+ : inner)
    for (unsigned char i = small; i > 0; i -= 99)
        for (unsigned long j = most; j > 5; j -= most / 2 + 1)
            for (int k = end; k > -end; k -= step) {
                inner += k;
                NOTE(i);
            }
    CHECK(count == 3 * 2 * 3 && sum == 6 * (250 + 151 + 52) && inner == 6 * (3L * INT_MAX - 6000000000));
    note_start();
    inner = 0;
#pragma ws for collapse(2) reduction(+ : inner)
    for (int i = end - 5; i <= end - 1; i += step)
        for (int k = 5 - end; k >= -end; k -= step / 1000000000) {
            inner += k + (long) end;
            NOTE(i);
        }
    CHECK(count == 3 && sum == (INT_MAX - 5) % 1000003 * 3 && inner == 5 + 3 + 1);
    int j = 0;
    long last = 0;
#pragma ws for collapse(2) lastprivate(j, last)
    for (int i = 0; i < 10; i += 2)
        for (j = -5; j < end; j += step)
            last = i + j;
    CHECK(last == 8 + 1999999995 && j == (int) 3999999995u);
}

#ifdef __clang__
/* An error of GCC's. */
static void vectors(void)
{
    const int end = (int) opaque(INT_MAX), step = (int) opaque(2000000000);
    long total = 0;
    int low = 0;
#pragma ws for simd reduction(+ : total, low)
    for (int i = -end; i < end; i += step) {
        total++;
        low += i == -end + step;
    }
    CHECK(total == 3 && low == 1);
}
#endif

static void run_all(void)
{
    RUN(signed_8);
    RUN(unsigned_8);
    RUN(signed_16);
    RUN(unsigned_16);
    RUN(signed_32);
    RUN(unsigned_32);
    RUN(signed_64);
    RUN(unsigned_64);
    RUN(constants);
    global_end = INT_MAX;
    int from = INT_MAX - 5000, step = 7;
    before_test();
    in_the_region(&from, &step);
    RUN(clauses);
    RUN(collapsed);
#ifdef __clang__
    RUN(vectors);
#else
    CHECK(!&ws_fake_splits || ws_fake_splits > 40);     /* most were such loops; clang counts them before they begin */
#endif
}
