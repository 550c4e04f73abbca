/* SPDX-License-Identifier: MIT
 *
 * The clause `if`: where it is false the loop runs whole, in order, by the thread that came to it. */
#include "check.h"

static int asked;

static int ask(int answer)
{
    asked++;
    return answer;
}

/* In order: what the last iteration saw is what all before it left. */
static long in_order(int share)
{
    long seen = 0;
    const int before = &ws_fake_unshared ? ws_fake_unshared : 0;
#pragma ws for if(ask(share))
    for (int i = 0; i < 50; i++) {
        if (share) {
#pragma ws atomic
            seen += i;
        } else {
            seen = seen * 3 % 1000003 + i;
        }
        work();
    }
    CHECK(!&ws_fake_unshared || ws_fake_unshared - before == !share);
    return seen;
}

static void yes_and_no(void)
{
    long expected = 0;
    for (int i = 0; i < 50; i++)
        expected = expected * 3 % 1000003 + i;
    asked = 0;
    CHECK(in_order(0) == expected);
    CHECK(asked == 1);
    CHECK(in_order(1) == 49 * 25);
    CHECK(asked == 2);
}

static void constants(int n)
{
    int a[60] = {0}, last = 0;
    const int before = &ws_fake_unshared ? ws_fake_unshared : 0;
#pragma ws for if(0) lastprivate(last)
    for (int i = 0; i < n; i++)
        a[i] += last = i;
#pragma ws for if(1)
    for (int i = 0; i < n; i++) {
        a[i] += i;
        work();
    }
    CHECK(!&ws_fake_unshared || ws_fake_unshared - before == 1);
    for (int i = 0; i < n; i++)
        CHECK(a[i] == 2 * i);
    CHECK(last == n - 1);
}

/* Bounds that only the body knows, 64-bit unsigned, collapsed: the other entry point. */
static void other_forms(unsigned long n, int share)
{
    long sum = 0, last = 0;
    int hits[12][5] = {{0}};
#pragma ws for reduction(+ : sum) if(share) schedule(dynamic, 2)
    for (unsigned long i = 0; i < n; i += 3)
        sum += (long) i;
#pragma ws for collapse(2) if(share) lastprivate(last)
    for (int i = 0; i < 12; i++)
        for (int j = 4; j >= 0; j--) {
            hits[i][j]++;
            last = 10 * i + j;
            work();
        }
    CHECK(sum == 3 * 33 * 16 && last == 110);
    for (int i = 0; i < 60; i++)
        CHECK(hits[i / 5][i % 5] == 1);
#pragma ws for if(share)
    for (unsigned long i = n; i < n; i++)
        hits[0][0]++;
    CHECK(hits[0][0] == 1);
}

/* A loop in the body of one that is not shared may be. */
static void inner_loop(int share)
{
    int hits[200] = {0};
    const int before = &ws_fake_joined ? ws_fake_joined : 0;
#pragma ws for if(share > 1)
    for (int i = 0; i < 2; i++) {
#pragma ws for
        for (int j = 0; j < 100; j++) {
            hits[100 * i + j]++;
            work();
        }
    }
    for (int i = 0; i < 200; i++)
        CHECK(hits[i] == 1);
    CHECK(!&ws_fake_joined || ws_fake_joined > before);
}

/* What C takes for a condition. */
static void types(double d, const char *text, unsigned char c)
{
    int hits = 0;
    const int before = &ws_fake_unshared ? ws_fake_unshared : 0;
#pragma ws for if(d) reduction(+ : hits)
    for (int i = 0; i < 10; i++)
        hits++;
#pragma ws for if(text) reduction(+ : hits)
    for (int i = 0; i < 10; i++)
        hits++;
#pragma ws for if(c ? d < 0 : !text) reduction(+ : hits)
    for (int i = 0; i < 10; i++)
        hits++;
#pragma ws for reduction(+ : hits), if(c && d > 0)
    for (int i = 0; i < 10; i++)
        hits++;
    CHECK(hits == 40);
    CHECK(!&ws_fake_unshared || ws_fake_unshared - before == 2);
}

static void run_all(void)
{
    RUN(yes_and_no);
    before_test(), constants(60);
    before_test(), other_forms(99, 0);
    before_test(), other_forms(99, 1);
    before_test(), inner_loop(1);
    before_test(), types(0.25, "", 0);
}
