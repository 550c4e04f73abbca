/* SPDX-License-Identifier: MIT
 * ws critical: by name, in loops, in functions and outside of both. */
#include "check.h"

#include <string.h>

#define N 300


/* Adds in a way that loses additions if two do it at the same time. */
static void add_slowly(volatile long *to, long value)
{
    long old = *to;
    for (volatile int k = 0; k < 20;)
        k = k + 1;
    *to = old + value;
}

static void unnamed(void)
{
    volatile long sum = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
#pragma ws critical
        add_slowly(&sum, i);
        work();
    }
    CHECK(sum == N * (N - 1) / 2);
}

static volatile long total;

static void add_to_total(long value)
{
#pragma ws critical(total)
    {
        add_slowly(&total, value);
    }
}

static void named(void)
{
    volatile long other = 0;
    total = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
        add_to_total(i);
#pragma ws critical (other)
        add_slowly(&other, 1);
#pragma ws critical (total)
        add_slowly(&total, 1);
        work();
    }
    CHECK(total == N * (N - 1) / 2 + N && other == N);
}

static void one_in_another(void)
{
    volatile long outer = 0, inner = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
#pragma ws critical(outer)
        {
            add_slowly(&outer, 1);
#pragma ws critical(inner)
            add_slowly(&inner, 2);
        }
        work();
    }
    CHECK(outer == N && inner == 2 * N);
}

/* A list of variable length: what atomics cannot do. */
static void data_structure(void)
{
    struct item {
        struct item *next;
        int value;
    } items[N], *first = NULL;
    int length = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
        items[i].value = i;
#pragma ws critical(list)
        {
            items[i].next = first;
            first = &items[i];
            length++;
        }
        work();
    }
    long sum = 0;
    int count = 0;
    for (struct item *item = first; item; item = item->next) {
        sum += item->value;
        count++;
    }
    CHECK(count == N && length == N && sum == N * (N - 1) / 2);
}

/* Names are the program's own: those of variables and functions are free, and so are C's words. */
static void names(void)
{
    volatile long sum = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
#pragma ws critical(sum)
        add_slowly(&sum, 1);
#pragma ws critical(names)
        (void) 0;
#pragma ws critical(critical)
        ;
        work();
    }
    CHECK(sum == N);
}

#define LOCKED(name, ...) _Pragma("ws critical(name)") { __VA_ARGS__; }
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define LOCKED_BY(name, ...) PRAGMA(ws critical(name)) { __VA_ARGS__; }

static void operators_of_the_preprocessor(void)
{
    volatile long sum = 0, other = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
        LOCKED(literal, add_slowly(&sum, 1))
        LOCKED_BY(argument, add_slowly(&other, 2))
        work();
    }
    CHECK(sum == N && other == 2 * N);
}

static void outside_of_loops(void)
{
    long sum = 0;
    int before = &ws_fake_criticals ? ws_fake_criticals : 0;
    for (int i = 0; i < 3; i++) {
#pragma ws critical
        {
            if (i == 1)
                sum += 10;
            sum += i;
        }
    }
    CHECK(sum == 13);
    CHECK(!&ws_fake_criticals || ws_fake_criticals == before + 3);
}

static void run_all(void)
{
    RUN(unnamed);
    RUN(named);
    RUN(one_in_another);
    RUN(data_structure);
    RUN(names);
    RUN(operators_of_the_preprocessor);
    RUN(outside_of_loops);
}
