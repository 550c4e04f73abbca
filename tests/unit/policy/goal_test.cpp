// SPDX-License-Identifier: MIT
//
// How many processes have rows: the number follows what the program has asked for, and does not oscillate.
#include "policy/rows/goal.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>

using namespace ws::policy::rows;
using Aim = Goal::Aim;

namespace {

// Iterations of `units` units of work on up to rates.size() processes, and what they take besides computing.
struct Resized {
    double units = 1000;
    std::vector<double> rates = std::vector<double>(16, 1000);
    std::function<double(size_t)> beyond = [](size_t) { return 0.0; };
    double noise = 0;
    size_t active = 4, most = 16;

    Goal goal;
    unsigned changes = 0;
    std::mt19937 random{3};

    double seconds(size_t n) const
    {
        double power = 0;
        for (size_t p = 0; p < n; p++)
            power += rates[p];
        return units / power + beyond(n);
    }
    void run(unsigned intervals)
    {
        std::normal_distribution<> vary;
        for (unsigned i = 0; i < intervals; i++) {
            goal.measured(active, beyond(active) + seconds(active) * noise * vary(random));
            const size_t to = goal.choose(active, most, units * (1 + noise * vary(random)), rates);
            changes += to != active;
            active = to;
        }
    }
};

} // namespace

TEST_CASE("without a goal the number stays")
{
    Resized p;
    p.run(20);
    CHECK(p.active == 4);
}

TEST_CASE("a time per iteration: as many processes as it needs, in one step")
{
    for (const size_t begin : {1, 2, 5, 16}) {
        Resized p;
        p.active = begin;
        p.goal.set(Aim::time, 0.2); // five processes
        p.run(40);
        CHECK(p.active == (begin == 5 ? 5u : begin < 5 ? 5u : 6u)); // fewer only if they stay below by a tenth
        CHECK(p.changes == (begin == 5 ? 0u : 1u));
        CHECK(p.seconds(p.active) <= 0.2);
    }
}

TEST_CASE("a goal that cannot be met: the fastest number, which is found by trying")
{
    Resized p;
    p.beyond = [](size_t n) { return 0.002 * double(n) * double(n); }; // fastest: 6 or 7 processes
    p.active = 2;
    p.goal.set(Aim::time, 0.01);
    p.run(60);
    const size_t found = p.active;
    const unsigned changes = p.changes;
    double best = HUGE_VAL;
    for (size_t n = 1; n <= 16; n++)
        best = std::min(best, p.seconds(n));
    CHECK(p.seconds(found) <= best * (1 + 2 * Goal::margin));
    CHECK(changes <= 8);
    p.run(200);
    CHECK(p.active == found);
    CHECK(p.changes == changes);
}

TEST_CASE("an efficiency: the largest number that keeps it")
{
    for (const size_t begin : {1, 8, 16}) {
        Resized p;
        p.beyond = [](size_t n) { return n > 1 ? 0.02 : 0; }; // 8 of 10 parts are computing with up to 12 processes
        p.active = begin;
        p.goal.set(Aim::efficiency, 0.8);
        p.run(60);
        CHECK(p.active >= 10);
        CHECK(p.active <= 12);
        CHECK(p.changes <= 4);
    }
    Resized none;
    none.beyond = [](size_t) { return 10.0; };
    none.goal.set(Aim::efficiency, 0.8);
    none.run(10);
    CHECK(none.active == 1);
}

TEST_CASE("slow processes count as what they do")
{
    Resized p;
    p.rates = {1000, 1000, 500, 500, 500, 500};
    p.most = 6;
    p.active = 1;
    p.goal.set(Aim::time, 0.34); // 3000 units a second
    p.run(10);
    CHECK(p.active == 4);
}

TEST_CASE("noise makes nothing oscillate")
{
    for (const double noise : {0.01, 0.03})
        for (const Aim aim : {Aim::time, Aim::efficiency})
            for (const double value : {0.11, 0.2, 0.45, 0.8}) {
                Resized p;
                p.beyond = [](size_t n) { return 0.002 * double(n); };
                p.noise = noise;
                p.goal.set(aim, value);
                p.run(50);
                const unsigned changes = p.changes;
                p.run(500);
                INFO("noise " << noise << ", " << (aim == Aim::time ? "time " : "efficiency ") << value << ": "
                              << p.active << " processes");
                CHECK(changes <= 8);
                CHECK(p.changes - changes <= 8);
            }
}

TEST_CASE("one interval that was disturbed changes nothing")
{
    Resized p;
    p.goal.set(Aim::time, 0.3);
    p.run(10);
    const size_t before = p.active;
    p.goal.measured(before, 1.0);
    CHECK(p.goal.choose(before, 16, p.units, p.rates) == before);
    p.run(10);
    CHECK(p.active == before);
}

TEST_CASE("the number stays within what is allowed")
{
    Resized p;
    p.most = 3;
    p.active = 3;
    p.goal.set(Aim::time, 0.001);
    p.run(10);
    CHECK(p.active == 3);
}

TEST_CASE("what a change gains")
{
    Goal goal;
    goal.set(Aim::time, 1);
    const std::vector<double> rates(8, 1);
    CHECK(goal.gain(2, 4, 8, rates) == Approx(2));   // 4 s become 2 s
    CHECK(goal.gain(4, 2, 8, rates) == Approx(2));   // two of four processes are free for 4 s
    goal.measured(2, 1);
    goal.measured(6, 3);
    CHECK(goal.predicted(4, 8, rates) == Approx(4)); // 2 s, and 2 s between 1 s and 3 s
    CHECK(goal.predicted(8, 8, rates) == Approx(4)); // 1 s, and as much beyond as with 6
}
