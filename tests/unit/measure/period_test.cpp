// SPDX-License-Identifier: MIT
//
// Periods of sequences that are made up: which one is found, after how many events, and what its turns took.
#include "measure/period.h"

#include "base/os.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

using ws::measure::Period;
using ws::measure::Periods;
using ws::measure::Spent;

namespace {

struct Fed {
    std::unique_ptr<Period> period = std::make_unique<Period>(true);
    std::mt19937 random{1};

    void one(uint32_t event) { period->feed(event * 0x01000193u + 7); }
    void events(std::string_view text, unsigned times = 1)
    {
        while (times--)
            for (const char c : text)
                one(uint32_t(c));
    }
    unsigned length() const { return period->length(); }
};

// Calls, of which each takes 10, 7 of them waiting, on a clock that begins at 1000.
struct Called {
    std::unique_ptr<Periods> periods = std::make_unique<Periods>();
    Spent now = {1000, 0, 0};

    void one(uint32_t about, uint32_t place, uint64_t takes = 10)
    {
        periods->feed(about * 0x01000193u + 7, place * 0x01000193u + 7, now);
        now = {now.at + takes, now.useful + takes - 7, now.waited + 7};
    }
    void events(std::string_view text, uint64_t takes = 10)
    {
        for (const char c : text)
            one(uint32_t(c), uint32_t(c), takes);
    }
};

} // namespace

TEST_CASE("one loop", "[period]")
{
    for (const unsigned length : {1u, 2u, 7u, 100u, 4000u}) {
        Fed f;
        for (uint32_t i = 0; i < 2 * length; i++) {
            CHECK(f.length() == 0); // not before it has come twice
            f.one(i % length);
        }
        for (uint32_t i = 0; i < length + 2; i++)
            f.one(i % length);
        CHECK(f.length() == length);
        const uint64_t turns = f.period->turns();
        for (uint32_t i = 0; i < 5 * length; i++)
            f.one((i + 2) % length);
        CHECK(f.period->turns() == turns + 5);
    }
}

TEST_CASE("a loop that is longer than what is kept", "[period]")
{
    Fed f;
    for (uint32_t i = 0; i < 5 * (Period::longest + 1); i++)
        f.one(i % (Period::longest + 1));
    CHECK(f.length() == 0);
}

TEST_CASE("what a turn takes is measured from one event to the same one", "[period]")
{
    Called c;
    c.events("abcab");
    CHECK(c.periods->length() == 0);
    c.events("c"); // twice the same: both are known
    CHECK(c.periods->length() == 3);
    CHECK(c.periods->turns() == 1);
    CHECK((c.periods->turn().at == 30 && c.periods->turn().useful == 9 && c.periods->turn().waited == 21));
    CHECK(c.periods->turn(1).at == 0); // the first one's begin is before all calls
    c.events("ab");
    CHECK(c.periods->turns() == 1);
    c.events("c", 40);
    c.events("abc");
    CHECK(c.periods->turns() == 3);
    CHECK(c.periods->turn().at == 60); // its turns end with c, as it begins
    CHECK(c.periods->turn(1).at == 30);
    CHECK(c.periods->turn_began(1) == 1050);
}

TEST_CASE("a prologue", "[period]")
{
    Fed f;
    f.events("the beginning of a program");
    f.events("xyxz", 6);
    CHECK(f.length() == 4);
}

TEST_CASE("of nested loops the outermost", "[period]")
{
    Fed f;
    const auto outer = [&] {
        for (int k = 0; k < 20; k++) {
            f.events("abcd", 15);
            f.events("e");
        }
        f.events("fg");
    };
    outer();
    CHECK(f.length() == 61); // all that there was so far
    outer();
    outer();
    CHECK(f.length() == 20 * 61 + 2);
    const uint64_t turns = f.period->turns();
    for (int i = 0; i < 10; i++)
        outer();
    CHECK(f.length() == 20 * 61 + 2);
    CHECK(f.period->turns() == turns + 10);
}

TEST_CASE("inner loops that are alike", "[period]")
{
    for (const auto& [first, second] : {std::pair{3u, 1u}, {50u, 100u}, {300u, 299u}}) {
        Fed f;
        for (int i = 0; i < 6; i++) {
            f.events("ab", first);
            f.events("c");
            f.events("ab", second);
            f.events("c");
        }
        CHECK(f.length() == 2 * (first + second) + 2);
    }
}

TEST_CASE("an inner loop whose number of turns is never the same", "[period]")
{
    Fed f;
    for (unsigned i = 0; i < 60; i++) {
        f.events("abcd", 20 + f.random() % 50);
        f.events("ef");
    }
    CHECK(f.length() == 4); // the longest that stays
}

TEST_CASE("a call that comes once in a while", "[period]")
{
    Fed f;
    f.events("abbbac", 20);
    CHECK(f.length() == 6);
    unsigned others = 0;
    for (int i = 0; i < 50; i++) {
        f.one(1000u + unsigned(i)); // each a new one
        for (int k = 0; k < 20; k++) {
            f.events("abbbac");
            others += f.length() != 6;
        }
    }
    CHECK(others == 0);
    CHECK(f.period->turns() > 15 * 50);
}

TEST_CASE("another phase of the program", "[period]")
{
    Fed f;
    f.events("abcdef", 200);
    CHECK(f.length() == 6);
    f.events("xyz", 200);
    CHECK(f.length() == 3);
    f.events("abcdefghijklmno", 30);
    CHECK(f.length() == 15);
    for (int i = 0; i < 10000; i++)
        f.one(f.random());
    CHECK(f.length() == 0); // none any more
    f.events("abc", 10);
    CHECK(f.length() == 3);
}

TEST_CASE("none", "[period]")
{
    Fed f;
    for (int i = 0; i < 100000; i++) {
        f.one(f.random() % 16); // short repetitions by chance
        CHECK((f.length() == 0 || f.length() < 16));
    }
    Fed g;
    for (int i = 0; i < 100000; i++)
        g.one(f.random());
    CHECK(g.length() == 0);
    CHECK(g.period->turns() == 0);
}

// The promise is 60 ns an event; here the machine may be busy or slow, and the build one for tests. So it is compared
// with 40 multiplications, each of which waits for the one before: some 50 ns.
TEST_CASE("what an event costs", "[period]")
{
    const auto best_of = [](auto&& round) {
        double best = 1e9;
        for (int i = 0; i < 20; i++) {
            const double begin = ws::base::seconds_now();
            round();
            best = std::min(best, (ws::base::seconds_now() - begin) / 50000 * 1e9);
        }
        return best;
    };
    volatile uint64_t product = 3;
    const double plain = best_of([&] {
        uint64_t p = product;
        for (unsigned i = 0; i < 50000 * 40; i++)
            p = p * p + i;
        product = p;
    });
    const auto cost = [&](const char* what, auto&& event) {
        std::unique_ptr<Periods> periods;
        const double best = best_of([&] {
            periods = std::make_unique<Periods>();
            for (uint32_t i = 0; i < 50000; i++)
                periods->feed(event(i), event(i) / 2, {i, i, 0});
        });
        std::printf("%s: %.1f ns an event, %.1f multiplications\n", what, best, best / plain * 40);
        return best / plain;
    };
    CHECK(cost("a loop of 30", [](uint32_t i) { return i % 30; }) < 8);
    CHECK(cost("nested loops", [](uint32_t i) { return i % 1000 < 900 ? i % 3 : i % 1000; }) < 8);
    CHECK(cost("nothing repeats", [](uint32_t i) { return i * 2654435761u; }) < 8);
    CHECK(cost("short repetitions by chance", [](uint32_t i) { return (i * 2654435761u) >> 28; }) < 8);
}

// ---- what an event is made of

namespace {

struct Call {
    uint32_t function, site, peer, buffer;
    uint32_t place() const { return function * 64 + site; }
    uint32_t about() const { return (function * 64 + peer) * 4096 + buffer; }
};
enum : uint32_t { isend, recv, waitall, allreduce, sendrecv };

// The lengths that are found after 40 turns of a program; `turn` makes the calls of one.
struct Lengths {
    unsigned by_place, by_arguments, by_both;
};
template <class Turn> Lengths lengths(Turn&& turn)
{
    Fed by_place, by_arguments;
    by_arguments.period = std::make_unique<Period>();
    Called both;
    for (uint32_t t = 0; t < 40; t++)
        for (const Call& c : turn(t)) {
            by_place.one(c.place());
            by_arguments.one(c.about());
            both.one(c.about(), c.place());
        }
    return {by_place.length(), by_arguments.length(), both.periods->length()};
}

bool operator==(const Lengths& l, const std::array<unsigned, 3>& wanted)
{
    return l.by_place == wanted[0] && l.by_arguments == wanted[1] && l.by_both == wanted[2];
}

} // namespace

TEST_CASE("the longest turns that stay, by what calls are about and by their places", "[period]")
{
    using Calls = std::vector<Call>;
    using Found = std::array<unsigned, 3>; // by place, by peer and buffer, by both
    std::mt19937 random(5);
    CHECK(lengths([](uint32_t) {
              return Calls{{isend, 1, 7, 10}, {recv, 2, 3, 11}, {allreduce, 3, 0, 12}};
          }) == Found{3, 3, 3});
    // Two buffers that take turns: two turns for one.
    CHECK(lengths([](uint32_t t) {
              return Calls{{isend, 1, 7, 10 + t % 2}, {recv, 2, 3, 12 + t % 2}, {allreduce, 3, 0, 14}};
          }) == Found{3, 6, 6});
    // Buffers that are allocated again.
    CHECK(lengths([&](uint32_t) {
              return Calls{{isend, 1, 7, uint32_t(random() % 4096)},
                           {recv, 2, 3, uint32_t(random() % 4096)},
                           {allreduce, 3, 0, 12}};
          }) == Found{3, 0, 3});
    // Four neighbours, sent to from one place: in the same order, and as their data get ready.
    CHECK(lengths([](uint32_t) {
              return Calls{{isend, 1, 1, 1}, {isend, 1, 2, 2}, {isend, 1, 3, 3}, {isend, 1, 4, 4}, {waitall, 2, 0, 0}};
          }) == Found{5, 5, 5});
    CHECK(lengths([&](uint32_t) {
              Calls calls{{isend, 1, 1, 1}, {isend, 1, 2, 2}, {isend, 1, 3, 3}, {isend, 1, 4, 4}};
              std::shuffle(calls.begin(), calls.end(), random);
              calls.push_back({waitall, 2, 0, 0});
              return calls;
          }) == Found{5, 0, 5});
    // In Fortran the place is that of the binding.
    CHECK(lengths([](uint32_t) {
              return Calls{{isend, 0, 7, 10}, {recv, 0, 3, 11}, {allreduce, 0, 0, 12}};
          }) == Found{3, 3, 3});
    // A program that calls MPI at one place only: with several peers, and with several buffers.
    CHECK(lengths([](uint32_t) {
              return Calls{{sendrecv, 1, 1, 1}, {sendrecv, 1, 2, 1}, {sendrecv, 1, 3, 1}};
          }) == Found{1, 3, 3});
    CHECK(lengths([](uint32_t) {
              return Calls{{sendrecv, 1, 1, 1}, {sendrecv, 1, 1, 2}, {sendrecv, 1, 1, 3}};
          }) == Found{1, 3, 3});
    // The same call at two places.
    CHECK(lengths([](uint32_t) {
              return Calls{{allreduce, 1, 0, 1}, {allreduce, 2, 0, 1}};
          }) == Found{2, 1, 2});
}

TEST_CASE("another way to see turns takes over when one sees none any more", "[period]")
{
    Called c;
    const auto turn = [&](uint32_t buffer) {
        for (uint32_t peer = 0; peer < 4; peer++)
            c.one(peer * 64 + buffer, 1);
    };
    for (unsigned t = 0; t < 5; t++)
        turn(9);
    CHECK(c.periods->length() == 4); // from one place
    const uint64_t turns = c.periods->turns();
    for (uint32_t t = 0; t < 3; t++)
        turn(20 + t); // allocated again
    CHECK(c.periods->length() == 1);
    CHECK(c.periods->turns() > turns);
    for (unsigned t = 0; t < 8; t++)
        turn(9);
    CHECK(c.periods->length() == 4);
}
