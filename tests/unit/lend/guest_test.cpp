// SPDX-License-Identifier: MIT
//
// Guests at work: ranks that wait are threads, and lend their cores to guests that other ranks' loops have, all in one
// process. A case is named after the rule of docs/internals/protocol.md that it is about.
#include "node.h"

#include "lend/guest.h"
#include "loop/open_region.h"

#include <algorithm>

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;

namespace {

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
                    chunks[g] = ws::loop::run_as_guest(lease, &recall[g], way_home[g]).chunks;
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
    CHECK(node[0].host.board->process.executions_plain == 1);
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
