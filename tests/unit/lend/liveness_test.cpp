// SPDX-License-Identifier: MIT
//
// Nobody waits for ever for a process that died: each wait is made beside a rank whose process is gone. A case is named
// after the rule of docs/internals/protocol.md that it is about. (Which processes live: tests/unit/window.)
#include "node.h"

#include <csignal>
#include <sys/wait.h>

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;

namespace {

// A process that a rank may be said to be.
class Process {
public:
    Process()
    {
        const Mapping shared = map_anonymous(read_write, sizeof(ProcessId));
        auto* const told = at<ProcessId>(shared);
        REQUIRE(told);
        pid_ = fork();
        if (pid_ == 0) {
            const ProcessId own = own_process();
            told->pid_namespace = own.pid_namespace;
            told->started = own.started;
            Hardware::store_release(reinterpret_cast<volatile Flag&>(told->pid), Flag(own.pid));
            for (;;)
                pause();
        }
        REQUIRE(comes_true([&] { return Hardware::load_acquire(reinterpret_cast<volatile Flag&>(told->pid)) != 0; }));
        id = *told;
    }
    ~Process() { die(); }
    void die()
    {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        pid_ = 0;
    }
    ProcessId id = {};

private:
    pid_t pid_;
};

// Rank 0 is another process, which dies.
struct Mortal : TestNode {
    Process process;
    explicit Mortal(unsigned ranks = 2) : TestNode(ranks) { home(0).process = process.id; }
};

} // namespace

TEST_CASE("liveness: a rank that died ends the job, and none before it", "[lend]")
{
    Mortal node;
    Rank& rank = node.start(1);
    CHECK_NOTHROW(rank.check_peers("this test"));
    node.process.die();
    CHECK_THROWS_AS(rank.check_peers("this test"), JobEnds);
}

TEST_CASE("liveness: a store into the window makes no rank dead", "[lend]")
{
    Mortal node;
    Rank& rank = node.start(1);
    node.home(0).process.pid = 1 << 22; // the kernel gives no such number
    CHECK_NOTHROW(rank.check_peers("this test"));
    node.process.die();
    CHECK_THROWS_AS(rank.check_peers("this test"), JobEnds);
}

TEST_CASE("liveness: a blocked rank that has not lent looks now and then", "[lend]")
{
    Mortal node;
    Rank& rank = node.start(1);
    node.process.die();
    CHECK_NOTHROW(rank.blocked(0));
    CHECK_NOTHROW(rank.blocked(4));
    rank.times.peers_ticks = 0;
    CHECK_THROWS_AS(rank.blocked(8), JobEnds);
    rank.unblocked();
}

TEST_CASE("liveness: a thread that sleeps looks after a tenth of a second", "[lend]")
{
    Mortal node;
    node.options.times.quantum_us = node.options.times.longest_quantum_us = 40000;
    Rank& rank = node.start(1);
    node.process.die();
    const auto sleeps = [&] {
        for (unsigned polls = 0; polls < 20; polls++)
            rank.blocked(polls);
    };
    SECTION("for want of work") { CHECK_THROWS_AS(sleeps(), JobEnds); }
    SECTION("while its core is lent")
    {
        node.publish(0, 10, 0, {1});
        CHECK_THROWS_AS(sleeps(), JobEnds);
        CHECK(node.home(1).state == core_lent);
    }
}

TEST_CASE("liveness: an owner looks while it waits for a guest that a dead rank has claimed for", "[lend]")
{
    TestNode node(2);
    Process other;
    node.home(1).process = other.id;
    node.start_owner(0);
    node.home(1).occupancy = rank_blocked;
    node[0].window.mine().hunger.hungry = long_hungry;
    bool claimed = false;
    Loop loop(2, [&](long) {
        ws::loop::Chunk chunk; // as rank 1, which is then killed, before it has woken its guest
        if (!claimed)
            claimed = node[0].window.mine().loops[0].claim_and_join([](uint64_t, unsigned) { return 1; }, chunk) ==
                      ws::loop::Claim::taken;
        other.die();
    });
    CHECK_THROWS_AS(loop.run(), JobEnds);
    CHECK(claimed);
    // The thread has left the loop by an exception, which no program can.
    ws::loop::self = ws::loop::participant_of(node[0].host);
}

TEST_CASE("liveness: an owner looks soon, also where each of its yields gives others the CPU for milliseconds",
          "[lend]")
{
    cpu_set_t before, one;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    TestNode node(2);
    Process other;
    node.home(1).process = other.id;
    node.start_owner(0);
    volatile Flag over = 0;
    std::vector<std::thread> busy;
    for (int i = 0; i < 2; i++) // on the owner's CPU
        busy.emplace_back([&] {
            while (!Hardware::load_acquire(over))
                ;
        });
    other.die();
    const uint64_t began = ticks();
    CHECK_THROWS_AS(ws::loop::wait_until("this test", [] { return false; }), JobEnds);
    CHECK(double(ticks() - began) < 20e6 * node[0].host.ticks_per_us);
    Hardware::store_release(over, 1);
    for (std::thread& t : busy)
        t.join();
    REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("liveness: of many ranks all are looked at, if not at once", "[lend]")
{
    Mortal node(40);
    Rank& rank = node.start(7);
    node.process.die();
    const auto looks = [&] {
        for (unsigned i = 0; i < 40; i++)
            rank.check_peers("this test");
    };
    CHECK_THROWS_AS(looks(), JobEnds);
}
