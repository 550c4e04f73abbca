// SPDX-License-Identifier: MIT
#include "openmp/shared/distribution.h"
#include "openmp/shared/looks.h"
#include "openmp/shared/on_demand.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace ws::openmp;
using ws::openmp::Distribution;

namespace {

// The units of a region, cut into calls anyhow.
std::vector<Units> calls_of(unsigned of, std::mt19937_64& random)
{
    std::vector<Units> calls;
    for (unsigned lo = 0; lo < of;) {
        const unsigned hi = lo + 1 + unsigned(random() % (of - lo));
        calls.push_back({lo, hi, of});
        lo = hi;
    }
    return calls;
}

} // namespace

TEST_CASE("each iteration of a distributed loop belongs to one call, whatever the calls are")
{
    std::mt19937_64 random(7);
    for (int i = 0; i < 20000; i++) {
        const unsigned of = 1 + unsigned(random() % most_units);
        const uint64_t n = random() % 2000, chunk = random() % 40;
        uint64_t next = 0;
        for (const Units& u : calls_of(of, random)) {
            const IterationRange part = part_of_loop(n, chunk, u);
            REQUIRE(part.from == next);
            REQUIRE(part.to >= part.from);
            REQUIRE((chunk < 2 || part.to % chunk == 0 || part.to == n));
            next = part.to;
        }
        REQUIRE(next == n);
    }
}

TEST_CASE("parts differ by one chunk at most, also where numbers are large")
{
    for (uint64_t n : {uint64_t(1000), ~uint64_t(0), ~uint64_t(0) - 17})
        for (unsigned of : {1u, 3u, 16u, 255u, 256u}) {
            uint64_t least = n, most = 0;
            for (unsigned u = 0; u < of; u++) {
                const IterationRange part = part_of_loop(n, 0, {u, u + 1, of});
                least = std::min(least, part.to - part.from);
                most = std::max(most, part.to - part.from);
            }
            CHECK(most - least <= 1);
            CHECK(part_of_loop(n, 0, {0, of, of}).to == n);
            CHECK(part_of_loop(n, 64, {0, of, of}).to == n);
        }
}

TEST_CASE("chunks of a static schedule are assigned round robin, each once")
{
    std::mt19937_64 random(8);
    for (int i = 0; i < 5000; i++) {
        const unsigned of = 1 + unsigned(random() % 20);
        const uint64_t n = 1 + random() % 500, chunk = 1 + random() % 9;
        std::vector<int> count(n);
        int lasts = 0;
        for (const Units& u : calls_of(of, random)) {
            const Rounds r = rounds_of_loop(n, chunk, u);
            bool last = false;
            for (uint64_t at = r.first; at < n; at += r.stride)
                for (uint64_t k = at; k < std::min(n, at + r.size); k++) {
                    count[k]++;
                    last |= k == n - 1;
                    REQUIRE(k / chunk % of >= u.lo); // the thread that OpenMP says
                    REQUIRE(k / chunk % of < u.hi);
                }
            REQUIRE(last == r.has_last);
            lasts += last;
        }
        REQUIRE(lasts == 1);
        for (int c : count)
            REQUIRE(c == 1);
    }
}

TEST_CASE("the pieces of a loop in order are each iteration once, whatever the chunk")
{
    std::mt19937_64 random(10);
    for (int i = 0; i < 5000; i++) {
        const unsigned of = 1 + unsigned(random() % 20);
        const uint64_t n = random() % 500, chunk = i % 7 ? random() % 9 : ~uint64_t(0);
        std::vector<int> count(n);
        for (const Units& u : calls_of(of, random)) {
            const Rounds r = pieces_of_loop(n, chunk, u);
            for (uint64_t at = r.first; at < n; at += r.stride)
                for (uint64_t k = at; k < std::min(n, at + r.size); k++)
                    count[k]++;
        }
        for (int c : count)
            REQUIRE(c == 1);
    }
}

TEST_CASE("each section is run once")
{
    std::mt19937_64 random(9);
    for (int i = 0; i < 5000; i++) {
        const unsigned of = 1 + unsigned(random() % 20), count = unsigned(random() % 50);
        std::vector<int> had(count + 1);
        for (const Units& u : calls_of(of, random))
            for (unsigned s = first_section(count, u); s; s = next_section(count, s, u))
                REQUIRE(++had.at(s) == 1);
        for (unsigned s = 1; s <= count; s++)
            REQUIRE(had[s] == 1);
    }
}

TEST_CASE("chunks on demand are run once each, in their order, by virtual threads that come in any order")
{
    std::mt19937_64 random(11);
    for (int round = 0; round < 4000; round++) {
        const unsigned units = 2 + unsigned(random() % 15), loops = 3;
        const uint64_t n = random() % 300, chunk = random() % 6, least = std::max<uint64_t>(chunk, 1);
        constexpr Distribution deals[] = {Distribution::on_demand, Distribution::guided, Distribution::own_part_first};
        const Distribution distribution = deals[random() % std::size(deals)];
        OnDemandLoops all(units);
        struct Played {
            OnDemand part;
            unsigned loops = 0;
            bool ended = false;
        };
        std::vector<Played> played(units);
        std::vector<std::vector<int>> count(loops, std::vector<int>(n));
        std::vector<uint64_t> next(loops);
        const auto begin = [&](Played& p) {
            p.part.begin(all.after(p.loops ? p.part.loop() : nullptr), n, chunk, distribution,
                         unsigned(&p - played.data()), units);
            p.loops++;
        };
        for (unsigned over = 0; over < units;) {
            Played& p = played[random() % units];
            if (p.ended)
                continue;
            if (p.loops == 0)
                begin(p);
            IterationRange piece;
            if (p.part.next(piece)) {
                if (distribution != Distribution::own_part_first)
                    REQUIRE(piece.from == next[p.loops - 1]);
                REQUIRE(piece.to > piece.from);
                REQUIRE((piece.to == n || piece.to % least == 0));
                for (uint64_t i = piece.from; i < piece.to; i++)
                    count[p.loops - 1].at(i)++;
                next[p.loops - 1] = piece.to;
                if (p.part.has_had_share()) { // it is set aside, and goes on
                    REQUIRE(p.part.end_turn());
                    REQUIRE(!p.part.end_turn());
                    REQUIRE(!p.part.has_had_share());
                }
            } else if (p.loops < loops)
                begin(p);
            else {
                all.pass(*p.part.loop());
                p.ended = true;
                over++;
            }
        }
        for (const auto& loop : count)
            REQUIRE(std::count(loop.begin(), loop.end(), 1) == long(n));
    }
}

TEST_CASE("where each has a part of its own, it begins there")
{
    OnDemandLoops all(2);
    OnDemand second;
    second.begin(all.after(nullptr), 10, 0, Distribution::own_part_first, 1, 2);
    IterationRange piece;
    REQUIRE(second.next(piece));
    CHECK(piece.from == 5);
}

TEST_CASE("a virtual thread has had its share after an equal part of the chunks, and can take all")
{
    OnDemandLoops all(4);
    OnDemand part, late;
    part.begin(all.after(nullptr), 100, 5, Distribution::on_demand, 0, 4); // 20 chunks
    IterationRange piece;
    for (unsigned taken = 1; taken <= 20; taken++) {
        CHECK(part.has_had_share() == (taken > 5));
        REQUIRE(part.next(piece));
    }
    CHECK(!part.next(piece));
    late.begin(all.after(nullptr), 100, 5, Distribution::on_demand, 1, 4);
    CHECK(!late.next(piece));
    CHECK(!late.end_turn());
}

TEST_CASE("threads that compute for long are looked at less and less often, and again soon after something happened")
{
    constexpr uint64_t patience = 6000;
    Looks looks;
    unsigned count = 0;
    const auto watch = [&](uint64_t progress, uint64_t from, uint64_t to) {
        for (uint64_t now = from; now < to; now += 3000)
            if (looks.are_due(1, progress, now, patience)) {
                looks.looked(now, patience);
                count++;
            }
    };
    watch(0, 1000, 1001000); // 1 s
    CHECK(count >= 10);
    CHECK(count <= 30);
    count = 0;
    watch(1, 1001000, 1011000); // 10 ms
    CHECK(count == 1);
    CHECK(looks.since() == 1001000);
}

TEST_CASE("the watchdog sleeps longer once all regions have gone on for a while, until one stands still or is new")
{
    Naps naps;
    const auto look = [&](unsigned times, bool went_on, unsigned sites) {
        for (unsigned i = 0; i < times; i++)
            naps.looked(went_on, sites);
        return naps.next_us();
    };
    CHECK(look(Naps::calm_after, true, 2) == Naps::first_us); // the first ones were new
    CHECK(look(1, true, 2) == Naps::calm_us);
    CHECK(look(1000, true, 2) == Naps::calm_us);
    CHECK(look(1, false, 2) == Naps::first_us);
    CHECK(look(Naps::calm_after - 1, true, 2) == Naps::first_us);
    CHECK(look(1, true, 2) == Naps::calm_us);
    CHECK(look(1, true, 3) == Naps::first_us);
}
