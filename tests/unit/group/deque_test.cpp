// SPDX-License-Identifier: MIT
//
// The deque of tasks: under every interleaving of its thread and two thieves, with parts of it broken, and with real
// threads and a counting oracle.
#include "group/deque.h"

#include "../loop/explore.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <thread>

using explore::Explorer;
using explore::Scheduled;
using ws::group::BasicDeque;

namespace {

struct Task {
    std::atomic<int> ran{0};
};

// Its thread's steps: p puts the next task, t takes one.
struct Plan {
    const char* owner;
    unsigned thieves = 2, tries = 2;
};

// Task n is at the address n: nobody looks there.
template <class A, const Plan& plan> struct Protocol : Explorer::World {
    BasicDeque<char, A, 2> deque;
    uint8_t ran[8] = {};
    unsigned put = 0;

    Protocol()
    {
        auto* words = reinterpret_cast<volatile explore::Word*>(&deque);
        memory = {&words[0], &words[8], &words[9], &words[10]}; // oldest, newest and the ring: see "layout"
    }
    void run(const char* task)
    {
        if (task && ran[reinterpret_cast<uintptr_t>(task)]++)
            Explorer::current().fail("a task ran twice");
    }
    void owner()
    {
        for (const char* step = plan.owner; *step; step++)
            if (*step == 'p') {
                char* const task = reinterpret_cast<char*>(uintptr_t(put + 1));
                if (deque.put(task))
                    put++;
                else
                    Explorer::current().fail("it is said to be full and is not");
            } else
                run(deque.take());
    }
    void thief()
    {
        for (unsigned t = 0; t < plan.tries; t++)
            run(deque.steal());
    }
    std::vector<std::function<void()>> actors() override
    {
        std::vector<std::function<void()>> all = {[this] { owner(); }};
        for (unsigned t = 0; t < plan.thieves; t++)
            all.push_back([this] { thief(); });
        return all;
    }
    uint64_t hash() const override
    {
        uint64_t h;
        std::memcpy(&h, ran, sizeof h);
        return h * 31 + put;
    }
    void at_end() override
    {
        while (char* task = deque.take())
            run(task);
        for (unsigned n = 1; n <= put; n++)
            if (ran[n] != 1)
                Explorer::current().fail("a task was lost");
    }
};

constexpr Plan one = {"pt", 2, 1};
constexpr Plan two = {"pptt", 2, 2};
constexpr Plan again = {"ptpt", 2, 2};
constexpr Plan wrapped = {"pptptt", 1, 4}; // the ring has two places

// Wrong on purpose: the end moves by a plain store, which others may see after the look at the other end.
struct LateEnd : Scheduled {
    static explore::Word fetch_add_full(volatile explore::Word& w, explore::Word v)
    {
        const explore::Word old = e().load(w);
        e().store(w, old + v);
        return old;
    }
};

template <class A, const Plan& plan> std::string violation()
{
    const Explorer::Result r = Explorer::run<Protocol<A, plan>>();
    if (r.violation.empty()) {
        CHECK(r.complete);
        CHECK(r.states > 10);
    }
    return r.violation;
}

} // namespace

TEST_CASE("layout: each end has a cache line", "[deque]")
{
    using Deque = BasicDeque<Task>;
    CHECK(alignof(Deque) == 64);
    CHECK(sizeof(Deque) >= 64 + (1 + Deque::capacity) * sizeof(uint64_t));
}

TEST_CASE("each task is run once, whatever the interleaving", "[interleaving]")
{
    CHECK(violation<Scheduled, one>().empty());
    CHECK(violation<Scheduled, two>().empty());
    CHECK(violation<Scheduled, again>().empty());
    CHECK(violation<Scheduled, wrapped>().empty());
}

TEST_CASE("a deque without its full barrier, or with a torn swap, is found out", "[interleaving]")
{
    CHECK_FALSE(violation<LateEnd, two>().empty());
    CHECK_FALSE(violation<explore::TornCas, one>().empty());
}

TEST_CASE("the newest is taken, the oldest stolen, and a full deque says so", "[deque]")
{
    using Deque = BasicDeque<Task>;
    static Task tasks[Deque::capacity + 1];
    Deque deque;
    CHECK(deque.take() == nullptr);
    CHECK(deque.steal() == nullptr);
    for (unsigned n = 0; n < Deque::capacity; n++) {
        CHECK_FALSE(deque.is_full());
        REQUIRE(deque.put(&tasks[n]));
    }
    CHECK(deque.is_full());
    CHECK_FALSE(deque.put(&tasks[Deque::capacity]));
    CHECK(deque.size() == Deque::capacity);
    CHECK(deque.steal() == &tasks[0]);
    CHECK(deque.take() == &tasks[Deque::capacity - 1]);
    CHECK(deque.put(&tasks[0]));
    CHECK(deque.take() == &tasks[0]);
    for (unsigned n = 1; n < Deque::capacity - 1; n++)
        REQUIRE(deque.steal() == &tasks[n]);
    CHECK(deque.take() == nullptr);
    CHECK(deque.size() == 0);
}

TEST_CASE("threads: each task is run once", "[deque]")
{
    constexpr int all = 300000, thieves = 3;
    BasicDeque<Task> deque;
    std::vector<Task> tasks(all);
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < thieves; t++)
        threads.emplace_back([&] {
            while (!over)
                if (Task* task = deque.steal())
                    task->ran++;
        });
    std::mt19937 random(1);
    for (int next = 0; next < all || deque.size();) {
        for (int n = int(random() % 5); n-- > 0 && next < all && deque.put(&tasks[size_t(next)]);)
            next++;
        for (int n = int(random() % (next < all ? 3 : 300)); n-- > 0;)
            if (Task* task = deque.take())
                task->ran++;
    }
    over = true;
    for (std::thread& t : threads)
        t.join();
    while (Task* task = deque.take())
        task->ran++;
    CHECK(std::all_of(tasks.begin(), tasks.end(), [](const Task& t) { return t.ran == 1; }));
}
