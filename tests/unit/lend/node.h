// SPDX-License-Identifier: MIT
//
// Ranks of a node in one process, on one window: what runtime/lend is without MPI. A test makes the calls that MPICH,
// the compiled code and other processes make, as the rank that it wants to be.
#pragma once

#include "abi/abi.h"
#include "base/mapping.h"
#include "openmp/library/regions.h"
#include "lend/rank.h"
#include "loop/open_region.h"
#include "measure/meter.h"
#include "observe/board.h"
#include "window/window.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

// OpenMP, as the workers see it.
struct FakeOpenMP {
    ws::openmp::Watcher* watcher = nullptr;
    volatile ws::base::Flag waiting = 0; // workers in wait_for_regions()
    volatile ws::base::Flag released = 0;
    void open();  // a parallel region of OpenMP's begins
    void close(); // it ends
};
extern FakeOpenMP openmp;

struct TestRank {
    ws::window::Window window;
    ws::loop::Slots slots = {};
    ws::loop::LoopHost host{slots};
    ws::measure::Meter meter;
    std::optional<ws::lend::Rank> lending;
    // MPICH's
    int sends_open = 0, sends_to = 0;
    unsigned events = 0;

    ws::observe::LendCounters& counters() { return host.board->seat(0).lend; }
    ws::observe::VisitCounters& visits(unsigned core) { return host.board->guest_seat(core).visit; }
    ws::window::Home& home() { return window.own_home(); }
};

// Thrown instead of ending the job; messages go to stderr.
struct JobEnds {};

class TestNode {
public:
    // The last `workers` cores are rank `boss`'s. Nothing is started.
    explicit TestNode(unsigned ranks, unsigned workers = 0, unsigned boss = 0,
                      unsigned mask_size = ws::base::CpuSet::usual);
    ~TestNode();
    TestNode(const TestNode&) = delete;
    TestNode& operator=(const TestNode&) = delete;

    TestRank& operator[](unsigned rank) { return *ranks_[rank]; }
    unsigned ranks() const { return unsigned(ranks_.size()); }
    unsigned cores() const { return cores_; }
    ws::window::Home& home(unsigned core) { return ranks_[0]->window.home(core); }
    ws::window::Node& node() { return ranks_[0]->window.node(); }

    // Their options, to be changed before make(). Times are such that nothing happens by itself: no spin, no sleep that
    // lasts, no look at the clock that ends anything.
    ws::lend::LendOptions options = {};
    // Makes a rank's lending; start() also makes the calling thread its home thread, with its workers beside it.
    ws::lend::Rank& make(unsigned rank);
    ws::lend::Rank& start(unsigned rank);
    // The same; the calling thread also owns loops of that rank.
    ws::lend::Rank& start_owner(unsigned rank);
    // Rank::stop() of all that were started, then Rank::stop_guests(); guests by hand give back what they have. By the
    // destructor, too.
    void stop();

    // Cores that are kept; whose recall is set.
    using Cores = std::vector<unsigned>;
    Cores awake();
    Cores recalled();
    void fall_asleep(unsigned core);

    // Rank `owner` publishes a region of `units` units in its first slot, of `ticks` each, that no thread runs. It has
    // a guest ready for each core in `guests`. By hand: no thread of it runs. `sizing`: of thieves' first chunks.
    void publish(unsigned owner, uint64_t units, uint64_t unit_ticks, const Cores& guests,
                 const ws::loop::Sizing& sizing = {WS_DYNAMIC, 1, 1});
    ws::window::GuestSlot& guest(unsigned owner, unsigned core) { return ranks_[0]->window.guest(owner, core); }
    // What that guest does at the end of its visit.
    void give_back(unsigned core);

    // Rank `rank` is blocked in MPI, in a thread of its own that is its home thread, until end().
    class Waiter {
    public:
        Waiter(TestNode& node, unsigned rank);
        ~Waiter() { end(); }
        Waiter(const Waiter&) = delete;
        void end(); // its message has come

    private:
        volatile ws::base::Flag over_ = 0;
        std::thread thread_;
    };

private:
    ws::base::Mapping memory_;
    unsigned cores_;
    std::vector<std::unique_ptr<TestRank>> ranks_;
    std::set<unsigned> started_;
};

// Runs a loop of n iterations, as compiled code does: calls `each` for each.
class Loop {
public:
    Loop(long iterations, std::function<void(long)> each) : counts(size_t(iterations)), each_(std::move(each)) {}
    // On the calling thread, as one of its rank's. Then every iteration must have run once.
    void run();
    std::vector<unsigned> counts; // of each iteration

private:
    static void body(void* loop);
    std::function<void(long)> each_;
    ws_site site_ = {"a loop", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}};
};

// Rank 0 owns loops, and somebody waits.
struct Wanted : TestNode {
    Wanted();
    bool published() { return (*this)[0].window.open(0); }
};

// A thread that waits in no MPI: it joins rank 0's region, if that is open, claims `units` and then runs `visit`.
std::thread thief(TestNode& node, uint64_t units, std::function<void(const ws::window::Lease&)> visit);
// A core that nobody wants back, for a visit.
extern const volatile ws::base::Flag never;

constexpr uint64_t a_day_us = uint64_t(24) * 3600 * 1000000, for_ever = ~uint64_t(0) / 2; // ticks

void sleep_us(unsigned us);

// Waits until `done`, up to some seconds; false if that was in vain.
template <class Done> bool comes_true(Done&& done)
{
    for (int i = 0; i < 100000; i++) {
        if (done())
            return true;
        usleep(100);
    }
    return false;
}
