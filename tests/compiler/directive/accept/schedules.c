/* SPDX-License-Identifier: MIT
 * schedule and steal_schedule reach the runtime, their chunk sizes evaluated once by the encountering function. */
#include "check.h"

enum { N = 64 };

#define LOOP(sum) \
    for (int i = 0; i < N; i++) { \
        sum += i; \
        work(); \
    }
#define CHECK_SUM(sum) CHECK(sum == N * (N - 1) / 2)

static void kinds(void)
{
    long s = 0;
#pragma ws for reduction(+ : s)
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_AUTO, 0, WS_AUTO, 0);
    s = 0;
#pragma ws for reduction(+ : s) schedule(static)
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_STATIC, 0, WS_AUTO, 0);
    s = 0;
#pragma ws for schedule(dynamic) reduction(+ : s) steal_schedule(static)
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_DYNAMIC, 0, WS_STATIC, 0);
    s = 0;
#pragma ws for schedule(guided), steal_schedule(guided), reduction(+ : s)
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_GUIDED, 0, WS_GUIDED, 0);
    s = 0;
#pragma ws for schedule(auto) steal_schedule(dynamic) reduction(+ : s)
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_AUTO, 0, WS_DYNAMIC, 0);
    s = 0;
#pragma ws for reduction(+ : s) schedule(runtime) steal_schedule(runtime)
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_RUNTIME, 0, WS_RUNTIME, 0);
    s = 0;
#pragma ws for reduction(+ : s) steal_schedule(runtime), schedule(static, 4)
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_STATIC, 4, WS_RUNTIME, 0);
}

/* steal_schedule(auto) is told from no clause, with which thieves do as the owner. */
static void a_steal_schedule_is_given(void)
{
    long s = 0;
#pragma ws for reduction(+ : s) schedule(dynamic, 2)
    LOOP(s)
    CHECK_SITE(WS_SITE_STEAL, 0);
    s = 0;
#pragma ws for reduction(+ : s) schedule(dynamic, 2) steal_schedule(auto)
    LOOP(s)
    CHECK_SITE(WS_SITE_STEAL, WS_SITE_STEAL);
    CHECK_SCHEDULE(WS_DYNAMIC, 2, WS_AUTO, 0);
}

/* The order of the iterations is free unless something depends on which is the last. */
static void order(void)
{
    long s = 0, last = 0, first = 7;
    int outside;
    long array[4] = {0};
#pragma ws for reduction(+ : s)
    LOOP(s)
    CHECK_SITE(WS_SITE_ANY_ORDER, WS_SITE_ANY_ORDER);
#pragma ws for firstprivate(first) reduction(+ : array) private(last)
    for (outside = 0; outside < N; outside++) {
        last = outside;
        array[outside % 4] += first + last;
        work();
    }
    CHECK_SITE(WS_SITE_ANY_ORDER, WS_SITE_ANY_ORDER);
#pragma ws for collapse(2) reduction(+ : s)
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            s += j;
            work();
        }
    CHECK_SITE(WS_SITE_ANY_ORDER, WS_SITE_ANY_ORDER);
#pragma ws for lastprivate(last) steal_schedule(static)
    for (int i = 0; i < N; i++) {
        last = i;
        work();
    }
    CHECK(last == N - 1);
    CHECK_SITE(WS_SITE_ANY_ORDER, 0);
#pragma ws for firstprivate(first) lastprivate(first)
    for (unsigned long i = 0; i < N; i++) {
        first = (long) i;
        work();
    }
    CHECK(first == N - 1);
    CHECK_SITE(WS_SITE_ANY_ORDER, 0);
#pragma ws for collapse(2) lastprivate(last, array)
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            last = i * j;
            array[0] = i + j;
            work();
        }
    CHECK(last == 49 && array[0] == 14);
    CHECK_SITE(WS_SITE_ANY_ORDER, 0);
#pragma ws for lastprivate(outside)
    for (outside = 0; outside < N; outside++)
        work();
    CHECK(outside == N);
    CHECK_SITE(WS_SITE_ANY_ORDER, 0);
    /* A loop inside another does not tell what the outer one is. */
#pragma ws for
    for (int i = 0; i < N; i++) {
        int mine = 0;
#pragma ws for lastprivate(mine)
        for (int j = 0; j < 4; j++)
            mine = j;
        if (mine != 3)
            CHECK(0);
        work();
    }
    CHECK_SITE(WS_SITE_ANY_ORDER, WS_SITE_ANY_ORDER);
}

static void constant_chunks(void)
{
    enum { EIGHT = 8 };
    long s = 0;
#pragma ws for reduction(+ : s) schedule(static, 3) steal_schedule(dynamic, 2 * 2)
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_STATIC, 3, WS_DYNAMIC, 4);
    CHECK(!&ws_fake_site || ((ws_fake_site->kinds & WS_SITE_CHUNK) && (ws_fake_site->kinds & WS_SITE_STEAL_CHUNK)));
    s = 0;
#pragma ws for reduction(+ : s) schedule(static, EIGHT) steal_schedule(guided, sizeof(long))
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_STATIC, 8, WS_GUIDED, 8);
    s = 0;
#pragma ws for reduction(+ : s) steal_schedule(guided, 5)
    LOOP(s)
    CHECK_SCHEDULE(WS_AUTO, 0, WS_GUIDED, 5);
    CHECK(!&ws_fake_site || (!(ws_fake_site->kinds & WS_SITE_CHUNK) && (ws_fake_site->kinds & WS_SITE_STEAL_CHUNK)));
}

static int calls;

static int counted(int value)
{
    calls++;
    return value;
}

static void computed_chunks(void)
{
    long s = 0, chunk = 3;
    unsigned char small = 200;
    calls = 0;
#pragma ws for reduction(+ : s) schedule(dynamic, counted(5)) steal_schedule(static, counted(2) + 1)
    LOOP(s)
    CHECK_SUM(s);
    CHECK(calls == 2);
    CHECK_SCHEDULE(WS_DYNAMIC, 5, WS_STATIC, 3);
    s = 0;
#pragma ws for reduction(+ : s) schedule(dynamic, chunk++) steal_schedule(guided, small)
    LOOP(s)
    CHECK(chunk == 4);
    CHECK_SCHEDULE(WS_DYNAMIC, 3, WS_GUIDED, 200);
    /* A computed value that is too small is told from none by the site; the runtime complains. */
    s = 0;
    chunk = 0;
#pragma ws for reduction(+ : s) schedule(dynamic, chunk + 1)
    LOOP(s)
    CHECK_SCHEDULE(WS_DYNAMIC, 1, WS_AUTO, 0);
}

static void bounds_are_evaluated_once(void)
{
    long s = 0;
    calls = 0;
#pragma ws for reduction(+ : s)
    for (int i = counted(2); i < counted(N); i += counted(2)) {
        s += i;
        work();
    }
    CHECK(s == 992);
    /* Start, end and step once for each visit of a participant, and each visit runs one of the 32 iterations at least. */
    CHECK(calls % 3 == 0 && calls >= 3 && calls <= 3 * 32);
}

#define KIND guided
#define CLAUSE(x) schedule(KIND, x)
#define SUM(v) reduction(+ : v)

static void clauses_from_macros(void)
{
    long s = 0;
#pragma ws for CLAUSE(5) SUM(s)
    LOOP(s)
    CHECK_SUM(s);
    CHECK_SCHEDULE(WS_GUIDED, 5, WS_AUTO, 0);
}

static void one_site_per_loop(void)
{
    const struct ws_site *first = NULL;
    for (int round = 0; round < 3; round++) {
        long s = 0;
#pragma ws for reduction(+ : s)
        LOOP(s)
        if (!&ws_fake_site)
            return;
        if (!first)
            first = ws_fake_site;
        CHECK(ws_fake_site == first);
        s = 0;
#pragma ws for reduction(+ : s)
        LOOP(s)
        CHECK(ws_fake_site != first);
    }
}

static void run_all(void)
{
    RUN(kinds);
    RUN(a_steal_schedule_is_given);
    RUN(order);
    RUN(constant_chunks);
    RUN(computed_chunks);
    RUN(bounds_are_evaluated_once);
    RUN(clauses_from_macros);
    RUN(one_site_per_loop);
}
