// SPDX-License-Identifier: MIT
//
// Which of a loop's iterations its owner and its guests get, and how many at a time. As guest_test.cpp.
#include "node.h"

#include "loop/open_region.h"

#include <algorithm>
#include <chrono>

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;

TEST_CASE("the costly end first: a region is handed out from the half that costs more, where its order is free",
          "[lend]")
{
    Wanted node;
    for (const bool free : {true, false}) {
        static std::vector<long> order;
        order.clear();
        ws_site site = {"tilted", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | (free ? WS_SITE_ANY_ORDER : 0), {}};
        ws::loop::row_of(&site);
        ws::loop::remember_cost(ws::loop::learned(&site), 1e6);
        ws::loop::remember_tilt(&site, 3);
        const auto body = [](void*) {
            long lo, hi;
            while (ws_loop_next(&lo, &hi))
                for (long i = lo; i < hi; i++)
                    order.push_back(i);
        };
        node[0].window.mine().hunger.hungry = long_hungry;
        ws_parallel_loop(body, nullptr, 0, 100, 1, &site, 0, 0);
        REQUIRE(order.size() == 100);
        CHECK((order.front() > 50) == free);
        CHECK((order.back() < 50) == free);
    }
}

TEST_CASE("each in one piece: where iterations cost the same the owner begins at the begin and guests at the end",
          "[lend]")
{
    static Wanted* now;
    static std::vector<long> of_owner, of_guest;
    static std::vector<std::thread> guests;
    Wanted node;
    now = &node;
    for (const bool even : {true, false}) {
        of_owner.clear();
        of_guest.clear();
        ws_site site = {"even", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | (even ? WS_SITE_ANY_ORDER : 0), {}};
        ws::loop::row_of(&site);
        ws::loop::remember_cost(ws::loop::learned(&site), 1e6);
        ws::loop::remember_tilt(&site, 1);
        const auto body = [](void* owner) {
            long lo, hi;
            while (ws_loop_next(&lo, &hi)) {
                if (&ws::loop::self == owner && guests.empty() && now->published())
                    guests.push_back(
                        thief(*now, 1, [](const Lease& lease) { ws::loop::run_as_guest(lease, &never, 0); }));
                for (long i = lo; i < hi; i++)
                    (&ws::loop::self == owner ? of_owner : of_guest).push_back(i);
                sleep_us(unsigned(hi - lo) * 200);
            }
        };
        node[0].window.mine().hunger.hungry = long_hungry;
        ws_parallel_loop(body, &ws::loop::self, 0, 200, 1, &site, 0, 0);
        REQUIRE(guests.size() == 1);
        guests[0].join();
        guests.clear();
        REQUIRE_FALSE(of_guest.empty());
        REQUIRE(of_owner.size() + of_guest.size() == 200);
        std::vector<long> all = of_owner;
        std::sort(of_guest.begin(), of_guest.end());
        all.insert(all.end(), of_guest.begin(), of_guest.end());
        CHECK(std::is_sorted(all.begin(), all.end()) == even);
        if (even)
            CHECK(of_guest.back() == 199);
    }
}

namespace {

// What iterations of a region truly took whom, upper bounds of what the runtime measures: a busy machine stretches
// sleeps.
struct Took {
    using Clock = std::chrono::steady_clock;
    double us = 0;
    long iterations = 0, last = -1;
    Clock::time_point due; // by when the iterations so far end; makes up for sleeps that were too long
    void run(long i, unsigned cost_us)
    {
        std::this_thread::sleep_until(due += std::chrono::microseconds(cost_us));
        iterations++;
        last = std::max(last, i);
    }
    double each() const { return us / double(iterations); }
};

} // namespace

TEST_CASE("each in one piece: guests on a quicker core do not make a loop uneven, much dearer iterations do", "[lend]")
{
    static Wanted* now;
    static std::vector<std::thread> guests;
    static unsigned (*cost_us)(long i, bool owner);
    static Took owners, guests_took;
    const auto body = [](void* owner) {
        const bool owns = &ws::loop::self == owner;
        Took& took = owns ? owners : guests_took;
        const auto begun = took.due = Took::Clock::now();
        long lo, hi;
        while (ws_loop_next(&lo, &hi)) {
            if (owns && guests.empty() && now->published())
                guests.push_back(
                    thief(*now, 1, [](const Lease& lease) { ws::loop::run_as_guest(lease, &never, 0); }));
            for (long i = lo; i < hi; i++)
                took.run(i, cost_us(i, owns));
        }
        took.us = std::chrono::duration<double, std::micro>(Took::Clock::now() - begun).count();
    };
    for (const bool quick : {true, false}) {
        cost_us = quick ? [](long, bool owner) { return owner ? 1000u : 500u; }
                        : [](long i, bool) { return i < 20 ? 500u : 4000u; };
        Wanted node;
        now = &node;
        ws_site* site = nullptr;
        std::vector<std::unique_ptr<ws_site>> sites;
        int regions = 0;
        for (int tries = 0; tries < 200 && regions < 6; tries++) {
            if (!site) { // knows what this many even regions tell
                sites.push_back(std::make_unique<ws_site>(
                    ws_site{"even", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}}));
                site = sites.back().get();
                ws::loop::row_of(site);
                ws::loop::remember_cost(ws::loop::learned(site), 1e6);
                for (int i = 0; i <= regions; i++)
                    ws::loop::remember_tilt(site, 1);
            }
            owners = guests_took = {};
            node[0].window.mine().hunger.hungry = long_hungry;
            ws_parallel_loop(body, &ws::loop::self, 0, 40, 1, site, 0, 0);
            REQUIRE(guests.size() == 1);
            guests[0].join();
            guests.clear();
            // Each on its own half, and what that took would be uneven were it the same core: else once more, with
            // another site, as this one has learned what the machine did.
            if (quick && !(owners.last < 20 && owners.each() < 1200 && guests_took.each() < 600)) {
                site = nullptr;
                continue;
            }
            regions++;
            if (quick)
                CHECK(ws::loop::has_even_ends(ws::loop::learned(site)));
        }
        REQUIRE(regions == 6);
        CHECK(ws::loop::has_even_ends(ws::loop::learned(site)) == quick);
    }
}

TEST_CASE("chunks by time: chunks grow until they take the set time, and leave half of an equal share", "[lend]")
{
    TestNode node(2);
    node.start_owner(0);
    static std::vector<long> sizes;
    sizes.clear();
    ws_site site = {"chunks", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
    const auto body = [](void*) {
        long lo, hi;
        while (ws_loop_next(&lo, &hi))
            sizes.push_back(hi - lo); // takes next to no time
    };
    ws_parallel_loop(body, nullptr, 0, 100000, 1, &site, 0, 0);
    CHECK(sizes.front() == 1);
    CHECK(*std::max_element(sizes.begin(), sizes.end()) > 1000);
    long left = 100000;
    for (long size : sizes) {
        CHECK((size == 1 || size <= left / 2));
        left -= size;
    }
}

TEST_CASE("the costly end first: not under schedule(static), which is cut by time, and each thread's iterations rise",
          "[lend]")
{
    struct Taken {
        std::vector<long> begins, sizes;
        void take(long lo, long hi)
        {
            begins.push_back(lo);
            sizes.push_back(hi - lo);
        }
        bool rises() const { return std::is_sorted(begins.begin(), begins.end()); }
        long longest() const { return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end()); }
    };
    static Wanted* now;
    static Taken of_owner, of_guest;
    static volatile Flag guest_came;
    static std::vector<std::thread> guests;
    Wanted node;
    now = &node;
    node[0].host.schedule = {WS_STATIC, 0};
    for (const ws_schedule written : {WS_STATIC, WS_RUNTIME}) {
        of_owner = of_guest = {};
        guest_came = 0;
        ws_site site = {"static", WS_SITE_KINDS(written, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
        ws::loop::row_of(&site);
        ws::loop::remember_cost(ws::loop::learned(&site), 1e6);
        ws::loop::remember_tilt(&site, 3); // its second half costs more: a free order would begin there
        const auto body = [](void* owner) {
            for (long lo, hi; ws_loop_next(&lo, &hi);) {
                if (&ws::loop::self != owner) {
                    of_guest.take(lo, hi);
                    Hardware::store_release(guest_came, 1); // pairs with the owner's load below
                    continue;
                }
                of_owner.take(lo, hi);
                if (guests.empty() && now->published())
                    guests.push_back(
                        thief(*now, 1, [](const Lease& lease) { ws::loop::run_as_guest(lease, &never, 0); }));
                if (!guests.empty())
                    comes_true([] { return Hardware::load_acquire(guest_came) != 0; });
            }
        };
        node[0].window.mine().hunger.hungry = long_hungry;
        ws_parallel_loop(body, &ws::loop::self, 0, 100, 1, &site, 0, 0);
        REQUIRE(guests.size() == 1);
        guests[0].join();
        guests.clear();
        REQUIRE(guest_came);
        CHECK(of_owner.rises());
        CHECK(of_guest.rises());
        CHECK(std::max(of_owner.longest(), of_guest.longest()) <= 25); // shares of two ranks would be 50
    }
}

TEST_CASE("chunks by time: until somebody comes they are longer where guests did little, but no large part", "[lend]")
{
    constexpr long n = 100000;
    constexpr double cost = 100; // ticks
    static std::vector<long> sizes;
    TestNode node(2);
    node.start_owner(0);
    ws::loop::LoopHost& host = node[0].host;
    host.chunk_ticks = uint64_t(1000 * cost);
    host.publish_ticks[long_hungry] = 1;
    host.publish_ticks[newly_hungry] = ~uint64_t(0); // not published unasked
    ws_site site = {"few chunks", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
    const auto first_chunk = [&](double helped, long iterations) {
        ws::loop::poke(ws::loop::learned(&site).unit_ticks, cost);
        ws::loop::poke(ws::loop::record_of(&site)->helped, helped);
        sizes.clear();
        const auto body = [](void*) {
            for (long lo, hi; ws_loop_next(&lo, &hi);)
                sizes.push_back(hi - lo);
        };
        ws_parallel_loop(body, nullptr, 0, iterations, 1, &site, 0, 0);
        return sizes.front();
    };
    CHECK(first_chunk(0.01, n) == 4000 / 64 * 64); // ends at a multiple of 64, as any long chunk
    CHECK(first_chunk(0.01, n / 4) == n / 4 / 16 / 64 * 64);
    CHECK(first_chunk(0.06, n) == 1);
    site.kinds = WS_SITE_KINDS(WS_DYNAMIC, WS_AUTO);
    CHECK(first_chunk(0.01, n) == 1); // what the user wanted
    node.stop();
}
