// SPDX-License-Identifier: MIT
//
// Guests at work: ranks that wait are threads, and lend their cores to guests that other ranks' loops have, all in one
// process. A case is named after the rule of docs/protocol.md that it is about.
#include "node.h"

#include "lend/guest.h"
#include "loop/open_region.h"

#include <algorithm>
#include <chrono>

using namespace ws::lend;
using namespace ws::window;

namespace {

constexpr uint64_t for_ever = ~uint64_t(0) / 2;
void sleep_us(unsigned us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

bool is_guest(const std::thread::id& owner) { return std::this_thread::get_id() != owner; }

} // namespace

TEST_CASE("exactly once: guests of seven ranks and the owner run each iteration once, on the owner's memory", "[lend]")
{
    TestNode node(8);
    node.start_owner(0);
    std::vector<std::unique_ptr<TestNode::Waiter>> waiters;
    for (unsigned r = 1; r < 8; r++)
        waiters.push_back(std::make_unique<TestNode::Waiter>(node, r));
    volatile Flag strangers = 0, helped = 0;
    const auto owner = std::this_thread::get_id();
    Loop loop(2000, [&](long) {
        if (&ws::loop::host() != &node[0].host)
            Hardware::fetch_add_full(strangers, 1);
        if (is_guest(owner))
            Hardware::fetch_add_full(helped, 1);
        sleep_us(50);
    });
    for (int tries = 0; tries < 50 && helped == 0; tries++)
        loop.run();
    loop.run();
    CHECK(strangers == 0); // every guest is a thread of rank 0's
    CHECK(helped > 0);
    waiters.clear();
    node.stop();
    uint64_t lends = 0, visits = 0, iterations = 0;
    for (unsigned r = 1; r < 8; r++) {
        lends += node[r].counters().lends;
        visits += node[0].visits(r).visits;
        iterations += node[0].visits(r).iterations;
        CHECK(node.home(r).state == core_kept);
    }
    CHECK(lends > 0);
    CHECK(visits >= lends);
    CHECK(iterations == helped);
}

TEST_CASE("exactly once: two ranks have loops open at once, and each has its own guests", "[lend]")
{
    TestNode node(5);
    std::vector<std::unique_ptr<TestNode::Waiter>> waiters;
    for (unsigned r = 2; r < 5; r++)
        waiters.push_back(std::make_unique<TestNode::Waiter>(node, r));
    volatile Flag strangers = 0;
    const auto compute = [&](unsigned r) {
        Loop loop(300, [&](long) {
            if (&ws::loop::host() != &node[r].host)
                Hardware::fetch_add_full(strangers, 1);
            sleep_us(100);
        });
        for (int i = 0; i < 5; i++)
            loop.run();
    };
    node.make(0);
    node.make(1);
    std::thread other([&] {
        node[1].lending->start();
        ws::loop::set_owner_thread();
        compute(1);
    });
    node.start_owner(0);
    compute(0);
    other.join();
    waiters.clear();
    node.stop();
    node[1].lending->stop();
    node[1].lending->stop_guests();
    CHECK(strangers == 0);
}

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

TEST_CASE("closing: the owner waits for a guest that has claimed, and for nothing else", "[lend]")
{
    TestNode node(2);
    node.start_owner(0);
    node.home(1).occupancy = rank_blocked;
    node[0].window.mine().hunger.hungry = long_hungry;
    ws::loop::Descriptor& d = node[0].window.mine().loops[0];
    bool joined = false;
    volatile Flag left = 0;
    std::thread guest;
    Loop loop(50, [&](long i) {
        if (i > 0 && !joined && node[0].window.open(0)) {
            Lease lease = {}; // its thief claims all that is left, and it takes its time
            joined = d.claim_and_join([](uint64_t remaining, unsigned) { return remaining; }, lease.chunk) ==
                     ws::loop::Claim::taken;
            REQUIRE(joined);
            guest = std::thread([&node, &left, lease] {
                ws::loop::join(node[0].host);
                sleep_us(50000);
                static const volatile Flag never = 0;
                Hardware::store_full(left, 1);
                ws::loop::run_as_guest(lease, &never, 0);
            });
        }
        sleep_us(200);
    });
    loop.run();
    CHECK(joined);
    CHECK(left == 1);
    CHECK(d.joiners() == 0);
    guest.join();
}

TEST_CASE("MPI from guests: other threads are let into MPI before a region is published, until it is closed", "[lend]")
{
    static int inside, most, calls;
    inside = most = calls = 0;
    TestNode node(2);
    static TestNode* now;
    now = &node;
    node[0].host.let_threads_in = [](int several) {
        calls++;
        inside += several ? 1 : -1;
        CHECK((several == 0 || (*now)[0].window.open(0) == 0)); // before guests can come
        most = std::max(most, inside);
    };
    node.start_owner(0);
    node.home(1).occupancy = rank_blocked;
    Loop loop(100, [&](long) {
        CHECK(inside == int(node[0].window.open(0)));
        sleep_us(50);
    });
    loop.run();
    CHECK(calls == 0); // not published
    node[0].window.mine().hunger.hungry = long_hungry;
    loop.run();
    CHECK(most == 1);
    CHECK(inside == 0);
}

TEST_CASE("guests on demand: those that are wanted are made, some at a time, and no others", "[lend]")
{
    TestNode node(8);
    Rank& rank = node.start(0);
    for (unsigned c = 1; c < 7; c++)
        node.guest(0, c).state = guest_wanted;
    const auto made = [&] {
        unsigned n = 0;
        for (unsigned c = 0; c < 8; c++)
            n += node.guest(0, c).state == guest_starting || node.guest(0, c).state == guest_ready;
        return n;
    };
    rank.make_guests();
    CHECK(made() == 4);
    CHECK(node[0].window.mine().hunger.wanted == 1); // the rest with the next region
    rank.make_guests();
    CHECK(made() == 6);
    CHECK(node.guest(0, 7).state == guest_none);
    CHECK(comes_true([&] {
        for (unsigned c = 1; c < 7; c++)
            if (node.guest(0, c).state != guest_ready)
                return false;
        return true;
    }));
}

TEST_CASE("guests on demand: where the system gives no thread the slot says so, and the victim is left alone", "[lend]")
{
    TestNode node(2);
    node.options.stack_bytes = size_t(1) << 60;
    Rank& rank = node.start(0);
    node.guest(0, 1).state = guest_wanted;
    rank.make_guests();
    CHECK(node.guest(0, 1).state == guest_refused);
    CHECK(node[0].host.board->process.guests_refused == 1);
    rank.make_guests();
    CHECK(node[0].host.board->process.guests_refused == 1); // not tried again
}

TEST_CASE("recall: a guest leaves after its chunk when it is asked to", "[lend]")
{
    TestNode node(2);
    node.start_owner(0);
    node.home(1).occupancy = rank_blocked;
    node[0].window.mine().hunger.hungry = long_hungry;
    ws::loop::Descriptor& d = node[0].window.mine().loops[0];
    uint64_t chunks[2] = {};
    uint64_t way_home[2] = {0, for_ever};
    volatile Flag recall[2] = {1, 0};
    bool begun = false;
    std::vector<std::thread> guests;
    Loop loop(400, [&](long i) {
        if (i > 0 && !begun && node[0].window.open(0)) {
            begun = true;
            for (unsigned g = 0; g < 2; g++) {
                Lease lease = {};
                REQUIRE(d.claim_and_join([](uint64_t, unsigned) { return 1; }, lease.chunk) == ws::loop::Claim::taken);
                guests.emplace_back([&, g, lease] {
                    ws::loop::join(node[0].host);
                    chunks[g] = ws::loop::run_as_guest(lease, &recall[g], way_home[g]);
                });
            }
        }
        sleep_us(200);
    });
    loop.run();
    for (std::thread& g : guests)
        g.join();
    REQUIRE(begun);
    CHECK(chunks[0] == 1); // recalled
    CHECK(chunks[1] == 1); // return: what is left takes less than its thief's way home
}

namespace {
// An owner's loop, and a guest that stays for its next region.
struct Staying {
    Staying()
    {
        node.start_owner(0);
        node[0].lending->times.linger_ticks = for_ever;
    }
    // Runs the loop until a guest helps once more.
    bool is_helped()
    {
        const Flag before = helped;
        for (int tries = 0; tries < 100 && helped == before; tries++)
            loop.run();
        return helped > before;
    }
    TestNode node{2};
    const std::thread::id owner = std::this_thread::get_id();
    volatile Flag helped = 0;
    Loop loop{300, [this](long) {
        if (is_guest(owner))
            Hardware::fetch_add_full(helped, 1);
        sleep_us(100);
    }};
};
} // namespace

TEST_CASE("return: a guest stays for its owner's next region, without another hand-over, and leaves when recalled",
          "[lend]")
{
    Staying s;
    TestNode& node = s.node;
    TestNode::Waiter waiter(node, 1);
    REQUIRE(s.is_helped());
    CHECK(s.is_helped());
    CHECK(node.home(1).state == core_lent);
    CHECK(node[1].counters().lends == 1);
    waiter.end(); // recalls it, and has its core back
    CHECK(node.home(1).state == core_kept);
    CHECK(node[0].visits(1).visits >= 2);
}

TEST_CASE("chains: a region to which a guest has stayed is one of a chain, that to which it came is none", "[lend]")
{
    Staying s;
    TestNode& node = s.node;
    const ws::loop::Region& region = node[0].host.slots->regions[0];
    TestNode::Waiter waiter(node, 1);
    REQUIRE(s.is_helped());
    CHECK(region.stayed == 0);
    REQUIRE(s.is_helped());
    CHECK(region.stayed == 1);
    waiter.end();
}

TEST_CASE("return: a guest does not linger for an owner that is blocked itself", "[lend]")
{
    TestNode node(2);
    node.start_owner(0);
    node[0].lending->times.linger_ticks = for_ever;
    const auto owner = std::this_thread::get_id();
    volatile Flag helped = 0;
    Loop loop(300, [&](long) {
        if (is_guest(owner))
            Hardware::fetch_add_full(helped, 1);
        sleep_us(100);
    });
    TestNode::Waiter waiter(node, 1);
    for (int tries = 0; tries < 100 && helped == 0; tries++)
        loop.run();
    REQUIRE(helped > 0);
    node.home(0).occupancy = rank_blocked;
    CHECK(comes_true([&] { return Hardware::load_acquire(node.home(1).state) != core_lent; }));
    node.home(0).occupancy = rank_computing;
}

TEST_CASE("a guest that waits in MPI: it gives the core back, gets no chunk, and its visit ends with the chunk",
          "[lend]")
{
    TestNode node(2);
    node.start_owner(0);
    const auto owner = std::this_thread::get_id();
    volatile Flag waited = 0, kept = 0, away = 0, again = 0;
    std::thread::id guest;
    Loop loop(300, [&](long) {
        if (is_guest(owner)) {
            if (Hardware::fetch_add_full(waited, 1) == 0) {
                guest = std::this_thread::get_id();
                for (unsigned polls = 0; polls < 300; polls++)
                    node[0].lending->blocked(polls); // MPICH's hook: the guest waits in MPI
                kept = node.home(1).state != core_lent || node.home(1).tenant != 0;
                away = node.guest(0, 1).state == guest_away;
                sleep_us(20000); // in which its thief looks for work
                again = node[1].counters().lends;
            }
        }
        sleep_us(100);
    });
    TestNode::Waiter waiter(node, 1);
    for (int tries = 0; tries < 100 && waited == 0; tries++)
        loop.run();
    REQUIRE(waited > 0);
    CHECK(kept == 1);
    CHECK(away == 1);
    CHECK(again == 1); // the one lend that brought it
    CHECK(comes_true([&] { return Hardware::load_acquire(node.guest(0, 1).state) == guest_ready; }));
    const Flag before = waited;
    for (int tries = 0; tries < 100 && waited == before; tries++)
        loop.run();
    CHECK(waited > before); // it helps again
}

TEST_CASE("slots: eight threads of a rank can have loops open at once, and the ninth runs its own plain", "[lend]")
{
    TestNode node(2);
    node[0].host.any_thread = true;
    node.make(0);
    constexpr unsigned threads = max_slots + 1;
    volatile Flag inside = 0;
    std::vector<std::thread> all;
    volatile Flag owning = 0;
    for (unsigned t = 0; t < threads; t++)
        all.emplace_back([&] {
            ws::loop::join(node[0].host);
            Loop loop(2, [&](long i) {
                if (i > 0)
                    return;
                if (ws::loop::self.owner)
                    Hardware::fetch_add_full(owning, 1);
                Hardware::fetch_add_full(inside, 1);
                while (Hardware::load_acquire(inside) < threads) // all are in their loops at once
                    sched_yield();
            });
            loop.run();
        });
    for (std::thread& t : all)
        t.join();
    CHECK(owning == max_slots);
    CHECK(node[0].host.board->process.runs_plain == 1);
    CHECK(node[0].slots.taken == 0); // given back by threads that ended
}

TEST_CASE("the end: nothing is published any more, and what other threads have published is waited for", "[lend]")
{
    TestNode node(2);
    node[0].host.any_thread = true;
    node.start_owner(0);
    node.home(1).occupancy = rank_blocked;
    volatile Flag published = 0, go_on = 0, over = 0;
    std::thread other([&] {
        ws::loop::join(node[0].host);
        Loop loop(100, [&](long i) {
            node[0].window.mine().hunger.hungry = long_hungry;
            if (node[0].window.open(0)) {
                Hardware::store_full(published, 1);
                while (!Hardware::load_acquire(go_on))
                    sched_yield();
            }
            (void) i;
        });
        loop.run();
        Hardware::store_full(over, 1);
    });
    CHECK(comes_true([&] { return Hardware::load_acquire(published) == 1; }));
    std::thread releases([&] {
        sleep_us(20000);
        Hardware::store_full(go_on, 1);
    });
    ws::loop::stop_sharing();
    CHECK(go_on == 1);
    CHECK(node[0].window.open(0) == 0);
    other.join();
    releases.join();
    CHECK(over == 1);
    Loop loop(100, [&](long) { CHECK(node[0].window.open(0) == 0); });
    loop.run();
    ws::loop::self = ws::loop::participant_of(node[0].host);
}

namespace {

// A thread that waits in no MPI: it joins rank 0's region, if that is open, claims `units` and then runs `visit`.
std::thread thief(TestNode& node, uint64_t units, std::function<void(const Lease&)> visit)
{
    Lease lease = {};
    const bool taken = node[0].window.mine().loops[0].claim_and_join([=](uint64_t, unsigned) { return units; },
                                                                     lease.chunk) == ws::loop::Claim::taken;
    return std::thread([&node, visit, lease, taken] {
        ws::loop::join(node[0].host);
        if (taken)
            visit(lease);
    });
}

// Rank 0 owns loops, and somebody waits.
struct Wanted : TestNode {
    Wanted() : TestNode(2)
    {
        start_owner(0);
        home(1).occupancy = rank_blocked;
        (*this)[0].window.mine().hunger.hungry = long_hungry;
    }
    bool published() { return (*this)[0].window.open(0); }
};
const volatile Flag never = 0;

} // namespace

TEST_CASE("lastprivate: the last iteration's holder leaves its loop when every guest has made its copies", "[lend]")
{
    static Wanted* now;
    static bool begun, last;
    static volatile Flag copied, copied_at_last;
    static std::thread guest;
    static ws_site site = {"lastprivate", WS_SITE_KINDS(WS_AUTO, WS_AUTO), {}};
    Wanted node;
    now = &node;
    begun = last = copied = copied_at_last = false;
    const auto body = [](void* owner) {
        const bool is_owner = ws::loop::self.owner && &ws::loop::self == owner;
        if (!is_owner) {
            sleep_us(30000); // firstprivate: copies
            Hardware::store_full(copied, 1);
        }
        long lo, hi;
        bool has_last = false;
        while (ws_loop_next(&lo, &hi)) {
            if (is_owner && !begun && now->published()) {
                begun = true;
                guest = thief(*now, 1, [](const Lease& lease) { ws::loop::run_as_guest(lease, &never, 0); });
            }
            has_last |= hi == 50;
            sleep_us(unsigned(hi - lo) * 100);
        }
        if (is_owner && has_last) { // writes the variable
            last = true;
            copied_at_last = copied;
        }
    };
    for (int tries = 0; tries < 20 && !last; tries++) { // the guest may have had the last one
        begun = false;
        copied = 0;
        node[0].window.mine().hunger.hungry = long_hungry;
        ws_parallel_loop(body, &ws::loop::self, 0, 50, 1, &site, 0, 0);
        REQUIRE(begun);
        guest.join();
    }
    CHECK(last);
    CHECK(copied_at_last == 1);
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
    CHECK(row.whole_regions == 1);
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
    CHECK(row.timed_regions >= 1); // now and then it is measured, as in the other version
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
    CHECK(row.cut_regions == calm_enough);
    CHECK(row.timed_regions == 1);
    REQUIRE(runs_plainly(n));
    CHECK(row.timed_regions == 2); // each, so that one that has become long is not long without help
    CHECK_FALSE(runs_plainly(2 * n));
    *hungry = long_hungry; // before it begins: it is shared
    CHECK_FALSE(runs_plainly(n));
    *hungry = not_hungry;

    site.kinds |= WS_SITE_OUTLINED; // whole, too, but not in the plain version of its code
    const auto whole = row.whole_regions;
    CHECK_FALSE(runs_plainly(n));
    run_in_chunks(1);
    CHECK(row.whole_regions == whole + 1);
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

TEST_CASE("publish on demand: a short loop that is cut for somebody who takes none of it runs whole for a while", "[lend]")
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
    CHECK(ws::loop::row_of(&site).cut_regions == 16);
    CHECK(pause() == 64);
    CHECK(ws::loop::row_of(&site).runs_unpaid == 64);
    cut_in_vain(64); // runs whole, though somebody waits
    CHECK(ws::loop::row_of(&site).cut_regions == 16);
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

TEST_CASE("reductions: each participant merges once, one after the other", "[lend]")
{
    static Wanted* now;
    static bool begun;
    static volatile Flag merging, together, merges;
    static bool owner_locked;
    static std::vector<std::thread> guests;
    static ws_site site = {"reduction", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
    Wanted node;
    now = &node;
    begun = owner_locked = false;
    merging = together = merges = 0;
    const auto body = [](void* owner) {
        long lo, hi;
        while (ws_loop_next(&lo, &hi)) {
            if (&ws::loop::self == owner && !begun && now->published()) {
                begun = true;
                for (int g = 0; g < 3; g++)
                    guests.push_back(
                        thief(*now, 1, [](const Lease& lease) { ws::loop::run_as_guest(lease, &never, 0); }));
            }
            sleep_us(unsigned(hi - lo) * 100);
        }
        ws_reduction_start();
        if (&ws::loop::self == owner)
            owner_locked = ws::loop::self.merging;
        if (Hardware::fetch_add_full(merging, 1) != 0)
            Hardware::store_full(together, 1);
        Hardware::fetch_add_full(merges, 1);
        sleep_us(5000);
        Hardware::fetch_add_full(merging, Flag(-1));
        ws_reduction_end();
    };
    ws_parallel_loop(body, &ws::loop::self, 0, 50, 1, &site, 0, 0);
    REQUIRE(begun);
    for (std::thread& g : guests)
        g.join();
    guests.clear();
    CHECK(together == 0);
    CHECK(merges == 4);
    CHECK(owner_locked);
    node.home(1).occupancy = rank_computing; // nobody waits: no guests, no lock
    static ws_site other = {"another reduction", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
    ws_parallel_loop(body, &ws::loop::self, 0, 5, 1, &other, 0, 0);
    CHECK_FALSE(owner_locked);
}

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
            if (!site) { // knows what so many even regions tell
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
