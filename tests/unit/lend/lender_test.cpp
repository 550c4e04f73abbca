// SPDX-License-Identifier: MIT
//
// One core and the thread at home on it: what takes it from kept to lent or asleep, and back. A case is named after the
// rule of docs/internals/protocol.md that it is about.
#include "node.h"

#include "lend/lender.h"

#include <string>

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;

namespace {

// The thief is rank 1; rank 0 is helped.
struct Core : TestNode {
    Lender lender;
    explicit Core(unsigned ranks = 2, uint64_t nap_us = 1) : TestNode(ranks)
    {
        start(1);
        start_lender(nap_us);
    }
    void start_lender(uint64_t nap_us)
    {
        lender.start(*(*this)[1].lending, 1, (*this)[1].host.board->seat(0), false, nap_us);
    }
    Target target() { return lender.choose(long_hungry, false); }
    uint64_t left() { return (*this)[0].window.mine().loops[0].look().remaining; }
    unsigned joiners() { return (*this)[0].window.mine().loops[0].joiners(); }
};

} // namespace

TEST_CASE("claim before wake: who loses the race for the chunk wakes nobody and keeps its core", "[lend]")
{
    Core node;
    node.publish(0, 1, 0, {1});
    const Target target = node.target();
    REQUIRE(target);
    ws::loop::Chunk chunk;
    REQUIRE(node[0].window.mine().loops[0].claim([](uint64_t, unsigned) { return 1; }, chunk) ==
            ws::loop::Claim::taken);
    node.lender.arm();
    CHECK_FALSE(node.lender.lend(target));
    CHECK(node.guest(0, 1).knock == 0);
    CHECK(node.home(1).state == core_armed);
    CHECK(ws::arbiter::Word<>(node.home(1).use).look().use == ws::arbiter::Use::home);
    CHECK_FALSE(node.lender.has_lease());
}

TEST_CASE("claim before wake: without a guest that listens nothing is claimed, and one is asked for", "[lend]")
{
    Core node;
    node.publish(0, 10, 0, {});
    CHECK_FALSE(node.target());
    CHECK(node.lender.why_none() == ws::observe::Refusal::no_guest);
    CHECK(node.guest(0, 1).state == guest_wanted);
    CHECK(node[0].window.mine().hunger.wanted == 1);
    for (Flag state : {guest_wanted, guest_starting, guest_refused, guest_away}) {
        node.guest(0, 1).state = state;
        CHECK_FALSE(node.target());
        CHECK(node.guest(0, 1).state == state);
    }
    node.guest(0, 1).state = guest_ready;
    CHECK(node.target());
}

TEST_CASE("cores: a core with another use is not lent, and nothing is claimed for it", "[lend]")
{
    Core node;
    node.publish(0, 10, 0, {1});
    ws::arbiter::Word<> use(node.home(1).use);
    REQUIRE(use.change(ws::arbiter::Use::home, ws::arbiter::Use::openmp));
    CHECK_FALSE(node.lender.core_is_free());
    CHECK_FALSE(node.lender.lend(node.target()));
    CHECK(node.left() == 10);
    CHECK(node.guest(0, 1).knock == 0);
    REQUIRE(use.change(ws::arbiter::Use::openmp, ws::arbiter::Use::home));
    CHECK(node.lender.lend(node.target()));
    node.give_back(1);
}

TEST_CASE("one word claims and joins: the guest counts as soon as its chunk is taken", "[lend]")
{
    Core node;
    node.publish(0, 10, 0, {1});
    REQUIRE(node.joiners() == 0);
    REQUIRE(node.lender.lend(node.target()));
    CHECK(node.joiners() == 1);
    CHECK(node.left() == 9);
    node.give_back(1);
}

TEST_CASE("the idle ladder: who was rung before it slept does not sleep", "[lend]")
{
    Core node(2, a_day_us);
    node[1].lending->times.longest_quantum_us = a_day_us;
    node.lender.arm();
    Rank::ring(node.home(1)); // armed: it is not woken, as it does not sleep yet
    const double begin = seconds_now();
    node.lender.sleep(20 * 1000000);
    CHECK(seconds_now() - begin < 10);
    CHECK(node.home(1).state == core_kept); // polls, arms again
}

TEST_CASE("the idle ladder: who sleeps is counted, and woken by a ring", "[lend]")
{
    Core node(2, a_day_us);
    node[1].lending->times.longest_quantum_us = a_day_us;
    std::thread sender([&] {
        CHECK(comes_true([&] { return Hardware::load_acquire(node.home(1).state) == core_asleep; }));
        CHECK(node.node().sleepers == 1);
        Rank::ring(node.home(1));
    });
    node.lender.arm();
    const double begin = seconds_now();
    node.lender.sleep(60 * 1000000);
    CHECK(seconds_now() - begin < 30);
    sender.join();
    CHECK(node.home(1).state == core_kept);
    CHECK(node[1].counters().wakes == 1);
    CHECK(node.node().sleepers == 0);
}

TEST_CASE("the idle ladder: where threads share cores a rank sleeps at once, and longer", "[lend]")
{
    for (unsigned ranks : {2u, 64u}) {
        TestNode node(ranks);
        node.options.pretended_cores = 0; // this machine's
        node.start(1);
        if (node[0].window.mask(0).count() < 2 || node[0].window.mask(0).count() > 16)
            return; // else both are crowded, or neither
        Lender lender;
        lender.start(*node[1].lending, 1, node[1].host.board->seat(0), false, 1000);
        CHECK(lender.must_not_spin() == (ranks == 64));
        CHECK(lender.core_is_ours_alone() == (ranks == 2));
        if (ranks == 64) {
            node[1].lending->times.longest_quantum_us = 100000;
            lender.arm();
            const double begin = seconds_now();
            lender.sleep();
            CHECK(seconds_now() - begin > 0.002); // more than the 1 ms of a core of its own
        }
    }
}

TEST_CASE("step aside: a thief on its victim's CPU moves to one that nobody is on", "[lend]")
{
    Core node;
    if (node[1].window.mask(1).count() < 2)
        return; // bound: nowhere to go
    node.publish(0, 10, 0, {1});
    for (int tries = 0; tries < 10000 && node[1].counters().moves == 0; tries++) {
        node.home(0).running_on = Flag(sched_getcpu()); // the scheduler may move this thread until it looks itself
        node.lender.step_aside(0);
    }
    CHECK(node[1].counters().moves == 1);
    CHECK(node.home(1).running_on != node.home(0).running_on);
    CpuSet now(node[1].window.mask_size());
    REQUIRE(now.read_own());
    CHECK(now.mask().count() == node[1].window.mask(1).count()); // its old mask again
}

TEST_CASE("other jobs: a core that another job computes on is not free", "[lend]")
{
    // Two CPUs that no machine has, so that nobody else is there.
    CpuSet mask(64);
    const int first = 1000 + 2 * (getpid() % 1000);
    mask.add(first);
    mask.add(first + 1);
    TestNode node(2, 0, 0, 64);
    for (unsigned c = 0; c < 2; c++)
        node[c].window.set_mask(c, mask.mask());
    std::string problem;
    ws::book::Reader ours, theirs;
    REQUIRE(ours.join(ws::book::open_book(problem), own_process(), 1, 0, mask.mask()));
    node.options.book = &ours;
    node.options.pretended_cores = 0;
    node.start(1);
    Lender lender;
    lender.start(*node[1].lending, 1, node[1].host.board->seat(0), false, 1);
    CHECK(lender.core_is_free()); // rank 0 computes
    CHECK_FALSE(lender.had_neighbours());
    REQUIRE(theirs.join(ws::book::open_book(problem), own_process(), 2, 0, mask.mask()));
    theirs.show_busy(true);
    CHECK(lender.core_is_free()); // it looks at the start of a wait
    lender.look_at_neighbours(false);
    CHECK(lender.had_neighbours());
    CHECK_FALSE(lender.core_is_free());
    CHECK(lender.must_not_spin()); // three on two cores
    theirs.show_busy(false);
    CHECK(lender.core_is_free());
    theirs.leave();
    lender.look_at_neighbours(false);
    CHECK_FALSE(lender.must_not_spin());
    ours.leave();
}

TEST_CASE("slots: a bit of one that does not exist has no region to help", "[lend]")
{
    TestNode node(2);
    Rank& rank = node.start(1);
    node.publish(0, 1000, 1000, {1});
    volatile Flag& open = node[0].window.open(0);
    open = ~Flag(0);
    CHECK(node[0].window.open_slots(0) == (1u << max_slots) - 1);
    open = ~Flag(0) << max_slots; // those alone: what lies behind the row is no region
    rank.blocked(0);
    rank.blocked(4);
    CHECK(node.home(1).state != core_lent);
    rank.unblocked();
}
