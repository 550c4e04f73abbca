// SPDX-License-Identifier: MIT
#include "loop/solo.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace ws::loop;

namespace {

// A machine on which a region of `threads` takes `price` plus a thread's share of the iterations. The iterations of the
// first thread cost `own` times as much as the average.
struct Machine {
    Solo solo;
    double price = 2000, own = 1;
    unsigned threads = 2;
    double took = 0, with_teams = 0; // so far
    uint64_t alone = 0;

    void run(uint64_t iterations, double unit)
    {
        const double work = double(iterations) * unit, team = price + work / threads;
        with_teams += team;
        if (solo.takes(iterations, threads)) {
            alone++;
            took += work;
            solo.alone_took(iterations, uint64_t(work));
            return;
        }
        took += team;
        if (solo.wants_measure(threads))
            solo.team_took(iterations, uint64_t(team), iterations / threads, uint64_t(own * work / threads), threads,
                           threads);
    }
    double ratio() const { return took / with_teams; }
};

constexpr double most = 1 + 1.0 / Solo::repay + 0.01; // over teams

} // namespace

TEST_CASE("a loop that takes less than its team does is run by one thread", "[solo]")
{
    Machine m;
    for (int i = 0; i < 100000; i++)
        m.run(64, 1);
    CHECK(m.alone > 99000);
    CHECK(m.ratio() < 0.05);
}

TEST_CASE("a loop that pays for its team is not", "[solo]")
{
    for (unsigned threads : {2, 4, 64}) {
        Machine m;
        m.threads = threads;
        for (int i = 0; i < 10000; i++)
            m.run(64, 100);
        CHECK(m.alone == 0);
    }
}

TEST_CASE("one site with few and with many iterations has both ways", "[solo]")
{
    Machine m;
    for (int i = 0; i < 10000; i++) {
        const uint64_t before = m.alone;
        m.run(i % 2 ? 100000 : 10, 1);
        if (i > 1000 && i % 2)
            CHECK(m.alone == before);
    }
    CHECK(m.alone > 3000);
    CHECK(m.ratio() < 1);
}

TEST_CASE("a loop whose cost changes changes its way", "[solo]")
{
    Machine m;
    for (int turn = 0; turn < 10; turn++) {
        for (int i = 0; i < 10000; i++)
            m.run(64, 1);
        const uint64_t before = m.alone;
        CHECK(before > 8000u * (turn + 1));
        for (int i = 0; i < 10000; i++)
            m.run(64, 1000);
        CHECK(m.alone - before < 10);
    }
}

TEST_CASE("executions that others disturb change nothing", "[solo]")
{
    Machine m;
    std::mt19937 random(1);
    for (int i = 0; i < 100000; i++) {
        const double disturbed = random() % 50 == 0 ? 3 : 1;
        m.run(1000, disturbed * (1 + 1e-11 * double(random()))); // and each by up to 4 %
    }
    CHECK(m.alone > 97000);
    CHECK(m.ratio() < 0.6);
}

TEST_CASE("a team that has become cheap is found so", "[solo]")
{
    Machine m;
    for (int i = 0; i < 5000; i++)
        m.run(1000, 3);
    CHECK(m.alone > 4000);
    m.price = 500;
    for (int i = 0; i < 5000; i++)
        m.run(1000, 3);
    const uint64_t before = m.alone;
    for (int i = 0; i < 5000; i++)
        m.run(1000, 3);
    CHECK(m.alone - before < 50);
}

TEST_CASE("nothing that loops do makes them slower than with teams", "[solo]")
{
    SECTION("the first thread has the cheap part")
    {
        for (double own : {0.0, 0.1, 0.5}) {
            Machine m;
            m.own = own;
            for (int i = 0; i < 100000; i++)
                m.run(64, 200);
            CHECK(m.ratio() < most);
        }
    }
    SECTION("seldom an iteration costs very much")
    {
        for (int every : {2, 17, 100, 1000, 5000})
            for (double dear : {200.0, 5000.0, 1e6}) {
                Machine m;
                for (int i = 0; i < 400000; i++)
                    m.run(64, i % every == every - 1 ? dear : 1);
                INFO(every << " " << dear);
                CHECK(m.ratio() < most);
            }
    }
    SECTION("at random")
    {
        std::mt19937 random(1);
        for (int round = 0; round < 20; round++) {
            Machine m;
            m.threads = 2 + unsigned(random() % 31);
            const double spread = 1 + random() % 12;
            for (int i = 0; i < 100000; i++)
                m.run(1 + random() % 500, std::exp2(spread * double(random() % 1000) / 1000));
            INFO(round);
            CHECK(m.ratio() < most);
        }
    }
}

TEST_CASE("a loop that one thread must not run is measured no more", "[solo]")
{
    Machine m;
    for (int i = 0; i < 3; i++)
        m.run(64, 1);
    m.solo.forbid();
    for (int i = 0; i < 10000; i++) {
        CHECK(!m.solo.wants_measure(2));
        CHECK(!m.solo.wants_measure(4));
        CHECK(!m.solo.takes(64, 2));
    }
}

TEST_CASE("another number of threads is another team", "[solo]")
{
    Machine m;
    for (int i = 0; i < 100; i++)
        m.run(64, 1);
    CHECK(m.solo.takes(64, 2));
    CHECK(!m.solo.takes(64, 3));
    CHECK(m.solo.wants_measure(3));
    CHECK(!m.solo.takes(0, 2));
}
