// SPDX-License-Identifier: MIT
//
// The decider: one at a time, under every interleaving of candidates and the clock; the next one after a death; threads
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

constexpr uint64_t unit = 1 << 10; // what deadlines are rounded up to

// Candidates that take it and prolong it or die, while time goes by.
template <class A, unsigned candidates, unsigned hours> struct Candidates : Explorer::World {
    volatile explore::Word word = 0, clock = 0;
    uint64_t until[candidates] = {}; // the checker's record: until when each candidate decides

    Candidates() { memory = {&word, &clock}; }

    void took(unsigned i, uint64_t deadline)
    {
        Explorer::current().at_once([&] {
            for (unsigned j = 0; j < candidates; j++)
                if (j != i && until[j] && until[j] >= clock && deadline >= clock)
                    Explorer::current().fail("two decide");
            until[i] = deadline;
        });
    }
    void candidate(unsigned i)
    {
        BasicDecider<A> d(&word, i);
        for (unsigned round = 0; round < 3; round++) {
            const uint64_t now = A::load_acquire(clock);
            if (d.take(now, now + unit))
                took(i, now + unit);
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
        uint64_t h = 0;
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

TEST_CASE("taking, prolonging, taking over", "[decider]")
{
    volatile Hardware::Word word = 0;
    Decider a(&word, 0), b(&word, 1022); // the last rank that a node can have
    CHECK(a.take(5 * unit, 8 * unit));
    CHECK_FALSE(b.take(8 * unit, 9 * unit));
    CHECK(a.take(8 * unit, 20 * unit)); // it goes on
    CHECK_FALSE(b.take(20 * unit, 30 * unit));

    SECTION("who decides dies")
    {
        CHECK(b.take(21 * unit, 30 * unit));
        CHECK_FALSE(a.take(22 * unit, 30 * unit));
        CHECK(a.take(31 * unit, 32 * unit));
    }
    SECTION("its own time is over, and nobody came")
    {
        CHECK(a.take(40 * unit, 41 * unit));
        CHECK_FALSE(b.take(41 * unit, 42 * unit));
    }
    SECTION("a machine that has been up for long")
    {
        const uint64_t late = uint64_t(1) << 62;
        CHECK(a.take(late, late + 5 * unit));
        CHECK_FALSE(b.take(late + 3 * unit, late + 9 * unit));
        CHECK(b.take(late + 7 * unit, late + 9 * unit));
    }
    Decider never;
    CHECK_FALSE(never.take(1, 2));
}

TEST_CASE("threads that decide and die", "[decider]")
{
    constexpr unsigned threads = 4;
    struct Decision {
        uint64_t from, until;
        unsigned by;
    };
    volatile Hardware::Word word = 0;
    std::vector<Decision> decisions[threads];
    std::vector<std::thread> all;
    std::atomic<unsigned> count{0};
    for (unsigned t = 0; t < threads; t++)
        all.emplace_back([&, t] {
            Decider d(&word, t);
            while (count.load(std::memory_order_relaxed) < 4000) {
                const uint64_t now = ws::base::ticks();
                if (!d.take(now, now + 50 * unit)) {
                    std::this_thread::yield();
                    continue;
                }
                decisions[t].push_back({now, now + 50 * unit, t});
                count++;
                std::this_thread::sleep_for(std::chrono::microseconds(100)); // it is silent for longer than that
            }
        });
    for (std::thread& t : all)
        t.join();
    std::vector<Decision> in_order;
    for (auto& mine : decisions)
        in_order.insert(in_order.end(), mine.begin(), mine.end());
    std::sort(in_order.begin(), in_order.end(), [](const Decision& x, const Decision& y) { return x.until < y.until; });
    unsigned overlaps = 0, hand_overs = 0;
    for (size_t i = 1; i < in_order.size(); i++)
        if (in_order[i].by != in_order[i - 1].by) {
            hand_overs++;
            overlaps += in_order[i].from < in_order[i - 1].until;
        }
    CHECK(overlaps == 0);
    CHECK(hand_overs > 10);
    CHECK(in_order.size() >= 4000);
}
