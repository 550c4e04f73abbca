// SPDX-License-Identifier: MIT
//
// The descriptor's roles, one after the other in one thread.
#include "loop/descriptor.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>
#include <vector>

using ws::loop::Chunk;
using ws::loop::Claim;
using ws::loop::Descriptor;

namespace {

auto take(uint64_t n)
{
    return [n](uint64_t, unsigned) { return n; };
}

// In zeroed memory, as in the window.
struct Slot {
    alignas(Descriptor) unsigned char bytes[sizeof(Descriptor)] = {};
    Descriptor& d = *reinterpret_cast<Descriptor*>(bytes);
    Slot() { d.init(); }
};

} // namespace

namespace ws::loop {
static bool operator==(Chunk a, Chunk b) { return a.lo == b.lo && a.hi == b.hi; }
} // namespace ws::loop

TEST_CASE("nothing can be claimed before a region is published and after it is closed", "[descriptor]")
{
    Slot s;
    Chunk c{7, 7};
    CHECK(s.d.claim(take(1), c) == Claim::closed);
    CHECK(s.d.claim_and_join(take(1), c) == Claim::closed);
    CHECK_FALSE(s.d.look().open);

    s.d.publish(0, {1, 0, 0});
    CHECK(s.d.claim(take(1), c) == Claim::taken);
    CHECK(s.d.claim(take(1), c) == Claim::empty);
    CHECK(s.d.claim_and_join(take(1), c) == Claim::empty);
    REQUIRE(s.d.close());
    CHECK(s.d.claim(take(1), c) == Claim::closed);
    CHECK(s.d.claim_and_join(take(1), c) == Claim::closed);
    CHECK(c.lo == 0);
    CHECK(c.hi == 1);
}

TEST_CASE("claims tile the region and are cut at its end", "[descriptor]")
{
    Slot s;
    s.d.publish(10, {20, 0, 0});
    Chunk c;
    REQUIRE(s.d.claim(take(4), c) == Claim::taken);
    CHECK(c == Chunk{10, 14});
    REQUIRE(s.d.claim(take(0), c) == Claim::taken); // a claim of 0 units takes one
    CHECK(c == Chunk{14, 15});
    REQUIRE(s.d.claim(take(~uint64_t(0)), c) == Claim::taken);
    CHECK(c == Chunk{15, 20});
    CHECK(s.d.claim(take(1), c) == Claim::empty);
}

TEST_CASE("the size is asked for with what remains and who has joined", "[descriptor]")
{
    Slot s;
    s.d.publish(0, {100, 0, 0});
    Chunk c;
    uint64_t remaining = 0;
    unsigned joiners = 99;
    auto asked = [&](uint64_t r, unsigned j) {
        remaining = r;
        joiners = j;
        return uint64_t(10);
    };
    s.d.claim(asked, c);
    CHECK(remaining == 100);
    CHECK(joiners == 0);
    s.d.claim_and_join(asked, c);
    CHECK(remaining == 90);
    CHECK(joiners == 0);
    s.d.claim_and_join(asked, c);
    CHECK(remaining == 80);
    CHECK(joiners == 1);
}

TEST_CASE("a join counts until it is left, and a region with a joiner does not close", "[descriptor]")
{
    Slot s;
    s.d.publish(0, {3, 0, 0});
    Chunk c;
    REQUIRE(s.d.claim_and_join(take(1), c) == Claim::taken);
    REQUIRE(s.d.claim_and_join(take(2), c) == Claim::taken);
    CHECK(s.d.joiners() == 2);
    CHECK_FALSE(s.d.close());
    s.d.leave();
    CHECK(s.d.joiners() == 1);
    CHECK_FALSE(s.d.close());
    s.d.leave();
    CHECK(s.d.joiners() == 0);
    CHECK(s.d.close());
    CHECK_FALSE(s.d.look().open);
}

TEST_CASE("as many guests as there may be ranks can join", "[descriptor]")
{
    Slot s;
    s.d.publish(0, {Descriptor::max_units, 0, 0});
    Chunk c;
    for (unsigned n = 0; n < Descriptor::max_joiners; n++)
        REQUIRE(s.d.claim_and_join(take(1), c) == Claim::taken);
    CHECK(s.d.joiners() == Descriptor::max_joiners);
    CHECK(s.d.look().remaining == Descriptor::max_units - Descriptor::max_joiners);
    for (unsigned n = 0; n < Descriptor::max_joiners; n++)
        s.d.leave();
    CHECK(s.d.joiners() == 0);
}

TEST_CASE("no more join than may, and who leaves makes room", "[descriptor]")
{
    Slot s;
    s.d.publish(0, {100, 0, 0, 2});
    Chunk c;
    CHECK_FALSE(s.d.look().full);
    REQUIRE(s.d.claim_and_join(take(1), c) == Claim::taken);
    REQUIRE(s.d.claim_and_join(take(1), c) == Claim::taken);
    CHECK(s.d.look().full);
    CHECK(s.d.claim_and_join(take(1), c) == Claim::full);
    CHECK(s.d.look().remaining == 98);
    CHECK(s.d.claim(take(1), c) == Claim::taken); // those inside go on
    s.d.leave();
    CHECK(s.d.claim_and_join(take(1), c) == Claim::taken);
    CHECK(s.d.look().remaining == 96);
    s.d.leave();
    s.d.leave();
    REQUIRE(s.d.claim(take(100), c) == Claim::taken);
    CHECK(s.d.claim_and_join(take(1), c) == Claim::empty);
    REQUIRE(s.d.close());
    s.d.publish(0, {1, 0, 0});
    CHECK(s.d.claim_and_join(take(1), c) == Claim::taken); // of another region
}

TEST_CASE("threads that take part from the first are joiners", "[descriptor]")
{
    Slot s;
    s.d.publish(0, {10, 0, 0, 3, 2});
    Chunk c;
    CHECK(s.d.joiners() == 2);
    REQUIRE(s.d.claim_and_join(take(1), c) == Claim::taken);
    CHECK(s.d.claim_and_join(take(1), c) == Claim::full);
    REQUIRE(s.d.claim(take(20), c) == Claim::taken);
    for (int n = 0; n < 3; n++) {
        CHECK_FALSE(s.d.close());
        s.d.leave();
    }
    CHECK(s.d.close());
}

TEST_CASE("the largest region can be claimed to its end without looking closed", "[descriptor]")
{
    Slot s;
    s.d.publish(0, {Descriptor::max_units, 0, 0});
    Chunk c;
    REQUIRE(s.d.claim(take(Descriptor::max_units - 1), c) == Claim::taken);
    REQUIRE(s.d.claim_and_join(take(5), c) == Claim::taken);
    CHECK(c == Chunk{Descriptor::max_units - 1, Descriptor::max_units});
    CHECK(s.d.claim(take(1), c) == Claim::empty);
    CHECK(s.d.look().open);
    CHECK(s.d.joiners() == 1);
    s.d.leave();
    CHECK(s.d.close());
}

TEST_CASE("a look tells the terms and what remains", "[descriptor]")
{
    Slot s;
    s.d.publish(2, {12, 34, 56});
    Descriptor::Look look = s.d.look();
    CHECK(look.open);
    CHECK(look.remaining == 10);
    CHECK(look.sizing == 34);
    CHECK(look.unit_ticks == 56);
}

TEST_CASE("a claim is cut at the end of the open region", "[descriptor]")
{
    Slot s;
    s.d.publish(0, {5, 0, 0});
    CHECK(s.d.clamp({1, 3}) == Chunk{1, 3});
    CHECK(s.d.clamp({3, 8}) == Chunk{3, 5});
    CHECK(s.d.clamp({6, 8}) == Chunk{5, 5});
}

TEST_CASE("the generation changes with each region and wraps without touching its neighbours", "[descriptor]")
{
    Slot s;
    auto word = [&] {
        uint64_t w;
        std::memcpy(&w, s.bytes, sizeof w);
        return w;
    };
    uint64_t before = word();
    for (unsigned n = 0; n < 1u << 13; n++) {
        s.d.publish(0, {1, 0, 0, Descriptor::max_joiners, 0, n % 2 != 0});
        uint64_t open = word();
        REQUIRE(open != before);
        REQUIRE(s.d.joiners() == 0);
        Chunk c;
        REQUIRE(s.d.claim(take(1), c) == Claim::taken);
        REQUIRE(s.d.close());
        if (n + 1 < 1u << 13)
            REQUIRE(word() != before);
    }
    CHECK((word() & ~Descriptor::two_ends) == before);
}

TEST_CASE("with two ends the owner claims from the begin, guests from the end, until they meet", "[descriptor]")
{
    Slot s;
    s.d.publish(10, {20, 0, 0, Descriptor::max_joiners, 0, true});
    Chunk c, place{};
    REQUIRE(s.d.claim_and_join(take(2), c) == Claim::taken);
    CHECK(c.size() == 2);
    CHECK(s.d.clamp(c) == Chunk{18, 20});
    REQUIRE(s.d.claim(
                [&](uint64_t remaining, unsigned) {
                    CHECK(remaining == 8);
                    place = c;
                    return uint64_t(3);
                },
                c) == Claim::taken);
    CHECK(place == Chunk{10, 10});
    CHECK(c == Chunk{10, 13});
    REQUIRE(s.d.claim(
                [&](uint64_t remaining, unsigned joiners) {
                    CHECK(remaining == 5);
                    CHECK(joiners == 1);
                    place = c;
                    return uint64_t(2);
                },
                c, Descriptor::guest) == Claim::taken);
    CHECK(place == Chunk{18, 18});
    CHECK(c == Chunk{16, 18});
    CHECK(s.d.look().remaining == 3);
    REQUIRE(s.d.claim_and_join(take(100), c) == Claim::taken); // cut where the owner is
    CHECK(s.d.clamp(c) == Chunk{13, 16});
    CHECK(s.d.look().remaining == 0);
    CHECK(s.d.claim(take(1), c) == Claim::empty);
    CHECK(s.d.claim(take(1), c, Descriptor::guest) == Claim::empty);
    CHECK(s.d.claim_and_join(take(1), c) == Claim::empty);
    CHECK_FALSE(s.d.close());
    s.d.leave();
    s.d.leave();
    CHECK(s.d.close());
    CHECK(s.d.claim(take(1), c, Descriptor::guest) == Claim::closed);
}

TEST_CASE("with two ends a claim of an older region is cut where the open one's claims are", "[descriptor]")
{
    // A thief that read the terms of the older region, of 9 units: its compare-and-swap succeeds on the word of the
    // newer.
    Slot s;
    const unsigned any = Descriptor::max_joiners;
    for (const uint64_t units : {9, 5, 3}) { // 9: none is older
        s.d.publish(0, {9, 0, 0, any, 0, true});
        Chunk c{}, stale{};
        REQUIRE(s.d.claim(take(2), c) == Claim::taken);
        REQUIRE(s.d.claim_and_join(take(1), c) == Claim::taken);
        REQUIRE(s.d.claim_and_join(take(4), stale) == Claim::taken);
        // The terms are what differs, as after 2^13 regions.
        const uint64_t terms = uint64_t(any) << Descriptor::next_bits | units;
        std::memcpy(s.bytes + 64, &terms, sizeof terms);
        const uint64_t hi = units - 1, lo = hi > 6 ? hi - 4 : 2;
        CHECK(s.d.clamp(stale) == Chunk{lo, hi > lo ? hi : lo});
        s.d.leave();
        s.d.leave();
        while (s.d.claim(take(1), c) == Claim::taken) {
        }
        REQUIRE(s.d.close());
    }
}

TEST_CASE("the largest region with two ends can be claimed to its end without looking closed", "[descriptor]")
{
    for (const bool by_guest : {false, true}) {
        Slot s;
        s.d.publish(0, {Descriptor::max_units_of_two_ends, 0, 0, Descriptor::max_joiners, 0, true});
        Chunk c;
        REQUIRE(s.d.claim(take(by_guest ? 1 : Descriptor::max_units_of_two_ends), c) == Claim::taken);
        if (by_guest) {
            REQUIRE(s.d.claim(take(~uint64_t(0)), c, Descriptor::guest) == Claim::taken);
            CHECK(c == Chunk{1, Descriptor::max_units_of_two_ends});
        }
        CHECK(s.d.claim(take(1), c) == Claim::empty);
        CHECK(s.d.look().open);
        CHECK(s.d.close());
    }
}
