/* SPDX-License-Identifier: MIT
 *
 * `ws sections`: each section runs once, with the data clauses of loops. */
#include "check.h"


static int done[8];

static void clear(void)
{
    memset(done, 0, sizeof done);
}

static void expect_each_once(int n)
{
    for (int i = 0; i < 8; i++)
        CHECK(done[i] == (i < n));
}

static void plain(void)
{
    clear();
#pragma ws sections
    {
        {
            done[0]++;
            work();
        }
#pragma ws section
        {
            done[1]++;
            work();
        }
#pragma ws section
        done[2]++;
#pragma ws section
        for (int i = 3; i < 6; i++)
            done[i]++;
    }
    expect_each_once(6);
    CHECK_SCHEDULE(WS_DYNAMIC, 1, 0, 0);
    CHECK_SITE(WS_SITE_CHUNK | WS_SITE_ANY_ORDER, WS_SITE_CHUNK | WS_SITE_ANY_ORDER);
}

static void first_named(void)
{
    clear();
#pragma ws sections name("three parts")
    {
#pragma ws section
        done[0]++;
#pragma ws section
        done[1]++;
#pragma ws section
        {
        }
    }
    expect_each_once(2);
    CHECK_NAME("three parts");
}

static void one(void)
{
    clear();
    int last = 0;
#pragma ws sections lastprivate(last)
    {
        {
            done[0]++;
            last = 5;
        }
    }
    CHECK(last == 5);
#pragma ws sections
    {
#pragma ws section
        done[1]++;
    }
    expect_each_once(2);
}

/* Many times, so that the last one runs early and late, here and on guests. */
static void last_in_the_text(void)
{
    for (int round = 0; round < 30; round++) {
        int x = 7, y = 8, seen[4] = {0};
#pragma ws sections firstprivate(x) lastprivate(x) lastprivate(y)
        {
#pragma ws section
            {
                seen[0] = x;
                x = y = 1;
                work();
            }
#pragma ws section
            {
                y = 2;
                work();
            }
#pragma ws section
            {
                seen[1] = seen[0] < 0;
                y = 3;
            }
#pragma ws section
            {
                x = 100 + round;
                y = 4;
                work();
            }
        }
        CHECK(x == 100 + round && y == 4 && seen[0] == 7);
        CHECK_SITE(WS_SITE_ANY_ORDER, 0);
    }
}

static void reduced(int n)
{
    long sum = 1, product = 1;
    double highest = -1;
    int mine = 3, first = n;
#pragma ws sections reduction(+ : sum) reduction(* : product) reduction(max : highest) private(mine) firstprivate(first) default(shared)
    {
        for (mine = 0; mine < first; mine++)
            sum += mine;
#pragma ws section
        {
            mine = 2;
            product *= mine;
            highest = highest > 2.5 ? highest : 2.5;
        }
#pragma ws section
        {
            for (int i = 0; i < n; i++)
                sum += i;
            product *= 5;
        }
#pragma ws section
        highest = highest > 7 ? highest : 7;
    }
    CHECK(sum == 1 + n * (n - 1));
    CHECK(product == 10 && highest == 7 && mine == 3 && first == n);
}

static void with_others_inside(int n)
{
    long x = 0, y = 0, z = 0;
    int hits[100] = {0};
#pragma ws sections
    {
        for (int i = 0; i < n; i++) {
#pragma ws atomic
            x += i;
#pragma ws critical (sections_test)
            y += i;
        }
#pragma ws section
        for (int i = 0; i < n; i++) {
#pragma ws atomic
            x += i;
#pragma ws critical (sections_test)
            y += i;
        }
#pragma ws section
        {
#pragma ws for reduction(+ : z)
            for (int i = 0; i < n; i++) {
                z += i;
                hits[i]++;
            }
        }
#pragma ws section
        {
#pragma ws sections
            {
                hits[90]++;
#pragma ws section
                hits[91]++;
            }
        }
    }
    CHECK(x == n * (n - 1) && y == x && 2 * z == x);
    for (int i = 0; i < 100; i++)
        CHECK(hits[i] == (i < n || i == 90 || i == 91));
}

static void in_loops(int n)
{
    int left[40] = {0}, right[40] = {0}, last = 0;
#pragma ws for lastprivate(last)
    for (int i = 0; i < n; i++) {
#pragma ws sections lastprivate(last)
        {
            left[i] += i;
#pragma ws section
            {
                right[i] += 2 * i;
                last = i;
            }
        }
        work();
    }
    for (int i = 0; i < n; i++)
        CHECK(left[i] == i && right[i] == 2 * i);
    CHECK(last == n - 1);
}

static int jumps(int n)
{
    int found = 0;
#pragma ws sections reduction(+ : found)
    {
        switch (n) {
        case 1:
            break;
        default:
            found += 1;
        }
#pragma ws section
        for (int i = 0; i < n; i++) {
            if (i == 2)
                continue;
            if (i == 4)
                break;
            found += 10;
        }
#pragma ws section
        {
            if (n == 3)
                goto past;
            found += 1000;
        past:;
        }
    }
    return found;
}

static void conditional(int n)
{
    clear();
#pragma ws sections if(n > 1000)
    {
        done[0]++;
#pragma ws section
        done[1]++;
    }
    expect_each_once(2);
    CHECK(!&ws_fake_unshared || ws_fake_unshared == 1);
}

#define BOTH(a, b) \
    _Pragma("ws sections") { \
        a; \
        _Pragma("ws section") b; \
    }

static void from_a_macro(void)
{
    clear();
    BOTH(done[0]++, done[1]++)
    expect_each_once(2);
}

static void run_all(void)
{
    RUN(plain);
    RUN(first_named);
    RUN(one);
    RUN(last_in_the_text);
    before_test(), reduced(40);
    before_test(), with_others_inside(40);
    before_test(), in_loops(40);
    before_test();
    CHECK(jumps(3) == 21);
    CHECK(jumps(9) == 1031);
    before_test(), conditional(10);
    RUN(from_a_macro);
}
