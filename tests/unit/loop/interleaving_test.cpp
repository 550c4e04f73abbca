// SPDX-License-Identifier: MIT
//
// The descriptor's protocol under every interleaving of an owner and one or two thieves over tiny regions, and the
// same with parts of the protocol broken: a checker that cannot fail would prove nothing.
#include "loop/descriptor.h"

#include "explore.h"
#include <catch2/catch.hpp>
#include <cstring>

using explore::Explorer;
using explore::Scheduled;
using ws::loop::Chunk;
using ws::loop::Claim;

namespace {

// What differs between the scenarios.
struct Plan {
    unsigned thieves = 2, tries = 2; // each thief attempts to join so often
    unsigned regions = 2;
    uint64_t units[3] = {3, 2, 2}; // of each region; different, so that `remaining` tells which region was read
    uint64_t first = 0;            // units that the owner runs before it publishes
    uint64_t owner_takes = 1, thief_takes = 1;
    bool wrap = false; // 2^13 - 1 more regions pass between the first and the second: the generation repeats
    // Broken on purpose:
    bool no_clamp = false, no_wait = false, no_limit = false;
    unsigned most_joiners = ws::loop::Descriptor::max_joiners; // at a time
    bool two_ends = false;
};

template <class A, const Plan& plan>
struct Protocol : Explorer::World {
    using Descriptor = ws::loop::BasicDescriptor<A>;

    Descriptor descriptor;
    volatile explore::Word region; // which region's body a guest would run; the owner writes it before it publishes
    // The checker's records.
    uint8_t ran[3][8] = {};
    bool closed[3] = {};
    unsigned inside = 0;

    Protocol() : region(0)
    {
        std::memset(static_cast<void*>(&descriptor), 0, sizeof descriptor);
        // The claim word and the region's end; nothing reads the other terms here. See "layout" below.
        volatile explore::Word* words = reinterpret_cast<explore::Word*>(&descriptor);
        memory = {&words[0], &words[8], &region};
        words[0] = Descriptor::next_mask; // as init(), which is not part of the race
    }

    void fail(const char* what) { Explorer::current().fail(what); }

    void run(uint64_t r, Chunk c)
    {
        if (closed[r])
            fail("a chunk ran after its region was closed");
        for (uint64_t u = c.lo; u < c.hi; u++)
            if (u >= plan.units[r] ||
                u >= sizeof ran[r]) // the second test is for the compiler, which does not know that plans are small
                return fail("a unit beyond the region's end ran");
            else if (ran[r][u]++)
                return fail("a unit ran twice");
    }

    void owner()
    {
        for (uint64_t r = 0; r < plan.regions; r++) {
            A::store_relaxed(region, r);
            run(r, {0, plan.first});
            descriptor.publish(plan.first,
                               {plan.units[r], 0, 0, plan.no_limit ? Descriptor::max_joiners : plan.most_joiners, 0,
                                plan.two_ends});
            Chunk c;
            while (descriptor.claim([](uint64_t, unsigned) { return plan.owner_takes; }, c) == Claim::taken)
                run(r, c);
            do {
                if (!plan.no_wait)
                    Explorer::current().wait([this] { return descriptor.joiners() == 0; });
            } while (!descriptor.close() && !plan.no_wait);
            if (inside)
                fail("the region was closed while a guest was inside");
            for (uint64_t u = 0; u < plan.units[r]; u++)
                if (ran[r][u] != 1)
                    fail("a unit had not run when the region was closed");
            closed[r] = true;
            if (plan.wrap && r == 0)
                Explorer::current().at_once([this] { *memory[0] -= Descriptor::generation_one; });
        }
    }

    void thief()
    {
        for (unsigned t = 0; t < plan.tries; t++) {
            uint64_t remaining = 0;
            Chunk c;
            Claim claim = descriptor.claim_and_join(
                [&](uint64_t left, unsigned) {
                    remaining = left;
                    return plan.thief_takes;
                },
                c);
            if (claim != Claim::taken)
                continue;
            if (++inside > plan.most_joiners)
                fail("one guest too many joined");
            uint64_t r = A::load_relaxed(region);
            const Chunk placed = descriptor.clamp(c);
            if (!plan.wrap && (plan.two_ends ? placed.size() != c.size() : c.lo + remaining != plan.units[r]))
                fail("a stale thief claimed in another generation");
            run(r, plan.no_clamp ? c : placed);
            while (descriptor.claim([](uint64_t, unsigned) { return plan.thief_takes; }, c, Descriptor::guest) ==
                   Claim::taken)
                run(r, c);
            inside--;
            descriptor.leave();
        }
    }

    std::vector<std::function<void()>> actors() override
    {
        std::vector<std::function<void()>> a = {[this] { owner(); }};
        for (unsigned t = 0; t < plan.thieves; t++)
            a.push_back([this] { thief(); });
        return a;
    }
    uint64_t hash() const override
    {
        uint64_t h = inside;
        for (unsigned r = 0; r < 3; r++) {
            uint64_t units;
            static_assert(sizeof units == sizeof ran[r]);
            std::memcpy(&units, ran[r], sizeof units);
            h = (h ^ units) * 0x9E3779B97F4A7C15ull + closed[r];
            h ^= h >> 29;
        }
        return h;
    }
    void at_end() override
    {
        if (descriptor.look().open)
            fail("the descriptor is open at the end");
        if (descriptor.joiners() != 0)
            fail("a joiner is left at the end");
    }
};

template <class A, const Plan& plan>
Explorer::Result explore_plan()
{
    Explorer::Result r = Explorer::run<Protocol<A, plan>>();
    CAPTURE(r.runs, r.states);
    return r;
}

#define REQUIRE_RIGHT(A, plan)                                                                                         \
    do {                                                                                                               \
        Explorer::Result r = Explorer::run<Protocol<A, plan>>();                                                       \
        INFO(r.runs << " runs, " << r.states << " states");                                                            \
        CHECK(r.violation == "");                                                                                      \
        CHECK(r.complete);                                                                                             \
        CHECK(r.states > 100); /* it did look */                                                                       \
    } while (0)

constexpr Plan one_thief{1, 3};
constexpr Plan two_thieves{2, 1};
constexpr Plan big_bites{2, 1, 2, {3, 4, 1}, 0, 2, 3};
constexpr Plan published_late{2, 1, 2, {4, 3, 1}, 1, 2, 1};
constexpr Plan three_regions{1, 2, 3, {2, 1, 3}};
constexpr Plan three_thieves{3, 1, 1, {2, 1, 1}};
constexpr Plan at_most_one{2, 1, 2, {3, 2, 1}, 0, 1, 1, false, false, false, false, 1};
constexpr Plan one_of_three{3, 1, 1, {2, 1, 1}, 0, 1, 1, false, false, false, false, 1};
constexpr Plan no_limit{2, 1, 1, {3, 1, 1}, 0, 1, 1, false, false, false, true, 1};
constexpr Plan no_wait{1, 1, 1, {2, 1, 1}, 0, 1, 1, false, false, true};
constexpr Plan no_clamp{1, 1, 2, {4, 2, 1}, 0, 2, 3, true, true};
constexpr Plan wrapped{1, 1, 2, {4, 2, 1}, 0, 2, 3, true};
constexpr Plan wrapped_two_thieves{2, 1, 2, {4, 2, 1}, 0, 2, 3, true};
constexpr Plan both(Plan plan)
{
    plan.two_ends = true;
    return plan;
}
constexpr Plan both_one_thief = both(one_thief), both_two_thieves = both(two_thieves), both_big_bites = both(big_bites),
               both_late = both(published_late), both_three_thieves = both(three_thieves), both_wrapped = both(wrapped),
               both_wrapped_two_thieves = both(wrapped_two_thieves), both_no_wait = both(no_wait);

} // namespace

TEST_CASE("layout that the interleaving tests rely on", "[descriptor][interleaving]")
{
    alignas(ws::loop::Descriptor) uint64_t words[sizeof(ws::loop::Descriptor) / 8] = {};
    auto& d = *reinterpret_cast<ws::loop::Descriptor*>(words);
    d.init();
    CHECK(words[0] == ws::loop::Descriptor::next_mask);
    d.publish(3, {5, 7, 9});
    CHECK(words[0] == (ws::loop::Descriptor::generation_one | 3));
    CHECK(words[8] == (uint64_t(ws::loop::Descriptor::max_joiners) << ws::loop::Descriptor::next_bits | 5));
}

TEST_CASE("every unit runs exactly once under every interleaving", "[descriptor][interleaving]")
{
    SECTION("one thief that tries three times") { REQUIRE_RIGHT(Scheduled, one_thief); }
    SECTION("two thieves") { REQUIRE_RIGHT(Scheduled, two_thieves); }
    SECTION("chunks larger than what is left") { REQUIRE_RIGHT(Scheduled, big_bites); }
    SECTION("published in the middle of the loop") { REQUIRE_RIGHT(Scheduled, published_late); }
    SECTION("three regions") { REQUIRE_RIGHT(Scheduled, three_regions); }
    SECTION("three thieves, one region") { REQUIRE_RIGHT(Scheduled, three_thieves); }
}

TEST_CASE("every unit of a region with two ends runs exactly once under every interleaving",
          "[descriptor][interleaving]")
{
    SECTION("one thief that tries three times") { REQUIRE_RIGHT(Scheduled, both_one_thief); }
    SECTION("two thieves") { REQUIRE_RIGHT(Scheduled, both_two_thieves); }
    SECTION("chunks larger than what is left") { REQUIRE_RIGHT(Scheduled, both_big_bites); }
    SECTION("published in the middle of the loop") { REQUIRE_RIGHT(Scheduled, both_late); }
    SECTION("three thieves, one region") { REQUIRE_RIGHT(Scheduled, both_three_thieves); }
    SECTION("after a wrap of the generation, one thief") { REQUIRE_RIGHT(Scheduled, both_wrapped); }
    SECTION("after a wrap of the generation, two thieves") { REQUIRE_RIGHT(Scheduled, both_wrapped_two_thieves); }
}

TEST_CASE("no more join than may, under every interleaving", "[descriptor][interleaving]")
{
    SECTION("one of two, two regions") { REQUIRE_RIGHT(Scheduled, at_most_one); }
    SECTION("one of three") { REQUIRE_RIGHT(Scheduled, one_of_three); }
}

TEST_CASE("after a wrap of the generation a stale claim is cut, nothing is lost", "[descriptor][interleaving]")
{
    SECTION("one thief") { REQUIRE_RIGHT(Scheduled, wrapped); }
    SECTION("two thieves") { REQUIRE_RIGHT(Scheduled, wrapped_two_thieves); }
}

// The checker must see each of these.
TEST_CASE("a broken protocol is reported", "[descriptor][interleaving][broken]")
{
    SECTION("a claim that compares and stores in two steps")
    {
        CHECK(Explorer::run<Protocol<explore::TornCas, two_thieves>>().violation != "");
        CHECK(Explorer::run<Protocol<explore::TornCas, both_two_thieves>>().violation != "");
    }
    SECTION("a guest that leaves by load and store")
    {
        CHECK(Explorer::run<Protocol<explore::TornLeave, two_thieves>>().violation != "");
    }
    SECTION("an owner that does not wait for its guests")
    {
        CHECK(Explorer::run<Protocol<Scheduled, no_wait>>().violation != "");
        CHECK(Explorer::run<Protocol<Scheduled, both_no_wait>>().violation != "");
    }
    SECTION("a region without its limit")
    {
        CHECK(Explorer::run<Protocol<Scheduled, no_limit>>().violation == "one guest too many joined");
    }
    SECTION("a guest that does not cut a claim of another generation")
    {
        CHECK(Explorer::run<Protocol<Scheduled, no_clamp>>().violation != "");
    }
}
