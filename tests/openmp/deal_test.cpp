// SPDX-License-Identifier: MIT
#include "openmp/deal.h"
#include "openmp/on_demand.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace ws::openmp;
using ws::directive::Deal;

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

TEST_CASE("each iteration of a dealt loop belongs to one call, whatever the calls are")
{
    std::mt19937_64 random(7);
    for (int i = 0; i < 20000; i++) {
        const unsigned of = 1 + unsigned(random() % most_units);
        const uint64_t n = random() % 2000, chunk = random() % 40;
        uint64_t next = 0;
        for (const Units& u : calls_of(of, random)) {
            const Part part = part_of_loop(n, chunk, u);
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
                const Part part = part_of_loop(n, 0, {u, u + 1, of});
                least = std::min(least, part.to - part.from);
                most = std::max(most, part.to - part.from);
            }
            CHECK(most - least <= 1);
            CHECK(part_of_loop(n, 0, {0, of, of}).to == n);
            CHECK(part_of_loop(n, 64, {0, of, of}).to == n);
        }
}

TEST_CASE("chunks of a static schedule are dealt round robin, each once")
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

TEST_CASE("longer regions have more virtual threads, those that prepare much have fewer")
{
    CHECK(choose_units(1, 16, 0) == 16);
    CHECK(choose_units(275, 16, 0) == 16);
    CHECK(choose_units(605, 16, 0) == 32);
    CHECK(choose_units(1e6, 16, 0) == most_units);
    CHECK(choose_units(1e6, 16, 100) == 128);
    CHECK(choose_units(1000, 16, 100) < 4);
    CHECK(choose_units(605, 16, 0, true) == 128);
    CHECK(choose_units(60, 16, 0, true) == 16);
    CHECK(choose_units(605, 16, 0.3, true) == 128);
    CHECK(choose_units(605, 16, 0.5, true) == 16); // calls of many at a time would prepare too much
}

TEST_CASE("there are no fewer virtual threads than threads that wait for each other under OpenMP")
{
    CHECK(no_fewer_than(1, 16) == 16);
    CHECK(no_fewer_than(1, most_units) == most_units);
    CHECK(no_fewer_than(24, 16) == 24);
    CHECK(no_fewer_than(3, 16) == 18); // chunks round robin are dealt to 3 or 6 of them where OpenMP deals them to one
    CHECK(no_fewer_than(3, 256) == 255);
    CHECK(no_fewer_than(200, 256) == 200);
    CHECK(no_fewer_than(8, 64) == 64);
    CHECK(no_fewer_than(8, choose_units_that_stop(1, 2)) == 8);
    CHECK(no_fewer_than(1000, 64) == most_units);
    CHECK(no_fewer_than(24, choose_units(1000, 16, 100)) < 4);
}

namespace {
// Virtual threads on a few threads, in any order. Each has loops with chunks on demand.
struct Played {
    OnDemand part;
    unsigned loops = 0;
    bool stands = false, ended = false; // in a chunk that waits
    bool takes_from_end = false;
};
} // namespace

TEST_CASE("chunks on demand are run once each, though all but one of as many as OpenMP has threads stand still")
{
    std::mt19937_64 random(11);
    for (int round = 0; round < 4000; round++) {
        const unsigned at_once = 2 + unsigned(random() % 5), units = at_once * (1 + unsigned(random() % 5)), loops = 3;
        const uint64_t n = random() % 300, chunk = random() % 6;
        constexpr Deal deals[] = {Deal::on_demand, Deal::guided, Deal::on_demand_in_any_order,
                                  Deal::guided_in_any_order, Deal::own_part_first};
        const Deal deal = deals[random() % std::size(deals)];
        const double slope = double(random() % 3); // 0: not known, 1: none, 2: from the end
        const uint64_t chunks = (n + std::max<uint64_t>(chunk, 1) - 1) / std::max<uint64_t>(chunk, 1);
        const bool is_few = chunks < 4 * units && chunks <= OnDemand::few * at_once;
        const bool from_end = slope > 1 && !is_in_order(deal) && is_few;
        OnDemandLoops all(units, at_once);
        std::vector<Played> played(units);
        std::vector<std::vector<int>> count(loops, std::vector<int>(n));
        std::vector<uint64_t> next(loops), left(loops, n);
        std::vector<unsigned> arrived(loops);
        unsigned standing_at_end = 0, standing = 0, begun = 0, over = 0;
        const auto begin = [&](Played& p) {
            p.part.begin(all.after(p.loops ? p.part.loop() : nullptr), n, chunk, deal, units, at_once, slope);
            p.takes_from_end = from_end && arrived[p.loops] + at_once < units;
            arrived[p.loops]++;
            p.loops++;
        };
        while (over + standing + standing_at_end < units) {
            // one that has not begun, as a thread is free that runs it or the watchdog gave it one; or any that has
            const unsigned u = unsigned(random() % std::min(units, begun + 1));
            begun = std::max(begun, u + 1);
            Played& p = played[u];
            if (p.stands || p.ended)
                continue;
            if (p.loops == 0)
                begin(p);
            const uint64_t progress = all.progress();
            Part piece;
            if (p.part.next(piece)) {
                if (deal != Deal::own_part_first && !from_end)
                    REQUIRE(piece.from == next[p.loops - 1]);
                for (uint64_t i = piece.from; i < piece.to; i++)
                    count[p.loops - 1].at(i)++;
                REQUIRE(piece.to > piece.from);
                REQUIRE((piece.to == n || piece.to % std::max<uint64_t>(chunk, 1) == 0));
                next[p.loops - 1] = piece.to;
                left[p.loops - 1] -= piece.to - piece.from;
                if (p.loops == loops)
                    REQUIRE(all.progress() != progress);
                // in chunks from the end, which OpenMP's threads would not have yet, any number may, until all that
                // lies before them has begun
                if (p.takes_from_end ? random() % 2 == 0 : standing + 1 < at_once && random() % 4 == 0) {
                    p.stands = true;
                    (p.takes_from_end ? standing_at_end : standing)++;
                }
                for (Played& other : played)
                    if (left[p.loops - 1] == 0 && other.loops == p.loops && other.stands && other.takes_from_end) {
                        other.stands = false;
                        standing_at_end--;
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

namespace {
// The first iterations of chunks that two virtual threads of many take in turn, the second of which comes last.
std::vector<uint64_t> taken_of(Slopes& slopes, Deal deal, uint64_t n, double dear, double cheap)
{
    constexpr unsigned units = 3, at_once = 1;
    OnDemandLoops all(units, at_once, &slopes);
    OnDemand parts[units];
    std::vector<uint64_t> taken;
    for (OnDemand& part : parts) {
        OnDemandLoop& loop = all.after(nullptr);
        part.begin(loop, n, 0, deal, units, at_once, all.slope(loop), all.measures());
        for (Part piece; part.next(piece);) {
            taken.push_back(piece.from);
            const uint64_t began = ws::window::ticks();
            while (double(ws::window::ticks() - began) < (piece.from >= n / 2 ? dear : cheap)) {
            }
        }
        all.pass(loop);
    }
    return taken;
}
} // namespace

TEST_CASE("where later chunks have been seen to take longer they are taken first, but by who must keep the order")
{
    const std::vector<uint64_t> in_order = {0, 1, 2, 3, 4, 5}, from_end = {5, 4, 3, 2, 0, 1};
    for (const Deal deal : {Deal::on_demand_in_any_order, Deal::guided_in_any_order, Deal::own_part_first}) {
        Slopes slopes = {};
        CHECK(taken_of(slopes, deal, 6, 2e6, 1e5) == in_order);
        // a single measurement may be disturbed by others on this CPU
        const auto comes_to = [&](const std::vector<uint64_t>& order, double dear, double cheap) {
            for (int i = 0; i < 200; i++)
                if (taken_of(slopes, deal, 6, dear, cheap) == order)
                    return true;
            return false;
        };
        CHECK(comes_to(from_end, 2e6, 1e5));
        CHECK(comes_to(in_order, 1e5, 2e6));
        CHECK(comes_to(from_end, 2e6, 1e5));
    }
    for (const Deal deal : {Deal::on_demand, Deal::guided}) { // as `monotonic` says
        Slopes slopes = {};
        slopes.of[0] = 2;
        CHECK(taken_of(slopes, deal, 6, 2e6, 1e5) == in_order);
    }
    Slopes slopes = {};
    slopes.of[0] = 2;
    const auto many = taken_of(slopes, Deal::on_demand_in_any_order, 12, 1, 1); // 4 for each virtual thread
    CHECK(std::is_sorted(many.begin(), many.end()));
}
