// SPDX-License-Identifier: MIT
//
// A rank blocked in MPI, step by step: each call of a hook is one poll of MPI. Rank 1 waits; rank 0 computes, and does
// what is said of it here by hand. A case is named after the rule of docs/internals/protocol.md that it is about.
#include "node.h"

#include "loop/participant.h"
#include "base/times.h"

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;

namespace {

struct Two : TestNode {
    Two() : TestNode(2) {}
    Home& thief() { return home(1); }
    uint64_t left() { return (*this)[0].window.mine().loops[0].look().remaining; }
    unsigned knocks() { return guest(0, 1).knock; }
    LendTimes& times() { return (*this)[1].lending->times; }
};

struct Policy final : SpareTime {
    unsigned steps = 0;
    void step(uint64_t) override { steps++; }
};

} // namespace

TEST_CASE("spin, arm, poll, claim: a wait that may end soon does nothing", "[lend]")
{
    Two node;
    node.options.times.spin_ticks = for_ever;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    for (unsigned polls = 0; polls < 100; polls += 4)
        rank.blocked(polls);
    CHECK(node.thief().state == core_kept);
    CHECK(node.thief().occupancy == rank_computing);
    rank.unblocked();
    CHECK(node.left() == 10);
}

TEST_CASE("spin, arm, poll, claim: while it spins it looks after every eighth poll", "[lend]")
{
    Two node;
    node.options.times.spin_ticks = for_ever;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    rank.blocked(0);
    node.times().spin_ticks = 0; // over at once
    for (unsigned polls = 1; polls < 8; polls++)
        rank.blocked(polls);
    CHECK(node.thief().state == core_kept);
    rank.blocked(8);
    CHECK(node.thief().state == core_armed);
    rank.unblocked();
}

TEST_CASE("spin, arm, poll, claim: armed first, and MPI polls once more before a chunk is claimed", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    rank.blocked(0);
    CHECK(node.thief().occupancy == rank_blocked);
    CHECK(node.thief().state == core_armed);
    CHECK(node.left() == 10);
    CHECK(node.knocks() == 0);

    rank.blocked(1);
    CHECK(node.thief().state == core_lent);
    CHECK(node.thief().tenant == 0);
    CHECK(node.left() == 9);
    CHECK(node.knocks() == 1);
    CHECK(node.thief().lease.chunk.lo == 0);
    CHECK(node.thief().lease.chunk.hi == 1);
    CHECK(node[1].counters().lends == 1);
}

TEST_CASE("spin, arm, poll, claim: it arms only with a victim", "[lend]")
{
    Two node;
    node.options.times.yield_ticks = for_ever;
    Rank& rank = node.start(1);
    rank.blocked(0);
    CHECK(node.thief().state == core_kept);
    node.publish(0, 10, 0, {1});
    rank.blocked(4);
    CHECK(node.thief().state == core_armed);
    rank.unblocked();
    CHECK(node.thief().state == core_kept);
}

TEST_CASE("the doorbell: a rank that was rung since it armed does not lend", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    rank.blocked(0);
    Rank::ring(node.thief());
    rank.blocked(1);
    CHECK(node.thief().state == core_kept); // MPI polls
    CHECK(node.left() == 10);
    rank.blocked(4);
    CHECK(node.thief().state == core_armed); // once more
    CHECK(node.thief().recall == 0);
    rank.unblocked();
}

TEST_CASE("dry polls: who has armed goes on polling until a poll has handled nothing", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    rank.blocked(0);
    for (unsigned polls = 1; polls < 4; polls++) {
        node[1].events++; // the poll has handled something for somebody else
        rank.blocked(polls);
        CHECK(node.thief().state == core_armed);
        CHECK(node.left() == 10);
    }
    rank.blocked(4);
    CHECK(node.thief().state == core_lent);
}

TEST_CASE("the quantum: a lent rank looks at MPI again though nobody rings, and its guest keeps the core", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    for (unsigned polls = 0; polls < 20; polls++) // each call returns: the guest never does
        rank.blocked(polls);
    CHECK(node.thief().state == core_lent);
    CHECK(node.thief().recall == 0);
    CHECK(node.left() == 9);
    CHECK(node[1].counters().lends == 1);
}

TEST_CASE("the quantum: it doubles while nothing comes, up to a longest", "[lend]")
{
    Two node;
    node.options.times.quantum_us = 2000;
    node.options.times.longest_quantum_us = 8000;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    const auto took = [&](unsigned polls) {
        const double begin = seconds_now();
        rank.blocked(polls);
        return 1e6 * (seconds_now() - begin);
    };
    took(0);
    CHECK(took(1) >= 1900);
    CHECK(took(2) >= 3900);
    CHECK(took(3) >= 7900);
    double shortest = 1e9; // of several, as the machine may be busy
    for (unsigned i = 0; i < 20; i++)
        shortest = std::min(shortest, took(4 + i));
    CHECK(shortest >= 7900);
    CHECK(shortest < 15000);
}

TEST_CASE("recall: whose message has come goes on beside its guest, and waits for it in its next wait", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    rank.blocked(0);
    rank.blocked(1);
    REQUIRE(node.thief().state == core_lent);
    rank.unblocked(); // returns, though the guest is there
    CHECK(node.thief().recall == 1);
    CHECK(node.thief().state == core_lent);
    CHECK(node.thief().occupancy == rank_computing);

    rank.blocked(0); // with the core still lent: no other chunk
    rank.blocked(1);
    CHECK(node.left() == 9);
    CHECK(node.thief().occupancy == rank_blocked);
    node.give_back(1);
    rank.blocked(2);
    CHECK(node[1].counters().recalls == 1);
    rank.blocked(4);
    rank.blocked(5);
    CHECK(node.left() == 8); // free again for the next one
}

TEST_CASE("return: a rank whose core is back polls again, and the core is its own", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    rank.blocked(0);
    rank.blocked(1);
    CHECK(ws::arbiter::Word<>(node.thief().use).look().use == ws::arbiter::Use::guest);
    node.give_back(1);
    rank.blocked(2);
    CHECK(node.thief().state == core_kept);
    CHECK(node.thief().tenant == 1);
    CHECK(ws::arbiter::Word<>(node.thief().use).look().use == ws::arbiter::Use::home);
    CHECK(node.thief().return_ticks > 0); // measured
    CHECK(node[1].counters().recalls == 0);
}

TEST_CASE("return: what one usually takes follows the median, whatever delays some of them", "[lend]")
{
    constexpr uint64_t most = 30000;
    CHECK(HandOver::usual(0, 4000, most) == 4000);
    CHECK(HandOver::usual(0, 10000000, most) == most / 4); // the first is no measure
    CHECK(HandOver::usual(most, 4000, most) == 4000);
    CHECK(HandOver::usual(4000, 4001, most) == 4001);
    CHECK(HandOver::usual(4000, 3999, most) == 3999);
    uint64_t known = 4000;
    for (unsigned k = 0; k < 300; k++) // one in three is delayed
        known = HandOver::usual(known, k % 3 ? 4000 : 10000000, most);
    CHECK(known >= 4000);
    CHECK(known < 4600);
    for (unsigned k = 0; k < 100; k++) // caches have become cold
        known = HandOver::usual(known, 8000, most);
    CHECK(known == 8000);
    for (unsigned k = 0; k < 1000; k++) // and never so much that no return would be worth it any more
        known = HandOver::usual(known, 10000000, most);
    CHECK(known == most);
}

TEST_CASE("whom to help: work that wins little beside both ways is left alone, but for a try now and then",
          "[lend]")
{
    constexpr uint64_t most = 200000;
    HandOver hand_over;
    CHECK(hand_over.least() == 0); // not known yet
    CHECK(hand_over.part(1000, 1) == 500);
    hand_over.took(30000, 12000, most);
    CHECK(hand_over.least() == 54000);
    CHECK(hand_over.part(54000, 1) == 6000); // the owner computes alone there, and while the core goes back
    CHECK(hand_over.part(42000, 1) == 0);
    CHECK(hand_over.part(1000000, 3) == (1000000 - 3 * 42000) / 4);
    CHECK(hand_over.back() == 12000);
    for (unsigned k = 0; k < 16; k++) {
        CHECK(hand_over.least() == 54000);
        hand_over.refused();
    }
    CHECK(hand_over.least() == 24000); // is it cheaper by now?
    hand_over.begins();
    CHECK(hand_over.least() == 54000);
    hand_over.took(4000, 5000, most); // it is
    CHECK(hand_over.least() == 14000);
}

TEST_CASE("taken: a rank that blocks with sends open says for whom, until its wait is over", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    rank.blocked(0);
    CHECK(node.thief().awaits == awaits_nobody);
    CHECK(node.node().senders_waiting == 0);
    rank.unblocked();
    node[1].sends_open = 1;
    node[1].sends_to = 100;
    rank.blocked(0);
    CHECK(node.thief().awaits == 101);
    CHECK(node.node().senders_waiting == 1);
    rank.unblocked();
    CHECK(node.thief().awaits == awaits_nobody);
    CHECK(node.node().senders_waiting == 0);
    node[1].sends_to = -1;
    rank.blocked(0);
    CHECK(node.thief().awaits == awaits_several);
    rank.unblocked();
}

TEST_CASE("the idle ladder: polls on for a moment, then yields, then sleeps, by way of armed", "[lend]")
{
    Two node;
    node.options.times.patience_ticks = for_ever;
    node.options.times.yield_ticks = for_ever;
    Rank& rank = node.start(1);
    for (unsigned polls = 0; polls < 40; polls += 4)
        rank.blocked(polls);
    node.times().patience_ticks = 0;
    for (unsigned polls = 40; polls < 80; polls += 4)
        rank.blocked(polls);
    CHECK(node.thief().state == core_kept);
    CHECK(node[1].counters().naps == 0);
    node.times().yield_ticks = 0;
    rank.blocked(80);
    CHECK(node.thief().state == core_armed);
    CHECK(node[1].counters().naps == 0);
    rank.blocked(81);
    CHECK(node[1].counters().naps == 1);
    CHECK(node.thief().state == core_armed); // not woken: what arrives after the next poll rings
    CHECK(node.node().sleepers == 0);
    rank.unblocked();
    CHECK(node.thief().state == core_kept);
}

TEST_CASE("the idle ladder: who has just woken another rank does not yield, as that one may be on its CPU", "[lend]")
{
    Two node;
    node.options.times.patience_ticks = 0;
    node.options.times.yield_ticks = for_ever;
    Rank& rank = node.start(1);
    SECTION("nobody slept")
    {
        rank.posted_for(node.home(0));
        rank.let_woken_run();
        rank.blocked(0);
        rank.blocked(4);
        CHECK(node.thief().state == core_kept);
    }
    SECTION("it slept")
    {
        node.fall_asleep(0);
        node.home(0).occupancy = rank_blocked;
        rank.posted_for(node.home(0));
        std::thread woken([&] {
            usleep(1000);
            Hardware::store_relaxed(node.home(0).occupancy, rank_computing);
        });
        rank.let_woken_run();
        CHECK(Hardware::load_relaxed(node.home(0).occupancy) == rank_computing);
        woken.join();
        rank.blocked(0);
        rank.blocked(4);
        CHECK(node.thief().state == core_armed);
    }
    SECTION("it slept long ago, and collective calls since then need not look at the clock any more")
    {
        node.fall_asleep(0);
        rank.posted_for(node.home(0));
        node.times().yield_ticks = 0;
        rank.let_woken_run();
        node.times().yield_ticks = for_ever;
        rank.blocked(0);
        rank.blocked(4);
        CHECK(node.thief().state == core_kept);
    }
    rank.unblocked();
}

TEST_CASE("the idle ladder: it begins anew when MPI had something to handle", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    bool stays_awake = false;
    // The calls below, which yield, are to take less than the half; on a busy machine that is much.
    for (unsigned us = 5000; us < 6000000 && !stays_awake; us *= 2) {
        const uint64_t began = ticks();
        rank.blocked(0);
        usleep(us);
        node.times().yield_ticks = (ticks() - began) / 2; // passed since the wait began, but not since the event
        node[1].events++;
        const uint64_t before = node[1].counters().naps;
        for (unsigned polls = 1; polls < 10; polls++) // it looks at 4, at least
            rank.blocked(polls);
        stays_awake = node[1].counters().naps == before;
        rank.unblocked();
        node.times().yield_ticks = 0;
    }
    CHECK(stays_awake);
}

TEST_CASE("the idle ladder: who has just answered polls on first", "[lend]")
{
    Two node;
    node.options.times.patience_ticks = 0;
    node.options.times.yield_ticks = for_ever;
    Rank& rank = node.start(1);
    rank.blocked(0);
    node.times().yield_ticks = 0;
    node[1].events++;
    rank.blocked(4);
    CHECK(node.thief().state == core_kept);
    rank.blocked(8);
    CHECK(node.thief().state == core_armed);
    node[1].events++;
    rank.blocked(9); // armed, it looks at each poll
    CHECK(node[1].counters().naps == 0);
    rank.unblocked();
}

TEST_CASE("the idle ladder: who answers looks for work when 32 polls had nothing to handle", "[lend]")
{
    Two node;
    node.options.times.patience_ticks = node.options.times.yield_ticks = for_ever;
    Rank& rank = node.start(1);
    rank.blocked(0);
    node[1].events++;
    rank.blocked(4);
    node.publish(0, 10, 0, {1});
    for (unsigned polls = 5; polls < 64; polls++) {
        node[1].events += polls == 20;
        rank.blocked(polls);
    }
    CHECK(node.thief().state == core_kept);
    rank.blocked(64);
    CHECK(node.thief().state == core_armed);
    rank.unblocked();
}

TEST_CASE("the idle ladder: a rank whose core parallel regions came to sleeps, whatever its times say", "[lend]")
{
    Two node;
    node.options.times.yield_ticks = for_ever;
    Rank& rank = node.start(1);
    rank.blocked(0);
    REQUIRE(node.thief().state == core_kept);
    ws::arbiter::Word<>(node.thief().use).change(ws::arbiter::Use::home, ws::arbiter::Use::openmp);
    rank.blocked(4);
    CHECK(node.thief().state == core_armed);
    ws::arbiter::Word<>(node.thief().use).change(ws::arbiter::Use::openmp, ws::arbiter::Use::home);
    rank.blocked(5);
    CHECK(node[1].counters().naps == 1);
    rank.unblocked();
}

TEST_CASE("publish on demand: thieves raise the flag, higher the longer they wait", "[lend]")
{
    Two node;
    node.options.times.patience_ticks = node.options.times.yield_ticks = for_ever;
    Rank& rank = node.start(1);
    Hunger& owner = node[0].window.mine().hunger;
    rank.blocked(0);
    CHECK(owner.hungry == newly_hungry);
    node.times().patience_ticks = 0;
    rank.blocked(4);
    CHECK(owner.hungry == long_hungry);
    owner.hungry = not_hungry;
    node.times().yield_ticks = 0;
    rank.blocked(8);
    CHECK(owner.hungry == asleep_hungry);
    rank.unblocked();
}

TEST_CASE("whom to help: work that takes less than a hand-over is left alone", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    node.publish(0, 1, 0, {1});
    rank.blocked(0);
    rank.blocked(1);
    CHECK(node.left() == 0);
    const uint64_t most = uint64_t(times::return_us * node[1].host.ticks_per_us) / 4; // for the first one
    node.thief().came_ticks = ~Flag(0); // the way there took longer than it may count
    node.give_back(1);
    rank.blocked(2);
    rank.unblocked();
    node.publish(0, 1, most - 1, {1});
    rank.blocked(0);
    rank.blocked(1);
    CHECK(node.left() == 1);
    CHECK(node[1].counters().refused[unsigned(ws::observe::Refusal::too_little)] == 1);
    rank.unblocked();
    node.publish(0, 1, 3 * most, {1});
    rank.blocked(0);
    rank.blocked(1);
    CHECK(node.left() == 0);
}

TEST_CASE("whom to help: a region with too little work is not looked at again before it must be over", "[lend]")
{
    Two node;
    node[1].host.ticks_per_us = 1e6; // so that a hand-over takes milliseconds
    Rank& rank = node.start(1);
    node.publish(0, 1, 0, {1});
    rank.blocked(0);
    rank.blocked(1);
    node.thief().came_ticks = ~Flag(0);
    node.give_back(1);
    rank.blocked(2);
    rank.unblocked();
    const uint64_t first = uint64_t(times::return_us * 1e6) / 4; // what the way there counts for
    node.publish(0, 1, first, {1});
    rank.blocked(0);
    const uint64_t refused_at = ticks();
    const auto& counters = node[1].counters();
    CHECK(counters.refused[unsigned(ws::observe::Refusal::too_little)] == 1);
    node.publish(0, 1, 0, {1}); // now there is work, and it would be taken
    // Each clock reading is on the side of the poll where a pause of this process cannot spoil the check.
    unsigned polls = 1;
    for (uint64_t polled_at = refused_at; polled_at - refused_at < first / 2; polled_at = ticks()) {
        rank.blocked(polls++);
        if (ticks() - refused_at < first / 2)
            CHECK(node.left() == 1);
    }
    const unsigned due = polls;
    while (ticks() - refused_at < 2 * first || (node.left() == 1 && polls < 2 * due))
        rank.blocked(polls++);
    CHECK(node.left() == 0);
}

TEST_CASE("the idle ladder: a yield that came back at once is not followed by another one soon", "[lend]")
{
    ws::lend::Yields yields;
    CHECK(yields.are_due(0));
    yields.took(1000, 1500, 20000);
    CHECK_FALSE(yields.are_due(1500 + 8 * 500 - 1));
    CHECK(yields.are_due(1500 + 8 * 500));
    yields.took(10000, 30000, 20000); // others had the core meanwhile
    CHECK(yields.are_due(30000));
}

TEST_CASE("claim before wake: a guest's first chunk is no more than it can do before the owner is done", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    const ws::loop::Sizing by_time = {WS_AUTO, 1000, 1};
    node.publish(0, 800, 10, {1}, by_time);
    rank.blocked(0);
    rank.blocked(1);
    CHECK(node.left() == 600); // half of an equal part
    const uint64_t most = uint64_t(times::return_us * node[1].host.ticks_per_us) / 4, unit = most / 250;
    node.thief().came_ticks = Flag(most); // both ways take as long as the first may count
    node.give_back(1);
    while (ticks() - node.thief().returned_at < most) {
    }
    rank.blocked(2);
    CHECK(node.thief().return_ticks == most);
    rank.unblocked();
    node.publish(0, 800, unit, {1}, by_time);
    rank.blocked(0);
    rank.blocked(1);
    CHECK(node.left() == 800 - (800 * unit - 2 * most) / 2 / unit);
}

TEST_CASE("more ranks than cores: a core counts as free while fewer compute than there are cores", "[lend]")
{
    TestNode node(4);
    node.options.pretended_cores = 2;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    node.home(3).occupancy = rank_blocked;
    rank.blocked(0); // ranks 0 and 2 compute
    rank.blocked(4);
    rank.blocked(5);
    CHECK(node[0].window.mine().loops[0].look().remaining == 10);
    CHECK(node[1].counters().refusals >= 1);
    CHECK(node[1].counters().refused[unsigned(ws::observe::Refusal::core_taken)] == 1);
    node.home(2).occupancy = rank_blocked;
    rank.blocked(8);
    rank.blocked(9);
    CHECK(node.home(1).state == core_lent);
}

TEST_CASE("who may lend: neither another thread of the program's nor a loop's body", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    const auto wait = [&] {
        for (unsigned polls = 0; polls < 8; polls++)
            rank.blocked(polls);
        rank.unblocked();
        rank.polled();
    };
    std::thread(wait).join();
    ws::loop::self.in_region = true;
    wait();
    ws::loop::self.in_region = false;
    CHECK(node.thief().occupancy == rank_computing);
    CHECK(node.left() == 10);
    rank.blocked(0);
    rank.blocked(1);
    CHECK(node.left() == 9);
}

TEST_CASE("who may lend: MPI_Test lends for one short chunk, recalled before it begins", "[lend]")
{
    Two node;
    node.options.times.short_ticks = 1000;
    Rank& rank = node.start(1);
    node.publish(0, 10, 100, {1});
    rank.polled();
    CHECK(node.thief().state == core_lent);
    CHECK(node.thief().recall == 1);
    CHECK(node.thief().looked_at != 0);
    CHECK(node.left() == 9);
    rank.polled(); // with the chunk still under way
    CHECK(node.left() == 9);
    node.give_back(1);
}

TEST_CASE("steps: policies get time only where there is nothing to help with, unless one is due", "[lend]")
{
    Two node;
    Policy policy;
    policy.when_idle = true;
    node.options.spare_time = &policy;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    rank.blocked(0); // arms
    CHECK(policy.steps == 0);
    policy.due_at = 1;
    rank.blocked(1); // due: before helping
    CHECK(policy.steps == 1);
    CHECK(node.left() == 10);
    policy.due_at = SpareTime::never;
    rank.blocked(2);
    CHECK(node.left() == 9);
    policy.due_at = 1;
    rank.blocked(3); // beside the guest
    CHECK(policy.steps == 2);
    policy.due_at = SpareTime::never;
    node.give_back(1);
    rank.blocked(4);
    node[0].window.open(0) = 0;
    rank.blocked(8);
    CHECK(policy.steps == 3); // idle
}

TEST_CASE("steps: no sleep lasts beyond the moment in which one is due", "[lend]")
{
    Two node;
    Policy policy;
    node.options.spare_time = &policy;
    node.options.times.quantum_us = node.options.times.longest_quantum_us = a_day_us;
    Rank& rank = node.start(1);
    rank.blocked(0);
    REQUIRE(node.thief().state == core_armed);
    policy.due_at = ticks() + 20000 * uint64_t(node[1].host.ticks_per_us); // some milliseconds
    rank.blocked(1); // would sleep for a day
    CHECK(node[1].counters().naps == 1);
    rank.unblocked();
}

TEST_CASE("the end: a rank whose core is lent has it back before it goes on", "[lend]")
{
    Two node;
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    rank.blocked(0);
    rank.blocked(1);
    REQUIRE(node.thief().state == core_lent);
    std::thread guest([&] {
        CHECK(comes_true([&] { return Hardware::load_acquire(node.thief().recall) == 1; }));
        usleep(10000);
        node.give_back(1);
    });
    rank.stop();
    CHECK(node.thief().state == core_kept);
    guest.join();
    rank.blocked(0); // lends no more
    rank.blocked(1);
    CHECK(node.left() == 9);
}
