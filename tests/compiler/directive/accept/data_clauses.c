/* SPDX-License-Identifier: MIT
 * private, firstprivate, lastprivate, shared, default. */
#include "check.h"

enum { N = 120 };
static int global = 3;

static void shared_by_default(void)
{
    int a[N], n = N, step = 2;
#pragma ws for
    for (int i = 0; i < n; i++) {
        a[i] = i * step + global;
        work();
    }
    for (int i = 0; i < n; i++)
        CHECK(a[i] == 2 * i + 3);
}

static void private_and_lastprivate(void)
{
    int a[N], p = -1, f = 7, l = -1, i;
#pragma ws for private(p) firstprivate(f), lastprivate(l, i)
    for (i = 0; i < N; i += 3) {
        p = i * 2;
        a[i] = p + f;
        l = i;
        work();
    }
    CHECK(p == -1 && f == 7 && l == 117 && i == 120);
    for (int k = 0; k < N; k += 3)
        CHECK(a[k] == 2 * k + 7);
}

static void firstprivate_keeps_each_participants_copy(void)
{
    int seen[N], f = 40;
#pragma ws for firstprivate(f)
    for (int i = 0; i < N; i++) {
        f++;
        seen[i] = f;
        work();
    }
    CHECK(f == 40);
    for (int i = 0; i < N; i++)
        CHECK(seen[i] > 40 && seen[i] <= 40 + N);
}

static void first_and_last(void)
{
    for (int round = 0; round < 20; round++) {
        int a[N], fl = 5;
#pragma ws for firstprivate(fl) lastprivate(fl) schedule(dynamic, 1)
        for (int i = 0; i < N; i++) {
            if (i == N - 1)
                fl = 1000 + fl;
            a[i] = fl;
            work();
        }
        CHECK(fl == 1005);
        for (int k = 0; k < N - 1; k++)
            CHECK(a[k] == 5);
    }
}

static void arrays_and_structs(void)
{
    struct { double x; int y[3]; } s = {1.5, {1, 2, 3}}, last = {0, {0, 0, 0}};
    int fixed[4] = {4, 3, 2, 1};
    double out[N];
#pragma ws for firstprivate(s, fixed) lastprivate(last)
    for (int i = 0; i < N; i++) {
        s.y[0] = i;
        last.x = i;
        last.y[2] = fixed[3];
        out[i] = s.x + s.y[0] + s.y[2] + fixed[0];
        work();
    }
    CHECK(s.y[0] == 1 && last.x == N - 1 && last.y[2] == 1);
    for (int i = 0; i < N; i++)
        CHECK(out[i] == 1.5 + i + 3 + 4);
}

static void default_none(void)
{
    int a[N], n = N, k = 2;
#pragma ws for default(none) shared(a, n, iteration_seconds) firstprivate(k) schedule(dynamic, k)
    for (int i = 0; i < n; i++) {
        a[i] = k * i;
        work();
    }
    for (int i = 0; i < n; i++)
        CHECK(a[i] == 2 * i);
    CHECK_SCHEDULE(WS_DYNAMIC, 2, 0, 0);
}

static void default_shared(void)
{
    long sum = 0;
    int n = N;
#pragma ws for default(shared) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    CHECK(sum == N * (N - 1) / 2);
}

static void names_like_clauses(void)
{
    int schedule = 1, steal_schedule = 2, collapse = 0;
#pragma ws for firstprivate(schedule, steal_schedule) reduction(+ : collapse)
    for (int i = 0; i < N; i++)
        collapse += schedule + steal_schedule;
    CHECK(collapse == 3 * N);
}

static void written_scalars_stay_shared(void)
{
    int first = -1, last = -1;
    int *address = &last;
#pragma ws for schedule(static, 1)
    for (int i = 0; i < N; i++) {
        if (i == 0)
            first = i + 10;
        if (i == N - 1)
            *address = i;
        work();
    }
    CHECK(first == 10 && last == N - 1);
}

static void run_all(void)
{
    RUN(shared_by_default);
    RUN(private_and_lastprivate);
    RUN(firstprivate_keeps_each_participants_copy);
    RUN(first_and_last);
    RUN(arrays_and_structs);
    RUN(default_none);
    RUN(default_shared);
    RUN(names_like_clauses);
    RUN(written_scalars_stay_shared);
}
