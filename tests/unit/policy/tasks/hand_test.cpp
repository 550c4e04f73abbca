// SPDX-License-Identifier: MIT
//
// The tasks that a thread holds, with threads that steal: each task comes out once.
#include "policy/tasks/hand.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

using namespace ws::policy::tasks;

namespace {

Task numbered(uint64_t number, uint16_t kind = 0)
{
    Task t = {};
    t.kind = kind;
    t.bytes = number;
    return t;
}

} // namespace

TEST_CASE("a thread takes the newest that it holds, others the oldest", "[tasks]")
{
    Hand hand;
    hand.open(2);
    CHECK(hand.holds_kind(1));
    CHECK_FALSE(hand.holds_kind(2));
    for (uint64_t i = 0; i < 5; i++)
        hand.put(numbered(i, i == 0));
    CHECK(hand.size() == 5);
    CHECK(hand.waiting(0) == 4);
    CHECK(hand.waiting(1) == 1);
    Task t, some[8];
    REQUIRE(hand.take(t));
    CHECK(t.bytes == 4);
    REQUIRE(hand.steal(some, 8) == 2); // half of them
    CHECK(some[0].bytes == 0);
    CHECK(some[1].bytes == 1);
    CHECK(hand.waiting(1) == 0);
    REQUIRE(hand.take(t, 3)); // fewer than 3: the oldest
    CHECK(t.bytes == 2);
    REQUIRE(hand.steal(some, 8) == 1); // the only one, too
    CHECK(some[0].bytes == 3);
    CHECK_FALSE(hand.take(t));
    CHECK(hand.steal(some, 8) == 0);
    CHECK(hand.has_begun() == 2);
}

TEST_CASE("with thieves each task comes out once", "[tasks]")
{
    constexpr uint64_t tasks = 200000;
    constexpr unsigned thieves = 3;
    Hand hand;
    hand.open(1);
    std::vector<std::atomic<int>> seen(tasks);
    std::atomic<bool> all_put{false};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < thieves; i++)
        threads.emplace_back([&, i] {
            Task some[7];
            for (bool last = false; !last;) {
                last = all_put;
                while (const size_t n = hand.steal(some, 1 + i * 3)) {
                    for (size_t k = 0; k < n; k++)
                        seen[some[k].bytes]++;
                    last = false;
                }
            }
        });
    uint64_t put = 0;
    Task t;
    for (unsigned turn = 1; put < tasks; turn = turn * 5 % 1021) {
        for (unsigned k = turn % 13; k > 0 && put < tasks; k--)
            hand.put(numbered(put++));
        for (unsigned k = turn % 7; k > 0 && hand.take(t, turn % 3 * 5); k--)
            seen[t.bytes]++;
    }
    while (hand.take(t))
        seen[t.bytes]++;
    all_put = true;
    for (std::thread& thread : threads)
        thread.join();
    CHECK(hand.size() == 0);
    CHECK(hand.waiting(0) == 0);
    CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }));
}

TEST_CASE("of one priority, and what may move, several are taken at once", "[tasks]")
{
    Queue q;
    Task t, urgent = numbered(1), late = numbered(2);
    urgent.priority = 1;
    late.priority = -1;
    CHECK_FALSE(q.take_ordinary(t));
    q.put(urgent, false);
    q.put(numbered(3), false);
    q.put(late, false);
    CHECK(q.first_priority() == 1);
    CHECK_FALSE(q.take_ordinary(t)); // the urgent one goes before
    REQUIRE(q.take(t));
    CHECK(q.first_priority() == 0);
    q.put(numbered(4), true);
    CHECK_FALSE(q.take_ordinary(t)); // one that stays goes before
    REQUIRE(q.take(t));
    REQUIRE(q.take_ordinary(t));
    CHECK(t.bytes == 3);
    CHECK(q.first_priority() == -1);
    CHECK_FALSE(q.take_ordinary(t));
}
