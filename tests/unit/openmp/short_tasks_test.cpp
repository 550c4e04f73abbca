// SPDX-License-Identifier: MIT
#include "openmp/library/short_tasks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using ws::openmp::ShortTasks;

namespace {

constexpr ShortTasks::Limits usual = {1000, 10};
constexpr uintptr_t top = 1 << 20, stack = 16384;

// A thread that puts tasks of one length, each as far up its stack as it is deep in others.
struct Thread {
    ShortTasks tasks;
    uint64_t now = 1, each;
    unsigned depth = 0, at_once = 0, given = 0;
    std::vector<unsigned> given_at;
    uintptr_t frame = 64;
    uint64_t call = 0; // that each put makes which is not run at once
    ShortTasks::Limits limits;

    explicit Thread(uint64_t task, ShortTasks::Limits its = usual) : each(task), limits(its)
    {
        tasks.region_begins();
        tasks.has_stack(top + 64 - stack, stack);
    }
    bool runs_at_once(uintptr_t where)
    {
        return tasks.runs_at_once([&] { return now; }, where, limits);
    }
    void wait(uint64_t took)
    {
        const bool tell = tasks.waits_for_tasks([&] { return now; }, limits);
        now += took;
        if (tell)
            tasks.has_waited();
    }
    // A tree of tasks, each of which puts two.
    void put(unsigned levels)
    {
        const bool runs = runs_at_once(top - depth * frame);
        uint64_t began = 0;
        if (runs) {
            at_once++;
            began = tasks.begins();
        } else {
            now += call;
            given++;
            given_at.push_back(levels);
        }
        depth++;
        now += each;
        for (int i = 0; levels > 0 && i < 2; i++)
            put(levels - 1);
        depth--;
        if (runs)
            tasks.ends(began);
    }
    void put_many(int many)
    {
        for (int i = 0; i < many; i++)
            put(0);
    }
};

} // namespace

TEST_CASE("short tasks run at once from the second slice on")
{
    Thread thread(2);
    thread.put_many(10000);
    CHECK(thread.at_once + thread.given == 10000);
    CHECK(thread.given >= 499);
    CHECK(thread.given <= 502);
}

TEST_CASE("where a put takes longer than a task, the call in it does not make the task long")
{
    const double per_us = 1000;
    for (const uint64_t call : {100, 300, 1300, 7000, 50000})
        for (const uint64_t task : {50, 1200, 20000, 200000}) {
            Thread thread(task, ShortTasks::limits(per_us, call));
            thread.call = call;
            thread.put_many(5000);
            CAPTURE(call, task, thread.given);
            if (task < call || task < 500)
                CHECK(thread.at_once > 4500);
            if (task > 2 * call && task > 1000)
                CHECK(thread.at_once == 0);
        }
}

TEST_CASE("tasks that are long enough are put as they are")
{
    Thread thread(11);
    thread.put_many(10000);
    CHECK(thread.at_once == 0);
}

TEST_CASE("a thread that put many long tasks in a moment runs one of them at once, and then no more")
{
    Thread thread(1);
    thread.put_many(1000);
    thread.each = 5000;
    thread.put_many(100);
    CHECK(thread.at_once <= 2);
}

TEST_CASE("tasks become short and long again")
{
    Thread thread(11);
    thread.put_many(1000);
    thread.each = 1;
    thread.put_many(10000);
    CHECK(thread.at_once > 8000);
    const unsigned before = thread.at_once;
    thread.each = 100;
    thread.put_many(1000);
    CHECK(thread.at_once - before <= 20); // what was left of a slice
}

TEST_CASE("a task of a slice and more among short ones: the next ones are put as they are")
{
    Thread thread(2);
    thread.put_many(2000);
    CHECK(thread.at_once > 0);
    thread.now += 5000; // the last one took that long
    const unsigned before = thread.at_once;
    thread.put_many(1500);
    CHECK(thread.at_once - before <= 3); // until the next look at the clock
    thread.put_many(4000);
    CHECK(thread.at_once > before);
}

TEST_CASE("time in which a thread waits for tasks that it has given away is not that of a long one")
{
    Thread thread(2);
    thread.put_many(2000);
    thread.wait(5000); // for those of the first slice
    const unsigned before = thread.at_once;
    thread.put_many(1500);
    CHECK(thread.at_once == before + 1500);
    thread.wait(5000); // all have run
    thread.put_many(1500);
    CHECK(thread.at_once < before + 1600);
}

TEST_CASE("a barrier is not a long task")
{
    Thread thread(2);
    thread.put_many(2000);
    const unsigned before = thread.at_once;
    for (int i = 0; i < 100; i++) {
        CHECK(thread.tasks.waits([&] { return thread.now; }, usual));
        thread.now += 5000;
        thread.tasks.has_waited();
        thread.put_many(500);
    }
    CHECK(thread.at_once == before + 50000);
}

TEST_CASE("long tasks that a thread waits for are mostly given to others")
{
    for (unsigned group : {1u, 3u, 10u}) {
        Thread thread(2);
        thread.put_many(2000);
        unsigned here = 0;
        for (int i = 0; i < 1000; i++) {
            for (unsigned k = 0; k < group; k++) {
                const unsigned before = thread.at_once;
                thread.put(0);
                thread.now += 5000 * (thread.at_once - before);
                here += thread.at_once - before;
            }
            thread.wait(5000);
        }
        CHECK(here < 100);
    }
}

TEST_CASE("long tasks that come again and again among short ones are mostly given to others")
{
    Thread thread(1);
    unsigned here = 0;
    for (int i = 0; i < 200; i++) {
        thread.put_many(500); // half of a slice
        const unsigned before = thread.at_once;
        thread.put(0);
        thread.now += 20000 * (thread.at_once - before); // else another thread runs it
        here += thread.at_once - before;
    }
    CHECK(here > 0);
    CHECK(here < 20);
}

TEST_CASE("a new region begins without what was known of the one before")
{
    Thread thread(2);
    thread.put_many(2000);
    thread.tasks.region_begins();
    const unsigned before = thread.at_once;
    thread.put_many(400);
    CHECK(thread.at_once == before);
    thread.put_many(400);
    CHECK(thread.at_once > before);
}

TEST_CASE("of a tree of short tasks, those close to the root are given to others")
{
    Thread thread(2);
    thread.put(16); // 131071 tasks
    CHECK(thread.at_once + thread.given == 131071);
    CHECK(thread.given < 1000);
    const size_t first = 502; // in the first slice all are given
    REQUIRE(thread.given_at.size() > first + 50);
    double levels = 0;
    for (size_t i = first; i < thread.given_at.size(); i++)
        levels += thread.given_at[i];
    // The mean of all tasks is 1.
    CHECK(levels / double(thread.given_at.size() - first) > 5);
}

TEST_CASE("tasks that put each other without an end do not lie on one stack")
{
    Thread thread(2);
    thread.put_many(2000); // they are known as short
    unsigned deepest = 0, depth = 0;
    for (int i = 0; i < 100000; i++) {
        thread.now += 2;
        if (thread.runs_at_once(top - depth * 64)) {
            thread.tasks.begins();
            deepest = std::max(deepest, ++depth);
        } else // it runs later, when those that are here have ended
            for (; depth > 0; depth--)
                thread.tasks.ends(0);
    }
    CHECK(deepest > 10);
    CHECK(deepest <= stack / 4 / 64 + 1);
}

TEST_CASE("a thread is asked for its stack once, when its tasks are short, and none runs at once before")
{
    ShortTasks tasks;
    tasks.region_begins();
    uint64_t now = 1;
    const auto put = [&](uintptr_t frame) {
        now += 2;
        return tasks.runs_at_once([&] { return now; }, frame, usual);
    };
    CHECK_FALSE(tasks.wants_stack());
    for (int i = 0; i < 2000; i++)
        CHECK_FALSE(put(top));
    CHECK(tasks.wants_stack());
    tasks.has_stack(top + 64 - stack, stack);
    CHECK_FALSE(tasks.wants_stack());
    CHECK(put(top));
    CHECK(put(top - stack / 4 + 64));
    CHECK_FALSE(put(top - stack / 4));
    CHECK_FALSE(put(top + 64)); // another stack
}

TEST_CASE("of a thread whose stack is not known no task runs at once")
{
    ShortTasks tasks;
    tasks.region_begins();
    uint64_t now = 1;
    tasks.has_stack(1, 0);
    for (int i = 0; i < 2000; i++) {
        now += 2;
        CHECK_FALSE(tasks.runs_at_once([&] { return now; }, top, usual));
    }
    CHECK_FALSE(tasks.wants_stack());
}

TEST_CASE("a thread that is in no such region puts all as they are")
{
    ShortTasks tasks;
    uint64_t now = 1;
    tasks.has_stack(top + 64 - stack, stack);
    for (int i = 0; i < 2000; i++) {
        now += 2;
        CHECK_FALSE(tasks.runs_at_once([&] { return now; }, top, usual));
    }
}
