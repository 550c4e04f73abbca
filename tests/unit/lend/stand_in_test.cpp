// SPDX-License-Identifier: MIT
//
// A rank that waits for something outside of MPI: its stand-in lends the core. Rank 1 waits, by the thread of the test;
// rank 0 computes, and does what is said of it here by hand.
#include "node.h"

#include "lend/stand_in.h"

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;
using ws::observe::Outside;

namespace {

constexpr uint64_t an_hour_us = 3600000000;

struct WithStandIn : TestNode {
    WithStandIn() : TestNode(2) { options.times.quantum_us = options.times.longest_quantum_us = 1000; }
    Home& thief() { return home(1); }
    ws::observe::ProcessCounters& counted() { return (*this)[1].host.board->process; }
};

} // namespace

TEST_CASE("a wait outside MPI: a stand-in lends the core until the wait ends, and the guest goes on beside it", "[lend]")
{
    WithStandIn node;
    node.options.times.quantum_us = node.options.times.longest_quantum_us = an_hour_us; // it does not wake by itself
    Rank& rank = node.start(1);
    node.publish(0, 10, 0, {1});
    REQUIRE(rank.wait_begins(Outside::program, true));
    REQUIRE(comes_true([&] { return node.thief().state == core_lent; }));
    CHECK(node.thief().occupancy == rank_blocked);
    CHECK(node.thief().tenant == 0);
    sleep_us(1000); // it sleeps
    rank.wait_ends();
    CHECK(node.thief().occupancy == rank_computing);
    CHECK(node.thief().recall == 1);
    CHECK(node.thief().state == core_lent); // the guest is in its chunk
    CHECK(node.counted().waits_program_ticks > 0);
    CHECK(node.counted().waits_io_ticks == 0);
    CHECK(node[1].counters().blocked_ticks == node.counted().waits_program_ticks);
    CHECK(node[1].counters().lent_ticks > 0);

    rank.times.quantum_us = rank.times.longest_quantum_us = 1;
    rank.blocked(0); // the next wait in MPI is the home thread's own, and begins with the core still lent
    CHECK(node.thief().occupancy == rank_blocked);
    rank.unblocked();
}

TEST_CASE("a wait outside MPI: work that comes in it wakes the stand-in, and so does its end", "[lend]")
{
    WithStandIn node;
    node.options.times.quantum_us = node.options.times.longest_quantum_us = an_hour_us;
    Rank& owner = node.make(0);
    Rank& rank = node.start(1);
    REQUIRE(rank.wait_begins(Outside::program, true));
    REQUIRE(comes_true([&] { return node.thief().state == core_asleep; }));
    node.publish(0, 10, 0, {1});
    owner.wake();
    REQUIRE(comes_true([&] { return node.thief().state == core_lent; }));
    node.give_back(1);
    for (unsigned units = 1; units < 10; units++) {
        REQUIRE(comes_true([&] { return node.thief().state == core_lent; }));
        node.give_back(1);
    }
    REQUIRE(comes_true([&] { return node.thief().state == core_asleep; }));
    rank.wait_ends();
    CHECK(node.thief().state == core_kept);
    CHECK(node.thief().occupancy == rank_computing);
}

TEST_CASE("a wait outside MPI: MPI in it waits as another thread does", "[lend]")
{
    WithStandIn node;
    Rank& rank = node.start(1);
    REQUIRE(rank.wait_begins(Outside::program, true));
    CHECK(!rank.wait_begins(Outside::io, false)); // nor can another wait begin
    REQUIRE(comes_true([&] { return node.thief().occupancy == rank_blocked; }));
    for (unsigned polls = 0; polls <= 1000; polls++)
        rank.blocked(polls);
    CHECK(node.thief().threads_asleep == 1);
    rank.unblocked();
    CHECK(node.thief().threads_asleep == 0);
    CHECK(node.thief().occupancy == rank_blocked); // the stand-in is still there
    rank.wait_ends();
    rank.blocked(0);
    CHECK(node.thief().state == core_armed);
    rank.unblocked();
}

TEST_CASE("a wait outside MPI: short calls are not lent, and one that lasts is", "[lend]")
{
    WithStandIn node;
    Rank& rank = node.start(1);
    rank.watch_calls();
    node.publish(0, 10, 0, {1});
    for (uint64_t until = ticks() + uint64_t(20000 * node[1].host.ticks_per_us); ticks() < until;) {
        REQUIRE(rank.wait_begins(Outside::io, false));
        rank.wait_ends();
    }
    CHECK(node[1].counters().lends == 0);
    CHECK(node.counted().waits_io_ticks == 0);

    REQUIRE(rank.wait_begins(Outside::io, false));
    CHECK(comes_true([&] { return node.thief().state == core_lent; })); // that sleeps
    rank.wait_ends();
    CHECK(node.counted().waits_io_ticks > 0);
    CHECK(node.thief().occupancy == rank_computing);
}

TEST_CASE("a wait outside MPI: a call that computes is not lent", "[lend]")
{
    WithStandIn node;
    Rank& rank = node.start(1);
    rank.watch_calls();
    node.publish(0, 10, 0, {1});
    REQUIRE(rank.wait_begins(Outside::io, false));
    for (uint64_t until = ticks() + uint64_t(50000 * node[1].host.ticks_per_us); ticks() < until;)
        ;
    rank.wait_ends();
    CHECK(node[1].counters().lends == 0);
}

TEST_CASE("a wait outside MPI: a call that a jump has left ends where the rank waits in MPI", "[lend]")
{
    WithStandIn node;
    Rank& rank = node.start(1);
    rank.watch_calls();
    REQUIRE(rank.wait_begins(Outside::io, false));
    CHECK(comes_true([&] { return node.thief().occupancy == rank_blocked; }));
    node.publish(0, 10, 0, {1});
    rank.blocked(0);
    CHECK(!rank.stand_in().is_open());
    rank.unblocked();
}

TEST_CASE("a wait outside MPI: threads that are not the rank's own lend nothing", "[lend]")
{
    WithStandIn node;
    Rank& rank = node.start(1);
    std::thread([&] {
        std::thread([&] { CHECK(!rank.wait_begins(Outside::program, true)); }).join();
    }).join();
    REQUIRE(rank.wait_begins(Outside::program, true));
    node.stop(); // MPI_Finalize in the wait
    CHECK(node.thief().occupancy == rank_computing);
    rank.wait_ends(); // has nothing to end
    CHECK(!rank.wait_begins(Outside::program, true));
}
