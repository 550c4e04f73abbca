// SPDX-License-Identifier: MIT
//
// Threads of a program beside the one that called MPI_Init, blocked in MPI.
#include "node.h"

#include "base/times.h"

#include <thread>

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;

namespace {

// Rank 1 has started, by a thread that waits for nothing.
struct WithThreads : TestNode {
    WithThreads() : TestNode(2)
    {
        options.times.yield_ticks = 0;
        std::thread([this] { start(1); }).join();
    }
    Rank& rank() { return *(*this)[1].lending; }
    // Polls as MPI does, until the thread has asked to be rung.
    void wait_long()
    {
        for (unsigned polls = 0; polls <= 1000; polls++)
            rank().blocked(polls);
    }
};

// One that never started a rank, which the thread of the tests may have done. It is waited for.
template <class F> void as_another_thread(F play) { std::thread(play).join(); }

} // namespace

TEST_CASE("other threads: one that waits long is rung, and its waiting is counted; a short wait leaves no trace",
          "[lend]")
{
    WithThreads node;
    as_another_thread([&] {
        Home& home = node[1].home();
        for (unsigned polls = 0; polls < 1000; polls++)
            node.rank().blocked(polls);
        CHECK(home.threads_asleep == 0);
        node.rank().unblocked();
        CHECK(node[1].host.board->process.threads_blocked_ticks == 0);

        node.wait_long();
        CHECK(home.threads_asleep == 1);
        const Flag before = home.thread_bell;
        Rank::ring(home);
        CHECK(home.thread_bell == before + 1);
        CHECK(home.rings == 0); // its home thread polls by itself
        node.rank().unblocked();
        CHECK(home.threads_asleep == 0);
        CHECK(node[1].host.board->process.threads_blocked_ticks > 0);
        Rank::ring(home);
        CHECK(home.thread_bell == before + 1); // nobody is there to be rung
    });
}

TEST_CASE("other threads: what is posted between MPI's last poll and the sleep keeps the thread awake", "[lend]")
{
    WithThreads node;
    as_another_thread([&] {
        const double nap = times::thread_nap_us * node[1].host.ticks_per_us;
        bool awake = false;
        for (int tries = 0; tries < 100 && !awake; tries++) { // others may have the CPU for longer than a nap
            node.wait_long();
            Rank::ring(node[1].home());
            const uint64_t before = ticks();
            node.rank().blocked(1001); // must not sleep: MPI has to poll first
            awake = double(ticks() - before) < nap / 2;
            const uint64_t begin = ticks();
            for (unsigned k = 0; k < 20; k++) // now nothing rings
                node.rank().blocked(1002 + k);
            CHECK(double(ticks() - begin) > 10 * nap);
            node.rank().unblocked();
        }
        CHECK(awake);
    });
}

TEST_CASE("other threads: a ring ends a nap", "[lend]")
{
    WithThreads node;
    as_another_thread([&] {
        Home& home = node[1].home();
        node.wait_long();
        volatile Flag over = 0;
        std::thread sender([&] {
            while (!Hardware::load_acquire(over)) {
                Rank::ring(home);
                std::this_thread::yield();
            }
        });
        for (unsigned k = 0; k < 1000; k++)
            node.rank().blocked(1001 + k);
        Hardware::store_release(over, 1);
        sender.join();
        node.rank().unblocked();
        CHECK(home.threads_asleep == 0);
    });
}
