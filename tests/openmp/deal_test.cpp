// SPDX-License-Identifier: MIT
#include "openmp/deal.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace ws::openmp;

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
    CHECK(no_fewer_than(24, 16) == 24);
    CHECK(no_fewer_than(8, choose_units_that_stop(1, 2)) == 8);
    CHECK(no_fewer_than(1000, 64) == most_units);
    CHECK(no_fewer_than(24, choose_units(1000, 16, 100)) < 4);
}
