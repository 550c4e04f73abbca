// SPDX-License-Identifier: MIT
//
// Who wakes whom, with eight ranks of a node in one process: each call is made as one of them. A case is
// named after the rule of docs/protocol.md that it is about.
#include "lend/lend.h"
#include "loop/region.h"
#include "window/window.h"

#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <vector>

using namespace ws::lend;
using namespace ws::window;

// What the doorbell finds of other files, which are not linked: the rank that calls, its loops, its wait for OpenMP.
namespace ws {
namespace lend::detail {
Window* window;
LendTimes times;
const int *sends_open, *sends_to;
} // namespace lend::detail
namespace loop {
LoopHost loop_host;
}
namespace directive {
void end_openmp_wait() {}
} // namespace directive
} // namespace ws

namespace {

constexpr unsigned ranks = 8, workers = 2, cores = ranks + workers; // the workers are rank 3's

struct TestNode {
    size_t bytes = Window::bytes(ranks, cores);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Window windows[ranks];
    int sends_open[ranks] = {}, sends_to[ranks] = {};
    volatile Flag& sleepers;

    TestNode() : sleepers(start())
    {
        for (unsigned r = 0; r < ranks; r++)
            windows[r].init_own(100 + int(r), ranks, r == 3 ? workers : 0, {});
        for (unsigned c = 0; c < cores; c++)
            home(c).occupancy = rank_blocked;
        windows[0].node().cpus = cores;
        be(0);
    }
    ~TestNode() { munmap(memory, bytes); }
    TestNode(const TestNode&) = delete;
    TestNode& operator=(const TestNode&) = delete;

    // What is called from here on, this rank calls.
    void be(unsigned rank)
    {
        detail::window = &windows[rank];
        detail::sends_open = &sends_open[rank];
        detail::sends_to = &sends_to[rank];
        ws::loop::loop_host.open = &windows[rank].open(rank);
    }
    Home& home(unsigned core) { return windows[0].home(core); }
    void fall_asleep(unsigned core)
    {
        home(core).state = core_asleep;
        sleepers++;
    }
    std::vector<unsigned> awake()
    {
        std::vector<unsigned> found;
        for (unsigned c = 0; c < cores; c++)
            if (home(c).state == core_kept)
                found.push_back(c);
        return found;
    }
    std::vector<unsigned> recalled()
    {
        std::vector<unsigned> found;
        for (unsigned c = 0; c < cores; c++)
            if (home(c).recall)
                found.push_back(c);
        return found;
    }

private:
    volatile Flag& start()
    {
        REQUIRE(memory != MAP_FAILED);
        for (unsigned r = 0; r < ranks; r++)
            windows[r].map(memory, ranks, cores, r);
        return windows[0].node().sleepers;
    }
};
using Cores = std::vector<unsigned>;

} // namespace

TEST_CASE("the doorbell: a rank that polls is not rung, one whose core is lent is recalled and stays lent", "[lend]")
{
    TestNode node;
    node.be(1);
    ring(0);
    CHECK(node.recalled().empty());
    CHECK(node.home(0).rings == 0);

    node.home(0).state = core_armed;
    node.home(2).state = core_lent;
    ring(0);
    ring(2);
    CHECK(node.recalled() == Cores{0, 2});
    CHECK(node.home(0).state == core_armed); // whoever armed sees the recall
    CHECK(node.home(2).state == core_lent); // the guest gives it back, nobody else
    ring(2);
    CHECK(node.home(2).rings == 1); // once is enough
}

TEST_CASE("the idle ladder: a ring wakes who sleeps", "[lend]")
{
    TestNode node;
    node.fall_asleep(3);
    node.be(6);
    ring(3);
    CHECK(node.home(3).state == core_kept);
    CHECK(node.home(3).recall == 1); // pairs with its last look before it sleeps
}

TEST_CASE("taken: who handled messages rings those that may wait for that", "[lend]")
{
    TestNode node;
    for (unsigned r = 0; r < ranks; r++)
        node.home(r).state = core_lent;
    node.home(1).awaits = 100 + 5 + 1; // its sends are to rank 105, the one that calls below
    node.home(2).awaits = 100 + 6 + 1; // to another
    node.home(3).awaits = awaits_several;
    node.be(5);
    taken();
    CHECK(node.recalled() == Cores{1, 3});

    // It has sends open of its own: to one rank, whose core may be lent, too.
    node.sends_open[5] = 1;
    node.sends_to[5] = 104;
    taken();
    CHECK(node.recalled() == Cores{1, 3, 4});
    node.sends_to[5] = -1; // or to several
    taken();
    CHECK(node.recalled() == Cores{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("publish on demand: the owner wakes two sleepers, own workers first, none that has lent its core", "[lend]")
{
    TestNode node;
    for (unsigned c = 0; c < cores; c++)
        node.fall_asleep(c);
    node.home(1).state = core_lent;
    node.be(3);
    wake_sleepers();
    CHECK(node.awake() == Cores{8, 9}); // its workers
    node.be(0);
    wake_sleepers();
    CHECK(node.awake() == Cores{2, 3, 8, 9}); // the next after it; 1 has lent
}

TEST_CASE("publish on demand: nobody is woken where nobody sleeps or every CPU is taken", "[lend]")
{
    TestNode node;
    node.home(4).state = core_asleep; // as it is for a moment before it is counted
    wake_sleepers();
    CHECK(node.home(4).state == core_asleep);
    node.sleepers = 1;
    node.windows[0].node().cpus = 2;
    node.home(0).occupancy = rank_computing;
    node.home(1).state = core_lent;
    wake_sleepers();
    CHECK(node.home(4).state == core_asleep);
    node.home(1).state = core_kept;
    wake_sleepers();
    CHECK(node.home(4).state == core_kept);
}

TEST_CASE("workers: those that help elsewhere are called back for a region of their rank", "[lend]")
{
    TestNode node;
    node.home(8).state = node.home(9).state = core_lent;
    node.home(8).tenant = 2;
    node.home(9).tenant = 3; // helps its own rank already
    node.be(3);
    wake_sleepers(); // no region is open
    CHECK(node.recalled().empty());
    node.windows[3].open(3) = 1;
    node.be(6); // another rank's are not called back by this one
    wake_sleepers();
    CHECK(node.recalled().empty());
    node.be(3);
    wake_sleepers();
    CHECK(node.recalled() == Cores{8});
}

TEST_CASE("publish on demand: somebody waits who is blocked, or looked in vain a moment ago", "[lend]")
{
    TestNode node;
    for (unsigned c = 0; c < cores; c++)
        node.home(c).occupancy = rank_computing;
    CHECK_FALSE(somebody_waits());
    node.home(9).occupancy = rank_blocked;
    CHECK(somebody_waits());
    node.home(9).occupancy = rank_computing;
    detail::times.patience_ticks = ~uint64_t(0) / 2;
    node.home(3).looked_at = ticks();
    CHECK(somebody_waits());
    detail::times.patience_ticks = 0;
    CHECK_FALSE(somebody_waits());
}
