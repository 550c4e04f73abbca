// SPDX-License-Identifier: MIT
//
// Who decides: one at a time, under every interleaving of candidates and the clock; the next one after a death; threads
// at random.
#include "arbiter/decider.h"

#include "../loop/explore.h"
#include "base/os.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using ws::base::Hardware;
using ws::arbiter::BasicDecider;
using ws::arbiter::Decider;
using explore::Explorer;
using explore::Scheduled;
using explore::TornCas;

namespace {

constexpr uint64_t unit = 1 << 16; // what deadlines are rounded to

// Candidates that take it, prolong it and give it up or die, while time goes by.
template <class A, unsigned candidates, unsigned hours> struct Candidates : Explorer::World {
    volatile explore::Word word = 0, clock = 0;
    uint64_t until[candidates] = {}; // the checker's record: until when each candidate decides
    unsigned terms = 0; // a bit for each term so far

    Candidates() { memory = {&word, &clock}; }

    void took(unsigned i, const BasicDecider<A>& d, uint64_t deadline, bool anew)
    {
        Explorer::current().at_once([&] {
            for (unsigned j = 0; j < candidates; j++)
                if (j != i && until[j] && until[j] >= clock && deadline >= clock)
                    Explorer::current().fail("two decide");
            if (anew && (terms >> d.term() & 1))
                Explorer::current().fail("two deciders of one term");
            terms |= 1u << d.term();
            until[i] = deadline;
        });
    }
    void candidate(unsigned i)
    {
        BasicDecider<A> d(&word, i);
        for (unsigned round = 0; round < 2; round++) {
            uint64_t now = A::load_acquire(clock);
            unsigned term = d.term();
            if (!d.take(now, now + unit))
                continue;
            took(i, d, now + unit, d.term() != term);
            now = A::load_acquire(clock);
            term = d.term();
            if (d.holds(now) && d.take(now, now + unit))
                took(i, d, now + unit, d.term() != term);
            if (i) // the first stops as if it had died
                Explorer::current().at_once([&] { until[i] = 0; });
            if (i)
                d.give_up();
        }
    }
    std::vector<std::function<void()>> actors() override
    {
        std::vector<std::function<void()>> all;
        for (unsigned i = 0; i < candidates; i++)
            all.push_back([this, i] { candidate(i); });
        all.push_back([this] {
            for (unsigned h = 0; h < hours; h++)
                Explorer::current().at_once([this] { clock = clock + unit; });
        });
        return all;
    }
    uint64_t hash() const override
    {
        uint64_t h = terms;
        for (uint64_t u : until)
            h = h * 31 + u / unit;
        return h;
    }
};

} // namespace

TEST_CASE("one decides at a time, whatever the interleaving", "[decider]")
{
    const Explorer::Result right = Explorer::run<Candidates<Scheduled, 2, 3>>();
    CHECK(right.violation == "");
    CHECK(right.complete);
    CHECK(right.states > 1000);
    CHECK(Explorer::run<Candidates<TornCas, 2, 3>>().violation != ""); // the search does find it
}

TEST_CASE("taking, prolonging, giving up", "[decider]")
{
    volatile Hardware::Word word = 0;
    Decider a(&word, 0), b(&word, 1022); // the last rank that a node can have
    CHECK_FALSE(a.holds(0));
    CHECK(a.take(5 * unit, 8 * unit));
    const unsigned first = a.term();
    CHECK(a.holds(8 * unit));
    CHECK_FALSE(a.holds(9 * unit));
    CHECK_FALSE(b.take(8 * unit, 9 * unit));
    CHECK(a.take(8 * unit, 20 * unit));
    CHECK(a.term() == first); // it goes on
    a.give_up();
    CHECK_FALSE(a.holds(8 * unit));
    CHECK(b.take(8 * unit, 9 * unit));
    CHECK(b.term() == first + 1);
    a.give_up(); // not its own any more
    CHECK(b.holds(9 * unit));

    SECTION("who holds it dies")
    {
        CHECK_FALSE(a.take(9 * unit, 30 * unit));
        CHECK(a.take(10 * unit, 30 * unit));
        CHECK_FALSE(b.holds(10 * unit));
        CHECK(a.term() == first + 2);
    }
    SECTION("its own time is over: a new decision")
    {
        CHECK(b.take(12 * unit, 13 * unit));
        CHECK(b.term() == first + 2);
    }
    SECTION("the clock's upper bits do not count")
    {
        const uint64_t late = (uint64_t(1) << 56) - unit;
        word = 0;
        CHECK(a.take(late, late + 5 * unit));
        CHECK_FALSE(b.take(late + 3 * unit, late + 9 * unit));
        CHECK(b.take(late + 7 * unit, late + 9 * unit));
    }
    SECTION("terms repeat")
    {
        uint64_t now = 100 * unit;
        for (unsigned i = 0; i < 20000; i++) {
            const unsigned before = (i % 2 ? a : b).term();
            Decider& next = i % 2 ? b : a;
            now += 3 * unit;
            REQUIRE(next.take(now, now + unit));
            REQUIRE((i == 0 || next.term() == (before + 1) % (1u << 14)));
        }
    }
    Decider never;
    CHECK_FALSE(never.take(1, 2));
    CHECK_FALSE(never.holds(1));
    never.give_up();
}

TEST_CASE("threads that decide and die", "[decider]")
{
    constexpr unsigned threads = 4;
    volatile Hardware::Word word = 0;
    std::vector<unsigned> terms[threads];
    std::vector<std::thread> all;
    std::atomic<unsigned> decisions{0};
    for (unsigned t = 0; t < threads; t++)
        all.emplace_back([&, t] {
            uint64_t random = t + 1;
            Decider d(&word, t);
            while (decisions.load(std::memory_order_relaxed) < 4000) {
                const uint64_t now = ws::base::ticks();
                const bool held = d.holds(now);
                const unsigned before = d.term();
                if (!d.take(now, now + unit)) {
                    std::this_thread::yield();
                    continue;
                }
                if (!held || d.term() != before) {
                    terms[t].push_back(d.term());
                    decisions++;
                }
                random = random * 6364136223846793005u + 1442695040888963407u;
                if (random >> 62)
                    d.give_up(); // else it is silent from now on, until its time is over
                else
                    std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        });
    for (std::thread& t : all)
        t.join();
    std::vector<unsigned> once;
    for (auto& mine : terms) {
        CHECK(std::is_sorted(mine.begin(), mine.end()));
        once.insert(once.end(), mine.begin(), mine.end());
    }
    std::sort(once.begin(), once.end());
    CHECK(std::adjacent_find(once.begin(), once.end()) == once.end()); // each term had one decider
    CHECK(once.size() >= 4000);
}
