// SPDX-License-Identifier: MIT
#include "node.h"

#include "lend/victims.h"
#include "loop/participant.h"

#include <algorithm>
#include <chrono>

using namespace ws::base;
using namespace ws::window;

FakeOpenMP openmp;

// What runtime/lend and runtime/loop find of other rooms, which are not linked.
char ws_alone;
namespace ws {
namespace loop {
Alone may_be_alone = Alone::always;
bool look_up_alone() { return true; }
} // namespace loop
namespace openmp {
volatile Flag open_regions;
const char* watch(Watcher* watcher)
{
    ::openmp.watcher = watcher;
    return nullptr;
}
void stop_watching()
{
    ::openmp.watcher = nullptr;
    end_wait_for_regions();
}
void wait_for_regions()
{
    const Flag before = Hardware::load_acquire(::openmp.released);
    Hardware::fetch_add_full(::openmp.waiting, 1);
    while (regions_open() && Hardware::load_acquire(::openmp.released) == before)
        sched_yield();
    Hardware::fetch_add_full(::openmp.waiting, Flag(-1));
}
void end_wait_for_regions() { Hardware::fetch_add_full(::openmp.released, 1); }
} // namespace openmp
} // namespace ws

void FakeOpenMP::open()
{
    Hardware::fetch_add_full(ws::openmp::open_regions, 1);
    if (watcher)
        watcher->openmp_opens();
}

void FakeOpenMP::close()
{
    Hardware::fetch_add_full(ws::openmp::open_regions, Flag(-1));
    ws::openmp::end_wait_for_regions();
}

TestNode::TestNode(unsigned ranks, unsigned workers, unsigned boss, unsigned mask_size)
    : memory_(ws::base::map_anonymous(ws::base::copy_on_write, Window::bytes(ranks, ranks + workers, mask_size))),
      cores_(ranks + workers)
{
    REQUIRE(memory_.get_address());
    for (unsigned r = 0; r < ranks; r++) {
        ranks_.push_back(std::make_unique<TestRank>());
        ranks_[r]->window.map(memory_.get_address(), ranks, cores_, r, mask_size);
    }
    for (unsigned r = 0; r < ranks; r++) {
        TestRank& rank = *ranks_[r];
        const unsigned own = r == boss ? workers : 0;
        rank.window.init_own(100 + int(r), ranks, own, {});
        ws::loop::LoopHost& h = rank.host;
        h.row = &rank.window.mine();
        h.open = &rank.window.open(r);
        h.lag = &rank.window.lag(r);
        h.sleepers = &rank.window.node().sleepers;
        h.running_on = &rank.window.own_home().running_on;
        h.participants = cores_;
        h.has_workers = own != 0;
        h.chunk_ticks = 1000 * uint64_t(h.ticks_per_us);
        h.board = ws::observe::make_board(cores_, own);
        REQUIRE(h.board);
        h.meter = &rank.meter;
        rank.meter.start(&rank.window.load(r), ticks(), h.ticks_per_us);
        h.let_threads_in = [](int) {};
        h.end_job = [] { throw JobEnds(); };
    }
    for (unsigned c = 0; c < cores_; c++) // many cores, of which each has its own
        home(c).place = {int(c), -1, -1, -1, -1};
    node().cpus = cores_;
    options.score = ws::lend::victims[0];
    options.pretended_cores = cores_;
    options.times.patience_ticks = 0;
    options.times.yield_ticks = 0;
    options.times.linger_ticks = 0;
    options.times.peers_ticks = ~uint64_t(0) / 2;
    options.times.quantum_us = options.times.longest_quantum_us = 1;
}

TestNode::~TestNode()
{
    stop();
    for (auto& rank : ranks_)
        rank->lending.reset();
}

ws::lend::Rank& TestNode::make(unsigned r)
{
    TestRank& rank = *ranks_[r];
    ws::lend::LendOptions own = options;
    own.sends_open = &rank.sends_open;
    own.sends_to = &rank.sends_to;
    own.events = &rank.events;
    rank.host.lending = &rank.lending.emplace(rank.window, rank.host, own);
    return *rank.lending;
}

ws::lend::Rank& TestNode::start(unsigned r)
{
    ws::lend::Rank& rank = make(r);
    rank.start();
    started_.insert(r);
    return rank;
}

ws::lend::Rank& TestNode::start_owner(unsigned r)
{
    ws::lend::Rank& rank = start(r);
    ws::loop::set_owner_thread();
    return rank;
}

void TestNode::stop()
{
    for (unsigned c = 0; c < cores_; c++)
        if (home(c).state == core_lent &&
            started_.count(Hardware::load_relaxed(home(c).tenant)) == 0) // to a guest by hand
            give_back(c);
    for (unsigned r : started_)
        ranks_[r]->lending->stop();
    for (unsigned r : started_)
        ranks_[r]->lending->stop_guests();
    started_.clear();
}

TestNode::Waiter::Waiter(TestNode& node, unsigned r)
{
    ws::lend::Rank& rank = node.make(r);
    node.started_.insert(r);
    thread_ = std::thread([this, &rank] {
        rank.start();
        for (unsigned polls = 0; !Hardware::load_acquire(over_); polls++)
            rank.blocked(polls);
        rank.unblocked();
        rank.stop();
    });
}

void TestNode::Waiter::end()
{
    Hardware::store_release(over_, 1);
    if (thread_.joinable())
        thread_.join();
}

void Loop::body(void* argument)
{
    Loop& loop = *static_cast<Loop*>(argument);
    long lo, hi;
    if (ws_loop_next(&lo, &hi))
        do
            for (long i = lo; i < hi; i++) {
                fetch_add_relaxed(loop.counts[size_t(i)], 1);
                loop.each_(i);
            }
        while (ws_loop_next(&lo, &hi));
    ws_loop_end();
}

void Loop::run()
{
    std::fill(counts.begin(), counts.end(), 0);
    ws_parallel_loop(body, this, 0, long(counts.size()), 1, &site_, 0, 0);
    CHECK(counts == std::vector<unsigned>(counts.size(), 1));
}

TestNode::Cores TestNode::awake()
{
    Cores found;
    for (unsigned c = 0; c < cores_; c++)
        if (home(c).state == core_kept)
            found.push_back(c);
    return found;
}

TestNode::Cores TestNode::recalled()
{
    Cores found;
    for (unsigned c = 0; c < cores_; c++)
        if (home(c).recall)
            found.push_back(c);
    return found;
}

void TestNode::fall_asleep(unsigned core)
{
    home(core).state = core_asleep;
    Hardware::fetch_add_full(node().sleepers, 1);
}

void TestNode::publish(unsigned owner, uint64_t units, uint64_t unit_ticks, const Cores& guests,
                       const ws::loop::Sizing& sizing)
{
    Window& w = ranks_[owner]->window;
    w.mine().loops[0].publish(0, {units, sizing.pack(), unit_ticks, ws::loop::Descriptor::max_joiners, 0});
    Hardware::or_full(w.open(owner), 1);
    for (unsigned core : guests)
        guest(owner, core).state = guest_ready;
}

void TestNode::give_back(unsigned core)
{
    Hardware::store_relaxed(home(core).returned_at, ticks());
    Hardware::store_full(home(core).state, core_kept);
    futex_wake(&home(core).state);
}

Wanted::Wanted() : TestNode(2)
{
    start_owner(0);
    home(1).occupancy = ws::window::rank_blocked;
    (*this)[0].window.mine().hunger.hungry = ws::window::long_hungry;
}

std::thread thief(TestNode& node, uint64_t units, std::function<void(const ws::window::Lease&)> visit)
{
    ws::window::Lease lease = {};
    const bool taken = node[0].window.mine().loops[0].claim_and_join([=](uint64_t, unsigned) { return units; },
                                                                     lease.chunk) == ws::loop::Claim::taken;
    return std::thread([&node, visit, lease, taken] {
        ws::loop::join(node[0].host);
        if (taken)
            visit(lease);
    });
}
const volatile Flag never = 0;

void sleep_us(unsigned us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }
