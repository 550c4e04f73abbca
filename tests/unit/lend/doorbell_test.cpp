// SPDX-License-Identifier: MIT
//
// Wakeups, with eight ranks of a node in one process: each call is made as one of them. A case is named after the rule
// of docs/internals/protocol.md that it is about.
#include "node.h"

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;

namespace {

constexpr unsigned boss = 3; // whose the two workers are

struct Eight : TestNode {
    Eight() : TestNode(8, 2, boss)
    {
        for (unsigned c = 0; c < cores(); c++)
            home(c).occupancy = rank_blocked;
        for (unsigned r = 0; r < ranks(); r++)
            make(r);
    }
    Rank& rank(unsigned r) { return *(*this)[r].lending; }
};
using Cores = TestNode::Cores;

} // namespace

TEST_CASE("the doorbell: a rank that polls is not rung, one whose core is lent is recalled and stays lent", "[lend]")
{
    Eight node;
    Rank::ring(node.home(0));
    CHECK(node.recalled().empty());
    CHECK(node.home(0).rings == 0);

    node.home(0).state = core_armed;
    node.home(2).state = core_lent;
    Rank::ring(node.home(0));
    Rank::ring(node.home(2));
    CHECK(node.recalled() == Cores{0, 2});
    CHECK(node.home(0).state == core_armed); // the thread that armed sees the recall
    CHECK(node.home(2).state == core_lent); // the guest gives it back, nobody else
    Rank::ring(node.home(2));
    CHECK(node.home(2).rings == 1); // once is enough
}

TEST_CASE("the idle ladder: a ring wakes who sleeps", "[lend]")
{
    Eight node;
    node.fall_asleep(3);
    Rank::ring(node.home(3));
    CHECK(node.home(3).state == core_kept);
    CHECK(node.home(3).recall >= rung_on); // pairs with its last look before it sleeps
}

TEST_CASE("taken: who handled messages rings those that may wait for that", "[lend]")
{
    Eight node;
    for (unsigned r = 0; r < node.ranks(); r++)
        node.home(r).state = core_lent;
    node.home(1).awaits = 100 + 5 + 1; // its sends are to rank 105, the one that calls below
    node.home(2).awaits = 100 + 6 + 1; // to another
    node.home(3).awaits = awaits_several;
    node.rank(5).taken();
    CHECK(node.recalled() == Cores{1, 3});

    // It has sends open of its own: to one rank, whose core may be lent, too.
    node[5].sends_open = 1;
    node[5].sends_to = 104;
    node.rank(5).taken();
    CHECK(node.recalled() == Cores{1, 3, 4});
    node[5].sends_to = -1; // or to several
    node.rank(5).taken();
    CHECK(node.recalled() == Cores{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("publish on demand: the owner wakes two sleepers, own workers first, none that has lent its core", "[lend]")
{
    Eight node;
    for (unsigned c = 0; c < node.cores(); c++)
        node.fall_asleep(c);
    node.home(1).state = core_lent;
    node.rank(3).wake();
    CHECK(node.awake() == Cores{8, 9}); // its workers
    node.rank(0).wake();
    CHECK(node.awake() == Cores{2, 3, 8, 9}); // the next after it; 1 has lent
}

TEST_CASE("publish on demand: nobody is woken where nobody sleeps or every CPU is taken", "[lend]")
{
    Eight node;
    node.home(4).state = core_asleep; // as it is for a moment before it is counted
    node.rank(0).wake();
    CHECK(node.home(4).state == core_asleep);
    node.node().sleepers = 1;
    node.node().cpus = 2;
    node.home(0).occupancy = rank_computing;
    node.home(1).state = core_lent;
    node.rank(0).wake();
    CHECK(node.home(4).state == core_asleep);
    node.home(1).state = core_kept;
    node.rank(0).wake();
    CHECK(node.home(4).state == core_kept);
}

TEST_CASE("workers: those that help elsewhere are called back for a region of their rank", "[lend]")
{
    Eight node;
    node.home(8).state = node.home(9).state = core_lent;
    node.home(8).tenant = 2;
    node.home(9).tenant = 3; // helps its own rank already
    node.rank(3).wake(); // no region is open
    CHECK(node.recalled().empty());
    node[3].window.open(3) = 1;
    node.rank(6).wake(); // another rank's are not called back by this one
    CHECK(node.recalled().empty());
    node.rank(3).wake();
    CHECK(node.recalled() == Cores{8});
}

TEST_CASE("publish on demand: somebody waits who is blocked, or looked in vain a moment ago", "[lend]")
{
    Eight node;
    for (unsigned c = 0; c < node.cores(); c++)
        node.home(c).occupancy = rank_computing;
    CHECK_FALSE(node.rank(0).somebody_waits());
    node.home(9).occupancy = rank_blocked;
    CHECK(node.rank(0).somebody_waits());
    node.home(9).occupancy = rank_computing;
    node.rank(0).times.patience_ticks = ~uint64_t(0) / 2;
    node.home(3).looked_at = ticks();
    CHECK(node.rank(0).somebody_waits());
    node.rank(0).times.patience_ticks = 0;
    CHECK_FALSE(node.rank(0).somebody_waits());
}
