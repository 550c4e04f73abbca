// SPDX-License-Identifier: MIT
#include "loop/schedule.h"

#include <catch2/catch.hpp>
#include <vector>

using ws::loop::Pace;
using ws::loop::Sizing;

namespace {

// The chunks that one participant after the other takes until nothing remains.
std::vector<uint64_t> chunks(const Sizing& sizing, uint64_t units, unsigned participants, unsigned ranks)
{
    std::vector<uint64_t> sizes;
    while (units > 0 && sizes.size() < 100000) {
        uint64_t n = sizing.units(units, participants, ranks);
        REQUIRE(n >= 1);
        n = n < units ? n : units;
        sizes.push_back(n);
        units -= n;
    }
    return sizes;
}

constexpr uint64_t most = ~uint64_t(0);

} // namespace

TEST_CASE("static without a chunk is cut as finely as auto, with one as the user says", "[schedule]")
{
    CHECK(Sizing::resolve(WS_STATIC, 0).pack() == Sizing::resolve(WS_AUTO, 0).pack());
    CHECK(Sizing::resolve(WS_STATIC, 5).kind == WS_STATIC);
    CHECK(chunks(Sizing::resolve(WS_STATIC, 5), 12, 1, 4) == std::vector<uint64_t>{5, 5, 2});
}

TEST_CASE("a given chunk is what a participant takes, however many there are", "[schedule]")
{
    for (ws_schedule kind : {WS_STATIC, WS_DYNAMIC})
        for (unsigned participants : {1u, 2u, 1000u})
            CHECK(chunks(Sizing::resolve(kind, 7), 20, participants, 2) == std::vector<uint64_t>{7, 7, 6});
    CHECK(chunks(Sizing::resolve(WS_DYNAMIC, 0), 3, 1, 2) == std::vector<uint64_t>{1, 1, 1});
}

TEST_CASE("guided takes a rank's share of the rest, not less than its chunk", "[schedule]")
{
    CHECK(chunks(Sizing::resolve(WS_GUIDED, 0), 16, 1, 2) == std::vector<uint64_t>{8, 4, 2, 1, 1});
    CHECK(chunks(Sizing::resolve(WS_GUIDED, 3), 16, 1, 2) == std::vector<uint64_t>{8, 4, 3, 1});
}

TEST_CASE("auto takes its chunk, but at most half of an equal share of the rest", "[schedule]")
{
    Sizing s = Sizing::resolve(WS_AUTO, 0);
    s.chunk = 100;
    CHECK(s.units(1000, 1, 2) == 100);
    CHECK(s.units(1000, 5, 2) == 100);
    CHECK(s.units(1000, 10, 2) == 50);
    CHECK(s.units(100, 2, 2) == 25);
    CHECK(s.units(3, 2, 2) == 1);
    CHECK(s.units(1, 1024, 2) == 1);
    s.least = 8; // the tail is not cut into crumbs
    CHECK(s.units(20, 2, 2) == 8);
    CHECK(s.units(1000, 1, 2) == 100);
}

TEST_CASE("several chunks of a fixed size are claimed at once where one is too little", "[schedule]")
{
    for (ws_schedule kind : {WS_STATIC, WS_DYNAMIC}) {
        Sizing s = Sizing::resolve(kind, 3);
        CHECK(s.units(1000, 2, 2) == 3); // nothing is known of their cost
        s.least = 20;
        CHECK(s.units(1000, 2, 2) == 18); // whole chunks
        CHECK(s.units(60, 2, 2) == 15);   // a quarter of the rest at most
        CHECK(s.units(8, 2, 2) == 3);
        s.least = 2;
        CHECK(s.units(1000, 2, 2) == 3);
    }
    Sizing guided = Sizing::resolve(WS_GUIDED, 1);
    guided.least = 20;
    CHECK(guided.units(1000, 2, 2) == 500);
    CHECK(guided.units(30, 2, 2) == 15);
    CHECK(guided.units(30, 2, 8) == 7); // the rest of 30 in eighths is 4
}

TEST_CASE("less than the least is not claimed, as far as is known what a unit takes", "[schedule][pace]")
{
    CHECK(Pace::least_units(700, 0) == 1);
    CHECK(Pace::least_units(700, 7) == 100);
    CHECK(Pace::least_units(700, 10000) == 1);
    CHECK(Pace::least_units(0, 7) == 1);
    CHECK(Pace::least_units(1000000, 1e-6) == Sizing::max_least);
}

TEST_CASE("long auto chunks end at a multiple of 64, others as they are", "[schedule]")
{
    Sizing sizing{WS_AUTO, 1000, 1};
    uint64_t next = 37, end = 100000;
    while (end - next > 4000) {
        uint64_t n = sizing.units_from(next, end - next, 1, 2);
        next += n;
        CHECK(next % 64 == 0);
        CHECK(n > 1000 - 64);
        CHECK(n <= 1000);
    }
    for (next = 37, end = 99991; end - next > 4000;) { // the same from the far end
        const uint64_t n = sizing.units_until(end, end - next, 1, 2);
        end -= n;
        CHECK(end % 64 == 0);
        CHECK(n > 1000 - 64);
        CHECK(n <= 1000);
    }
    CHECK(sizing.units_until(4037, 500, 1, 2) == 250); // too short to matter, too
    sizing.chunk = 200; // too short to matter
    CHECK(sizing.units_until(100000, 90000, 1, 2) == 200);
    CHECK(sizing.units_from(37, 100000, 1, 2) == 200);
    sizing = {WS_AUTO, 1000, 5000}; // all that is left, or more
    CHECK(sizing.units_from(37, 4000, 1, 2) == 5000);
    for (ws_schedule kind : {WS_STATIC, WS_DYNAMIC, WS_GUIDED}) { // multiples of what the user said
        sizing = {kind, 1000, 1};
        CHECK(sizing.units_from(37, 100000, 1, 2) == sizing.units(100000, 1, 2));
    }
}

TEST_CASE("sizes hold for the largest loops", "[schedule]")
{
    for (ws_schedule kind : {WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED})
        for (unsigned ranks : {1u, 2u, 1023u})
            for (unsigned participants : {1u, 2u, 1024u})
                // As many units as fit into the descriptor, and as many as a plain 64-bit count can hold.
                for (uint64_t units : {uint64_t(1) << 40, most - 2048}) {
                    CAPTURE(int(kind), ranks, participants, units);
                    Sizing s = Sizing::resolve(kind, 0);
                    uint64_t n = s.units(units, participants, ranks);
                    CHECK(n >= 1);
                    if (kind == WS_GUIDED) {
                        CHECK(n >= units / ranks);
                        CHECK(n <= units / ranks + 1);
                    }
                    Sizing huge = Sizing::resolve(kind, most >> 8);
                    CHECK(huge.units(units, participants, ranks) >= 1);
                }
}

TEST_CASE("a sizing survives the window", "[schedule]")
{
    for (ws_schedule kind : {WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED})
        for (uint64_t chunk : {uint64_t(1), uint64_t(12345), (uint64_t(1) << 40) - 1}) {
            Sizing s = Sizing::unpack(Sizing{kind, chunk, 77}.pack());
            CHECK(s.kind == kind);
            CHECK(s.chunk == chunk);
            CHECK(s.least == 77);
        }
    Sizing larger = Sizing::unpack(Sizing{WS_DYNAMIC, most, most}.pack());
    CHECK(larger.kind == WS_DYNAMIC);
    CHECK(larger.chunk == Sizing::max_chunk);
    CHECK(larger.least == Sizing::max_least);
}

TEST_CASE("an auto chunk grows to the time it should take and falls at once", "[schedule][pace]")
{
    constexpr uint64_t target = 30000, cost = 10;
    Pace p;
    uint64_t now = 1000;
    p.begin(Sizing::resolve(WS_AUTO, 0), now);
    unsigned turns = 0;
    for (; p.sizing().chunk * cost < target * 2 / 3; turns++) {
        REQUIRE(turns < 20);
        uint64_t n = p.sizing().chunk;
        p.start_chunk(n);
        CHECK(p.wants_time());
        p.finish_chunk(now += n * cost, target);
        CHECK(p.sizing().chunk <= 4 * n);
    }
    CHECK(turns < 10);
    CHECK(p.sizing().chunk * cost <= target * 2);

    // Iterations get a thousand times as expensive.
    uint64_t n = p.sizing().chunk;
    p.start_chunk(n);
    p.finish_chunk(now += n * cost * 1000, target);
    CHECK(p.sizing().chunk * cost * 1000 <= target);
    for (int k = 0; k < 3; k++) {
        n = p.sizing().chunk;
        CHECK(n >= 1);
        p.start_chunk(n);
        p.finish_chunk(now += n * cost * 1000, target);
    }
    CHECK(p.sizing().chunk == target / (cost * 1000));
}

TEST_CASE("an auto chunk of iterations longer than the target is one", "[schedule][pace]")
{
    Pace p;
    p.begin(Sizing::resolve(WS_AUTO, 0), 0);
    p.start_chunk(1);
    p.finish_chunk(1u << 30, 30000);
    CHECK(p.sizing().chunk == 1);
}

TEST_CASE("a pace measures what an iteration costs, fixed chunks included", "[schedule][pace]")
{
    for (ws_schedule kind : {WS_AUTO, WS_DYNAMIC}) {
        Pace p;
        uint64_t now = 0, taken = 0, timed = 0;
        p.begin(Sizing::resolve(kind, 5), now);
        for (int k = 0; k < 200; k++) {
            if (p.wants_time()) {
                p.finish_chunk(now, 30000);
                timed++;
            } else
                p.skip_time();
            p.start_chunk(5);
            taken += 5;
            now += 5 * 40;
        }
        CHECK(p.measured_units() > 0);
        CHECK(p.measured_units() <= taken);
        CHECK(p.ticks_per_unit() == Approx(40));
        CHECK(timed >= 10);
        if (kind == WS_DYNAMIC)
            CHECK(timed < 50); // reading the clock at each chunk would cost more than the claim
    }
}

TEST_CASE("the longest chunk does not overflow a pace", "[schedule][pace]")
{
    Pace p;
    p.begin(Sizing::resolve(WS_AUTO, 0), 0);
    uint64_t now = 0;
    // Iterations that cost nothing: the chunk doubles without an end, the sizing cuts it.
    for (int k = 0; k < 200; k++) {
        uint64_t n = p.sizing().units(uint64_t(1) << 40, 2, 2);
        CHECK(n >= 1);
        CHECK(n <= uint64_t(1) << 38);
        p.start_chunk(n);
        p.finish_chunk(++now, 30000);
    }
}

TEST_CASE("halves of a region are compared in equal company", "[schedule]")
{
    Pace p;
    uint64_t now = 0;
    const auto chunk = [&](uint64_t units, bool second_half, bool crowded, uint64_t cost) {
        p.start_chunk(units, second_half, crowded);
        p.finish_chunk(now += units * cost, 30000);
    };
    p.begin(Sizing::resolve(WS_AUTO, 0), 0);
    chunk(800, false, false, 10); // a guest comes, and everything gets more expensive
    CHECK(p.tilt() == 0);
    chunk(200, false, true, 40);
    chunk(1000, true, true, 44);
    CHECK(p.tilt() == Approx(1.1));
    CHECK(p.rough_tilt() == Approx(44 / 16.));
    p.begin(Sizing::resolve(WS_AUTO, 0), now);
    chunk(1000, false, false, 10);
    chunk(900, true, false, 15);
    chunk(100, true, true, 90);
    CHECK(p.tilt() == Approx(1.5));
    p.begin(Sizing::resolve(WS_AUTO, 0), now);
    chunk(50, false, true, 90); // too few to compare with
    chunk(1000, true, true, 10);
    CHECK(p.tilt() == 0);
}
