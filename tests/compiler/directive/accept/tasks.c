/* SPDX-License-Identifier: MIT
 *
 * `ws task`, taskloop, taskgroup and taskwait: each task runs once, before what waits for it goes on, and gets the data
 * that its clauses say. */
#include "check.h"

enum { MOST = 400 };
static int ran[MOST];

static void count(int i)
{
#pragma ws atomic
    ran[i]++;
}

static void expect_each_once(int n)
{
    for (int i = 0; i < MOST; i++)
        CHECK(ran[i] == (i < n));
    memset(ran, 0, sizeof ran);
}

static long fib(int n)
{
    long a = 0, b = 0;
    if (n < 2)
        return n;
    if (n % 4 == 0)
        work();
#pragma ws task shared(a) name("fib") if(n > 3)
    a = fib(n - 1);
#pragma ws task shared(b) final(n < 5)
    b = fib(n - 2);
#pragma ws taskwait
    return a + b;
}

static void recursive(void)
{
    CHECK(fib(15) == 610);
}

static void counted(int n)
{
    for (int i = 0; i < n; i++) {
#pragma ws task priority(i % 3) untied mergeable
        {
            work();
            count(i);
        }
    }
#pragma ws taskwait
    expect_each_once(n);
}

static void tree(int i, int n)
{
    for (int child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++) {
#pragma ws task firstprivate(child)
        {
            tree(child, n);
            if (child % 8 == 0)
                work();
            count(child);
        }
    }
}

/* A taskgroup waits for the tasks of tasks, too, and for no others. */
static void grouped(int n)
{
    int outside = 0;
#pragma ws task shared(outside)
    outside++;
#pragma ws taskgroup
    {
        count(0);
        tree(0, n);
    }
    expect_each_once(n);
#pragma ws taskwait
    CHECK(outside == 1);
#pragma ws taskgroup
    {
#pragma ws taskgroup
        tree(0, 30);
        count(0);
        expect_each_once(30);
#pragma ws task
        {
#pragma ws taskgroup
            tree(0, 20);
            count(0);
            expect_each_once(20);
        }
    }
}

static void data(int n)
{
    int mine = 5, everybodys = 0, array[3] = {1, 2, 3}, seen[6] = {0}, total = n;
#pragma ws task firstprivate(mine, array) shared(seen, everybodys) private(total) default(none)
    {
        total = array[0] + array[1] + array[2];
        seen[0] = mine;
        seen[1] = total;
        mine = array[0] = 100;
        everybodys++;
    }
    mine = array[1] = 7;
#pragma ws task shared(seen)
    seen[3] = mine;
#pragma ws taskwait
    CHECK(seen[0] == 5 && seen[1] == 6 && seen[3] == 7);
    CHECK(mine == 7 && array[0] == 1 && everybodys == 1 && total == n);
}

/* Clang copies no such arrays for tasks: reject/clang_tasks.c. */
static void variable_arrays(int n)
{
#ifndef __clang__
    int seen = 0, list[n];
    for (int i = 0; i < n; i++)
        list[i] = i;
#pragma ws task firstprivate(list) shared(seen) default(none)
    {
        for (int i = 0; i < (int) (sizeof list / sizeof *list); i++)
            seen += list[i];
        list[0] = 100;
    }
    list[1] = 7;
#pragma ws taskwait
    CHECK(seen == n * (n - 1) / 2 && list[0] == 0);
#else
    CHECK(n);
#endif
}

static void ordered(int n)
{
    int x = 0, wrong = 0, y[2] = {0};
    for (int i = 0; i < n; i++) {
#pragma ws task depend(inout : x) shared(x, wrong)
        {
            if (x != i)
#pragma ws atomic
                wrong++;
            if (i % 16 == 0)
                work();
            x = i + 1;
        }
#pragma ws task depend(in : x) depend(out : y[i & 1]) shared(x, y, wrong) if(i % 7)
        {
            if (x != i + 1)
#pragma ws atomic
                wrong++;
            y[i & 1] = i;
        }
    }
#pragma ws task depend(in : x, y[0], y[1]) shared(x, y, wrong)
    if (x != n || y[0] + y[1] != 2 * n - 3)
#pragma ws atomic
        wrong++;
#pragma ws taskwait
    CHECK(wrong == 0 && x == n);
}

static void loops(int n)
{
    int last = -1, i, j;
    long start = -1;
#pragma ws taskloop lastprivate(last) name("a loop in tasks")
    for (int k = 0; k < n; k++) {
        count(k);
        last = k;
    }
    expect_each_once(n);
    CHECK(last == n - 1);
#pragma ws taskloop grainsize(7) if(n > 3) private(j)
    for (i = n - 1; i >= 0; i--) {
        j = i;
        count(j);
    }
    expect_each_once(n);
#pragma ws taskloop num_tasks(3) collapse(2) priority(1)
    for (i = 0; i < 8; i++)
        for (j = 0; j < 50; j++)
            count(50 * i + j);
    expect_each_once(400);
#pragma ws taskloop nogroup firstprivate(start)
    for (unsigned long k = 0; k < (unsigned long) n; k += 2)
        count((int) ((long) k - start) - 1);
#pragma ws taskloop nogroup final(n > 0)
    for (unsigned long k = (unsigned long) (n - n % 2); k >= 2; k -= 2)
        count((int) k - 1);
#pragma ws taskwait
    expect_each_once(n);
#pragma ws taskloop
    for (i = 5; i < 5; i++)
        count(i);
    expect_each_once(0);
}

static void reduced(int n)
{
    long sum = 7, product = 1, all[3] = {1, 1, 1};
    double highest = 0;
#pragma ws taskgroup task_reduction(+ : sum, all[:3]) task_reduction(* : product) task_reduction(max : highest)
    {
        for (int i = 0; i < n; i++) {
#pragma ws task in_reduction(+ : sum, all[:3]) in_reduction(* : product) in_reduction(max : highest)
            {
                sum += i;
                all[i % 3]++;
                product *= i < 5 ? i + 1 : 1;
                highest = highest > i ? highest : i;
#pragma ws task in_reduction(+ : sum)
                sum++;
                if (i % 8 == 0)
                    work();
            }
        }
        sum++;
    }
    CHECK(sum == 8 + n * (n - 1) / 2 + n && product == 120 && highest == n - 1);
    CHECK(all[0] + all[1] + all[2] == 3 + n);
#pragma ws taskloop reduction(+ : sum) reduction(max : highest) grainsize(3)
    for (int i = 0; i < n; i++) {
        sum += 2;
        highest = highest > 2 * i ? highest : 2 * i;
    }
    CHECK(sum == 8 + n * (n - 1) / 2 + 3 * n && highest == 2 * (n - 1));
#pragma ws taskloop reduction(+ : sum)
    for (int i = n; i < n; i++)
        sum++;
    CHECK(sum == 8 + n * (n - 1) / 2 + 3 * n);
}

/* In a loop or a section a task runs at once, or at least before what waits for it. */
static void inside_others(int n)
{
    long total = 0;
#pragma ws for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        int a = 0;
#pragma ws task shared(a)
        a = i;
#pragma ws taskwait
        total += a;
        work();
    }
    CHECK(total == n * (n - 1) / 2);
#pragma ws task shared(total)
    {
#pragma ws for reduction(+ : total)
        for (int i = 0; i < n; i++)
            total++;
    }
#pragma ws taskwait
    CHECK(total == n * (n - 1) / 2 + n);
}

#define TASK(what) _Pragma("ws task") what

static void from_a_macro(void)
{
    TASK(count(0);)
    TASK({ count(1); })
    _Pragma("ws taskwait")
    expect_each_once(2);
}

static void run_all(void)
{
    RUN(recursive);
    before_test(), counted(300);
    before_test(), grouped(200);
    before_test(), data(10);
    before_test(), variable_arrays(10);
    before_test(), ordered(100);
    before_test(), loops(101);
    before_test(), reduced(90);
    before_test(), inside_others(40);
    RUN(from_a_macro);
}
