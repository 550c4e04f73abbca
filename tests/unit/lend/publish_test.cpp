// SPDX-License-Identifier: MIT
//
// When an owner shares its loop: whether it is published, cut into chunks, or runs whole. As guest_test.cpp.
#include "node.h"

#include "loop/open_region.h"

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;

TEST_CASE("publish on demand: a loop that nobody waits for is not published", "[lend]")
{
    TestNode node(2);
    node.start_owner(0);
    Loop loop(100, [&](long) {
        CHECK(node[0].window.open(0) == 0);
        sleep_us(50);
    });
    loop.run();
    node[0].window.mine().hunger.hungry = long_hungry; // of a wait that is over
    node.home(1).occupancy = rank_computing;
    loop.run();
    CHECK(node[0].window.mine().hunger.hungry == not_hungry);
}

TEST_CASE("publish on demand: one that somebody waits for is, and closed at its end", "[lend]")
{
    TestNode node(2);
    node.start_owner(0);
    node.home(1).occupancy = rank_blocked;
    bool was_open = false;
    Loop loop(100, [&](long) {
        was_open |= node[0].window.open(0) == 1;
        sleep_us(50);
    });
    node[0].window.mine().hunger.hungry = long_hungry;
    loop.run();
    CHECK(was_open);
    CHECK(node[0].window.open(0) == 0);
    ws::loop::Chunk chunk;
    CHECK(node[0].window.mine().loops[0].claim_and_join([](uint64_t, unsigned) { return 1; }, chunk) ==
          ws::loop::Claim::closed);
}

TEST_CASE("exactly once: a loop whose descriptor another process has damaged has no more iterations than it had",
          "[lend]")
{
    TestNode node(2);
    node.start_owner(0);
    node.home(1).occupancy = rank_blocked;
    ws::loop::Descriptor& d = node[0].window.mine().loops[0];
    bool damaged = false;
    Loop loop(100, [&](long) {
        if (node[0].window.open(0) && !damaged) {
            damaged = true; // as many units as there can be, from here on
            d.publish(50, {ws::loop::Descriptor::max_units, ws::loop::Sizing{WS_DYNAMIC, 1000, 1}.pack(), 1});
        }
        sleep_us(50);
    });
    node[0].window.mine().hunger.hungry = long_hungry;
    CHECK_THROWS_AS(loop.run(), JobEnds);
    CHECK(damaged);
    // The thread has left the loop by an exception, which no program can.
    ws::loop::self = ws::loop::participant_of(node[0].host);
}

TEST_CASE("publish on demand: one that guests helped with much the last time is, before anybody asks", "[lend]")
{
    TestNode node(2);
    node.start_owner(0);
    ws::loop::Descriptor& d = node[0].window.mine().loops[0];
    long first_open = -1;
    bool take = true;
    uint64_t taken = 0;
    Loop loop(100, [&](long i) {
        if (node[0].window.open(0) && first_open < 0)
            first_open = i;
        ws::loop::Chunk chunk;
        if (take && taken == 0 && first_open >= 0 &&
            d.claim_and_join([](uint64_t remaining, unsigned) { return remaining; }, chunk) ==
                ws::loop::Claim::taken) {
            taken = chunk.size();
            for (uint64_t k = chunk.lo; k < chunk.hi; k++)
                loop.counts[k]++;
            fetch_add_relaxed(node[0].slots.regions[0].stolen, taken);
            d.leave();
        }
        sleep_us(50);
    });
    node.home(1).occupancy = rank_blocked;
    node[0].window.mine().hunger.hungry = long_hungry;
    loop.run();
    REQUIRE(taken > 5);
    take = false;
    node.home(1).occupancy = rank_computing; // nobody waits, nor asks
    node[0].window.mine().hunger.hungry = not_hungry;
    first_open = -1;
    loop.run();
    CHECK(first_open == 0);
    first_open = -1;
    loop.run(); // nobody came
    CHECK(first_open == -1);
}

TEST_CASE("publish on demand: the first long ones begin alone, though somebody waits", "[lend]")
{
    Wanted node;
    ws::loop::Region& region = node[0].slots.regions[0];
    static uint64_t began, opened;
    static ws::window::Window* window;
    window = &node[0].window;
    ws_site site = {"long ones", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
    const double us = node[0].host.ticks_per_us;
    const auto us_until_open = [&](double known_us) { // of one that is thought to take so long
        constexpr long n = 100;
        ws::loop::remember_tilt(&site, 1);
        ws::loop::poke(ws::loop::learned(&site).unit_ticks, known_us * us / n);
        node[0].window.mine().hunger.hungry = long_hungry;
        opened = 0;
        began = ticks();
        const auto body = [](void*) {
            for (long lo, hi; ws_loop_next(&lo, &hi);)
                for (long i = lo; i < hi; i++) {
                    if (!opened && window->open(0))
                        opened = ticks();
                    sleep_us(20);
                }
        };
        ws_parallel_loop(body, nullptr, 0, n, 1, &site, 0, 0);
        REQUIRE(opened != 0);
        return double(opened - began) / us;
    };
    ws::loop::record_of(&site);
    us_until_open(4000);
    CHECK(!region.was_alone); // at once
    for (int i = 0; i < 6; i++) {
        CHECK(us_until_open(16000) >= 500);
        CHECK(region.was_alone);
        CHECK(region.cost_before >= 20 * us);
    }
    us_until_open(16000);
    CHECK(!region.was_alone);
    node.stop();
}

TEST_CASE("publish on demand: a loop runs plainly where it stands while it is known to be short and nobody waits",
          "[lend]")
{
    constexpr long n = 50;
    TestNode node(2);
    node.start_owner(0);
    ws::loop::LoopHost& host = node[0].host;
    ws_site site = {"a loop in two versions", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
    const auto ask = [&](long iterations, double known = 10) { // what executions here took is not to count
        ws::loop::poke(ws::loop::learned(&site).unit_ticks, known);
        return ws_plain_begin(&site, 0, 0, static_cast<unsigned long>(iterations));
    };
    CHECK_FALSE(ask(n, 0)); // nothing is known of it
    const ws::observe::LoopRow& row = ws::loop::row_of(&site);
    host.short_ticks = 20 * n;
    host.publish_ticks[long_hungry] = 5 * n;
    REQUIRE(ask(n));
    CHECK(ws::loop::thread_in_region());
    CHECK_FALSE(ask(n)); // its body: no region of its own
    ws_plain_end(&site);
    CHECK_FALSE(ws::loop::thread_in_region());
    CHECK(row.whole_executions == 1);
    CHECK(row.whole_iterations == n);
    CHECK_FALSE(ask(2 * n)); // as long as others may help with
    node[0].window.mine().hunger.hungry = long_hungry;
    CHECK_FALSE(ask(n));
    REQUIRE(ask(n / 5)); // not worth a hand-over
    ws_plain_end(&site);
    node[0].window.mine().hunger.hungry = not_hungry;
    for (int i = 0; i < 2 * ws::loop::measure_every; i++) {
        REQUIRE(ask(n));
        ws_plain_end(&site);
    }
    CHECK(row.timed_executions >= 1); // now and then it is measured, as in the other version
    CHECK_FALSE(ws::loop::thread_in_region());
    node.stop();
}

TEST_CASE("publish on demand: a longer loop runs plainly, too, where nobody came in many executions", "[lend]")
{
    constexpr long n = 50;
    constexpr double cost = 30, all = n * cost; // ticks
    static volatile Flag* hungry;
    static bool comes;
    TestNode node(2);
    node.start_owner(0);
    ws::loop::LoopHost& host = node[0].host;
    hungry = &node[0].window.mine().hunger.hungry;
    host.short_ticks = uint64_t(all / 2);
    host.calm_ticks = uint64_t(all * 1.5);
    host.publish_ticks[long_hungry] = 1; // so whatever ends with a raised flag was wanted
    ws_site site = {"a longer loop", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
    const auto known = [&] { ws::loop::poke(ws::loop::learned(&site).unit_ticks, cost); }; // not what it took here
    const auto runs_plainly = [&](long iterations, bool somebody_comes = false) {
        known();
        if (!ws_plain_begin(&site, 0, 0, static_cast<unsigned long>(iterations)))
            return false;
        if (somebody_comes)
            *hungry = long_hungry;
        ws_plain_end(&site);
        *hungry = not_hungry;
        return true;
    };
    const auto run_in_chunks = [&](uint32_t times, bool somebody_comes = false) {
        comes = somebody_comes;
        for (uint32_t i = 0; i < times; i++) {
            known();
            const auto body = [](void*) {
                for (long lo, hi; ws_loop_next(&lo, &hi);)
                    if (comes && hi == n) // at its end: nothing is left to be published
                        *hungry = long_hungry;
            };
            ws_parallel_loop(body, nullptr, 0, n, 1, &site, 0, 0);
            *hungry = not_hungry;
        }
    };
    using ws::loop::calm_enough;
    run_in_chunks(calm_enough - 1);
    CHECK_FALSE(runs_plainly(n));
    run_in_chunks(1);
    REQUIRE(runs_plainly(n));
    const ws::observe::LoopRow& row = ws::loop::row_of(&site);
    CHECK(row.cut_executions == calm_enough);
    CHECK(row.timed_executions == 1);
    REQUIRE(runs_plainly(n));
    CHECK(row.timed_executions == 2); // each, so that one that has become long is not long without help
    CHECK_FALSE(runs_plainly(2 * n));
    *hungry = long_hungry; // before it begins: it is shared
    CHECK_FALSE(runs_plainly(n));
    *hungry = not_hungry;

    site.kinds |= WS_SITE_OUTLINED; // whole, too, but not in the plain version of its code
    const auto whole = row.whole_executions;
    CHECK_FALSE(runs_plainly(n));
    run_in_chunks(1);
    CHECK(row.whole_executions == whole + 1);
    site.kinds &= ~WS_SITE_OUTLINED;

    REQUIRE(runs_plainly(n, true));
    CHECK_FALSE(runs_plainly(n));
    run_in_chunks(calm_enough - 1);
    run_in_chunks(1, true);
    CHECK_FALSE(runs_plainly(n));
    run_in_chunks(calm_enough);
    CHECK(runs_plainly(n));
    node.stop();
}

TEST_CASE("publish on demand: a short loop that is cut for somebody who takes none of it runs whole for a while",
          "[lend]")
{
    constexpr long n = 50;
    static volatile Flag* hungry;
    TestNode node(2);
    node.start_owner(0);
    ws::loop::LoopHost& host = node[0].host;
    hungry = &node[0].window.mine().hunger.hungry;
    host.publish_ticks[long_hungry] = 1;
    host.short_ticks = ~uint64_t(0) / 16;
    ws_site site = {"cut in vain", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
    ws::loop::Learned& l = ws::loop::learned(&site);
    const auto cut_in_vain = [&](uint64_t times) { // nobody waits any more when it begins, and somebody at its end
        for (uint64_t i = 0; i < times; i++) {
            ws::loop::poke(l.unit_ticks, 30.0);
            *hungry = long_hungry;
            const auto body = [](void*) {
                for (long lo, hi; ws_loop_next(&lo, &hi);)
                    if (hi == n)
                        *hungry = long_hungry;
            };
            ws_parallel_loop(body, nullptr, 0, n, 1, &site, 0, 0);
            *hungry = not_hungry;
        }
    };
    const auto pause = [&] { return ws::loop::peek(l.unshared); };
    cut_in_vain(15);
    CHECK(pause() == 0);
    cut_in_vain(1);
    CHECK(ws::loop::row_of(&site).cut_executions == 16);
    CHECK(pause() == 64);
    CHECK(ws::loop::row_of(&site).executions_unpaid == 64);
    cut_in_vain(64); // runs whole, though somebody waits
    CHECK(ws::loop::row_of(&site).cut_executions == 16);
    CHECK(pause() == 0);
    cut_in_vain(8);
    CHECK(pause() == 128);
    ws::loop::poke(l.unshared, int64_t(0));
    ws::loop::remember_shared(&site, n, n / 2, 1000, {}, false); // helped
    cut_in_vain(15);
    CHECK(pause() == 0);
    host.short_ticks = 0; // a long one may be worth it the next time
    cut_in_vain(100);
    CHECK(pause() == 0);
    node.stop();
}

TEST_CASE("alone: compiled code may use plain operations while its region is not published, and no longer", "[lend]")
{
    static TestNode* now;
    static unsigned published, wrong;
    Wanted node;
    now = &node;
    published = wrong = 0;
    node[0].window.mine().hunger.hungry = not_hungry;
    Loop loop(100, [](long i) {
        if (i == 50)
            (*now)[0].window.mine().hunger.hungry = long_hungry;
        const bool open = (*now)[0].window.open(0);
        published += open;
        wrong += (ws_alone != 0) == open;
        sleep_us(50);
    });
    loop.run();
    CHECK(published > 0);
    CHECK(published < 100);
    CHECK(wrong == 0);
    CHECK(ws_alone == 0);
}
