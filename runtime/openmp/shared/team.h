// SPDX-License-Identifier: MIT
//
// One execution of a shared region: its virtual threads, each with an identity of its own (fiber.h). The thread that
// opened the region and its helpers run them, each one after the other.
//
// The execution is a series of rounds. In a round each virtual thread that can go on has one turn: it runs until it
// ends, comes to a barrier, or is set aside, for others to have their turn. A round is one loop of ours over the
// virtual threads, which guests may join; its name is where the barrier before it is, so it learns by itself what it
// costs. When nobody is set aside any more, those at the barrier go on.
//
// Virtual threads may wait for each other in ways that libws does not see: by spinning, in MPI, by a lock that one
// holds over a barrier. The watchdog notices that within 10 ms. From then on each of them is run by its own parked
// thread, as an ordinary thread, and so are those of the site's later executions.
//
// Which thread may touch what:
//
//   runnable_, aside_, waiting_   atomic, any thread of the process; bits move under lock_ where `own_threads_` counts
//   due_, own_threads_            written under lock_
//   turns_                        atomic; the last one of a round by a parked thread wakes the opener
//   order_                        by the opener between rounds, which the loop's opening orders; inside: LongestFirst
//   next_, copied                 by virtual threads of one phase, and read in the next one: rounds are ordered
//   Cold                          its own lock
//
// The class is as large as what a virtual thread can ask of its team: barriers, singles, three kinds of loops. They
// share the rounds and the words above.
#pragma once

#include "openmp/library/regions.h"
#include "openmp/shared/distribution.h"
#include "openmp/shared/fiber.h"
#include "openmp/shared/on_demand.h"
#include "openmp/shared/site.h"
#include "openmp/shared/unit.h"
#include "base/spin_lock.h"

#include <memory>
#include <mutex>
#include <vector>

namespace ws::openmp {


class VirtualTeam {
public:
    // `crew`: the calling thread's, which has that many virtual threads. `outer`: that in which the region is opened;
    // null: none.
    VirtualTeam(RegionSite& site, const RegionCall& region, FiberCrew& crew, unsigned units, Unit* outer,
                const Settings& settings);
    ~VirtualTeam();
    VirtualTeam(const VirtualTeam&) = delete;

    // From begin to end, by the thread that opened the region.
    void run();

    // The rest is called by its virtual threads.
    // Waits for all others. `caller`: where in the program.
    void barrier(Unit& unit, const void* caller);
    // Lets the others have a turn.
    void set_aside(Unit& unit);
    // Whether the next single construct is this virtual thread's: the first one to come runs it.
    bool takes_single(Unit& unit);
    // Memory that the n-th call of a virtual thread's shares with the n-th one of all others, zero at first; for as
    // long as the region lasts.
    void* common(Unit& unit, size_t bytes);
    // A loop of n iterations whose order matters: its pieces (pieces_of_loop()) are run one after the other, in the
    // order of the iterations. So nobody in them waits for an earlier one.
    void begin_in_turn(Unit& unit, uint64_t n, uint64_t chunk);
    // Waits until all iterations before the unit's next piece are over. False: it has no more.
    bool next_in_turn(Unit& unit, IterationRange& piece);
    void begin_on_demand(Unit& unit, uint64_t n, uint64_t chunk, Distribution distribution);
    bool next_on_demand(Unit& unit, IterationRange& piece);
    // Begins a loop of n iterations that is distributed in this way, whichever way its pieces come.
    void begin_loop(Unit& unit, uint64_t n, uint64_t chunk, Distribution distribution)
    {
        if (distribution >= Distribution::on_demand)
            begin_on_demand(unit, n, chunk, distribution);
        else
            unit.has_rounds(n, distribution == Distribution::round_robin ? rounds_of_loop(n, chunk, unit.units)
                                                                    : one_round(n, chunk, unit.units));
    }

    // A virtual thread puts a task, and runs it at once.
    void note_task()
    {
        if (!Hardware::load_relaxed(puts_tasks_)) // relaxed: the opener reads it when the round is over
            Hardware::store_relaxed(puts_tasks_, 1);
    }

    void* volatile copied = nullptr; // for copyprivate
    FiberCrew& crew() const { return crew_; }

    RegionSite& site;
    const RegionCall& region;
    const unsigned units;

    // The watchdog's. Another number than before: something has happened.
    uint64_t progress() const;
    // Whether one of its virtual threads can go on while nobody runs it.
    bool has_idle() const;
    // One waits in MPI.
    bool waits_in_mpi() const;
    // From now on they are run by their own threads.
    void give_threads(const char* why);
    // Kernel's numbers of the threads that run a virtual thread now; returns how many, at most `most`.
    unsigned runners(int* numbers, unsigned most) const;

private:
    static constexpr unsigned words = FiberCrew::most / 64;
    using Bits = volatile Hardware::Word;
    static void begin_unit(Fiber& fiber);
    static void take_part(void* team);
    void run_round(ws_site* loop);
    void run_own_threads();
    bool take(unsigned number);
    unsigned take_any(unsigned number);
    unsigned take_longest();
    static bool has_some(const Bits* bits);
    void play(unsigned number, loop::Participant* carrier);
    static void play_natively(void* fiber);
    static void play_zero(void* team);
    bool hands_over(unsigned number);
    bool takes_up_zero();
    void wait_on_own_thread(unsigned turn, Flag seen);
    void wake_own_threads();
    void end_turn(unsigned number, Fiber::Outcome how);
    bool next_round(ws_site*& loop);
    void wake_all(unsigned word, Hardware::Word those);

    FiberCrew& crew_;
    Unit* const outer_;
    const bool is_private_; // nobody else is to help: it is opened in a loop of ours, or in a virtual thread
    const Settings settings_;
    const uintptr_t opener_;
    const uintptr_t allocator_; // which its threads inherit; 0: nobody has set one
    alignas(64) Bits runnable_[words] = {};
    Bits aside_[words] = {}, waiting_[words] = {};
    alignas(64) volatile Hardware::Word turns_ = 0; // that have ended in this round
    volatile Hardware::Word due_ = 0;               // in this round
    volatile Hardware::Word round_ = 0;
    volatile Flag sleeps_ = 0; // what the opener, and who waits in an ordered loop, sleep on while parked threads run
    volatile Flag own_threads_ = 0;
    volatile Flag zero_elsewhere_ = 0; // number 0 runs on another thread than the opener's
    base::SpinLock lock_;
    ws_site* volatile next_ = nullptr; // after the barrier
    LongestFirst* order_ = nullptr;    // of this round; null: too short to be worth it
    volatile Flag singles_ = 0; // that have been taken
    volatile Flag puts_tasks_ = 0; // in this round
    volatile Flag whole_ = 0;   // nobody is to help with this round
    static constexpr int fresh = -1; // it has had no turn
    volatile int runners_[FiberCrew::most]; // who runs each virtual thread; 0: nobody
    struct Cold {
        explicit Cold(unsigned units) : on_demand(units) {}
        const uint64_t began = base::ticks();
        OnDemandLoops on_demand;
        std::mutex lock;
        std::vector<std::unique_ptr<char[]>> commons;
        std::vector<uint64_t> over; // of each loop whose iterations have an order: those before this one
    };
    Cold* volatile cold_ = nullptr;
    Cold& cold();
};

// The calling thread is waiting in MPI, or no longer.
void note_mpi_wait(bool waits);

// Begins the watchdog's thread; false: the system refuses one. Any thread.
bool begin_watchdog();

} // namespace ws::openmp
