// SPDX-License-Identifier: MIT
//
// Workers: threads of this rank on cores that it has but does not use. A worker takes chunks of its own rank's regions
// first, without any hand-over; with none there it lends its core to another rank, and with none anywhere it sleeps.
#include "lend/worker.h"

#include "lend/body_stack.h"
#include "lend/rank.h"
#include "loop/left.h"
#include "loop/signals.h"
#include "observe/recorder.h"
#include "base/os.h"

namespace ws::lend {

using observe::own_seat;
using observe::Refusal;
using observe::Seated;
using observe::SeatKind;
using observe::show;
using window::asleep_hungry;
using window::core_lent;
using base::CpuMask;
using base::CpuSet;
using window::Home;
using window::rank_blocked;
using window::rank_computing;
using base::ticks;

// A worker does not look at MPI: everything that it sleeps for wakes it, except in a race that costs
// one nap.
constexpr uint64_t worker_nap_us = 20000;

unsigned Workers::beside_this_thread() const
{
    const window::Window& w = rank_.window;
    CpuSet own(w.mask_size());
    if (w.workers() == 0 || !own.read_own() || own.mask().count() != 1)
        return none;
    for (unsigned i = 0; i < w.workers(); i++) {
        const CpuMask its = w.mask(w.first_worker() + i);
        if (its.count() == 1 && its.common(own) == 1)
            return i;
    }
    return none;
}

volatile Flag* Workers::begin_visit(unsigned worker)
{
    Home& core = rank_.window.home(rank_.window.first_worker() + worker);
    // Full, before the look whether it computes or is lent. Pairs with help_own_rank(). If it is lent just now its
    // worker sees that within a quantum.
    Hardware::fetch_add_full(visitors_[worker], 1);
    if (Hardware::load_relaxed(core.state) == core_lent || Hardware::load_relaxed(core.occupancy) == rank_computing)
        Hardware::store_relaxed(core.recall, 1);
    return &visitors_[worker];
}

void Workers::end_visit(volatile Flag* visitors)
{
    Hardware::fetch_add_full(*visitors, Flag(-1));
    base::futex_wake(visitors);
}

// Others of the node are told that the core computes. It is no sleeper, which owners would ring.
void Workers::keep_off(Worker& worker)
{
    Lender& lender = worker.lender;
    lender.refuse(Refusal::core_taken, ticks());
    Hardware::store_relaxed(lender.home().occupancy, rank_computing);
    while (const Flag visitors = Hardware::load_acquire(worker.visitors)) {
        if (Hardware::load_acquire(stopping_))
            break;
        base::futex_wait(&worker.visitors, visitors, worker_nap_us);
    }
    Hardware::store_relaxed(lender.home().occupancy, rank_blocked);
}

void Workers::help_own_rank(Worker& worker, const Target& target)
{
    window::Lease lease;
    Lender& lender = worker.lender;
    Home& core = lender.home();
    Hardware::store_relaxed(core.recall, 0);
    // Full, and then the look whether the core is taken: who takes it looks at this after that (policy/cores/team.cpp,
    // begin_visit()).
    Hardware::store_full(core.occupancy, rank_computing);
    if (lender.is_taken() || Hardware::load_acquire(worker.visitors) || !lender.claim(target, lease)) {
        Hardware::store_relaxed(core.occupancy, rank_blocked);
        return;
    }
    const uint64_t now = ticks();
    lender.refuse(Refusal::kinds, now);
    show(lender.seat(), Seated::computing, now);
    lender.wake_others_for(target);
    const uint64_t chunks = loop::run_as_guest(lease, &core.recall, 0).chunks;
    observe::add(rank_.loops.board->process.worker_chunks, chunks);
    const uint64_t left = ticks();
    Hardware::store_relaxed(core.returned_at, left);
    show(lender.seat(), Seated::blocked, left);
    Hardware::store_release(core.occupancy, rank_blocked); // when it left. Pairs with policy/cores/team.cpp
    loop::rest_signals();
}

void Workers::idle(Lender& lender, uint64_t now, uint64_t idle_ticks)
{
    SpareTime* const spare = rank_.options.spare_time;
    const uint64_t due_at = spare ? spare->worker_step(now) : SpareTime::never;
    if (!lender.must_not_spin() && idle_ticks < rank_.times.yield_ticks) {
        for (int i = 0; i < 20; i++)
            base::cpu_relax();
        return;
    }
    lender.arm();
    lender.sleep(lender.us_until(due_at, now));
    if (lender.is_armed())
        lender.disarm();
}

// OpenMP's threads need the cores. Asks for lent ones, and ends the visits to our own regions.
void Workers::openmp_opens()
{
    for (auto& worker : workers_) {
        Home& core = worker->lender.home();
        if (Hardware::load_relaxed(core.state) == core_lent || Hardware::load_relaxed(core.occupancy) == rank_computing)
            Hardware::store_relaxed(core.recall, 1);
    }
}

void Workers::sleep_in_openmp()
{
    // Says that the rank's next region is to be shared: publishing it wakes us.
    window::Hunger& hunger = rank_.window.mine().hunger;
    if (Hardware::load_relaxed(hunger.hungry) == window::not_hungry)
        Hardware::store_relaxed(hunger.hungry, asleep_hungry);
    openmp::wait_for_regions();
}

void* Workers::run(void* worker)
{
    Worker& w = *static_cast<Worker*>(worker);
    w.all.live(w);
    return nullptr;
}

void Workers::live(Worker& worker)
{
    Lender& lender = worker.lender;
    loop::join(rank_.loops);
    Home& core = lender.home();
    pthread_setname_np(pthread_self(), "ws worker");
    watch_stack("worker", rank_.window.own_home().world_rank);
    loop::watch_thread(true);
    rank_.window.mask(Hardware::load_relaxed(lender.seat().core)).bind();
    own_seat = &lender.seat();
    observe::record_as(SeatKind::worker, Hardware::load_relaxed(own_seat->core));
    show(*own_seat, Seated::blocked, ticks());
    const unsigned me = rank_.window.me();
    uint64_t idle_since = ticks();
    while (!Hardware::load_acquire(stopping_)) {
        const bool openmp = !rank_.loops.check && openmp::regions_open();
        if (openmp && !lender.has_lease()) {
            sleep_in_openmp();
            idle_since = ticks();
            continue;
        }
        const bool visited = Hardware::load_acquire(worker.visitors) != 0;
        if (visited && !lender.has_lease()) {
            keep_off(worker);
            idle_since = ticks();
            continue;
        }
        if (lender.has_lease()) {
            if (openmp || visited)
                lender.resume(); // it was lent just before the region, or the visit, began
            if (lender.has_lease())
                lender.sleep_while_lent();
            idle_since = ticks();
            continue;
        }
        const uint64_t now = ticks();
        const auto hunger = now - idle_since < rank_.times.yield_ticks ? window::long_hungry : asleep_hungry;
        const Target target = rank_.lends() ? lender.choose(hunger, true) : Target();
        if (target && target.rank == me && !lender.is_taken())
            help_own_rank(worker, target);
        else if (target && target.rank != me && lender.core_is_free()) {
            Hardware::store_relaxed(core.recall, 0);
            lender.step_aside(target.rank);
            lender.lend(target);
        } else {
            observe::bump(lender.counters().refusals, bool(target));
            lender.refuse(target ? Refusal::core_taken : lender.why_none(), now);
            idle(lender, now, now - idle_since);
            continue;
        }
        idle_since = ticks();
    }
    lender.resume();
    while (lender.has_lease())
        lender.sleep_while_lent();
    loop::forget_thread();
    unwatch_stack();
}

void Workers::start()
{
    window::Window& w = rank_.window;
    visitors_ = std::make_unique<volatile Flag[]>(w.workers());
    workers_.reserve(w.workers()); // a worker whose thread runs must not be lost for lack of memory
    for (unsigned i = 0; i < w.workers(); i++) {
        auto worker = std::unique_ptr<Worker>(new Worker{*this, {}, visitors_[i], {}});
        observe::Seat& seat = rank_.loops.board->seat(1 + i);
        Hardware::store_relaxed(seat.kind, Flag(SeatKind::worker));
        worker->lender.start(rank_, w.first_worker() + i, seat, true, worker_nap_us);
        Hardware::store_relaxed(worker->lender.home().occupancy, rank_blocked);
        if (rank_.start_body_thread(worker->thread, w.mask(w.first_worker() + i), run, worker.get())) {
            observe::add(rank_.loops.board->process.guests_refused, 1);
            break;
        }
        workers_.push_back(std::move(worker));
    }
    if (!workers_.empty())
        openmp::watch(this);
}

void Workers::stop()
{
    openmp::stop_watching();
    Hardware::store_full(stopping_, 1);
    for (auto& worker : workers_) {
        Rank::ring(worker->lender.home()); // asleep or lent
        base::futex_wake(&worker->visitors); // or it keeps off
    }
    for (auto& worker : workers_)
        pthread_join(worker->thread, nullptr);
    workers_.clear();
}

} // namespace ws::lend
