// SPDX-License-Identifier: MIT
//
// One execution of a shared region: its virtual threads. Each is run once, as a call of the region's function with a
// thread number of its own, by whoever takes its chunk of the loop over them: the rank's own threads and guests.
//
// They run on stacks that are not their thread's (fiber.h), one after the other on the same one, until one of them
// stops at a barrier and keeps it. When all have come there the next phase begins: one more loop over them. So who
// comes late helps from the next phase on, and a virtual thread may go on on another thread than it began on.
//
// Where they wait for each other in another way (spinning, noticed by the watchdog; an order of iterations) every one
// that does not run gets a thread of its own: then all of them run at once, as OpenMP's do.
#pragma once

#include "directive/openmp.h"
#include "openmp/deal.h"
#include "openmp/on_demand.h"
#include "openmp/site.h"
#include "openmp/unit.h"

#include <mutex>
#include <pthread.h>

namespace ws::openmp {

using directive::RegionCall;

struct Series;

class VirtualTeam {
public:
    // `told`: so many threads the program may tell apart in it. `at_once`: so many may wait for each other, as OpenMP
    // would run them at once; so no call of the region's function may be several virtual threads. 0: none do.
    VirtualTeam(RegionSite& site, const RegionCall& region, unsigned units, unsigned told, unsigned at_once);
    ~VirtualTeam(); // waits for the threads that it has begun
    VirtualTeam(const VirtualTeam&) = delete;

    // The part of a participant in the loop over the virtual threads: takes chunks until there are none. For
    // ws_parallel_loop(); `team` is a VirtualTeam.
    static void take_part(void* team);
    // By who opened it, when such a loop is over: the site of the next phase's loop, or null: the region is over.
    ws_site* next_phase();

    // A virtual thread waits for all others: it may return on another thread. `caller`: where in the program.
    void barrier(Unit& unit, const void* caller);
    // One does what needs all of them at once: from now on the site is OpenMP's.
    void begin_all(const char* why);
    // Whether the next single construct is this virtual thread's: the first one to come runs it, as in OpenMP, since
    // that of an earlier one, and any other, may wait in its own for what is done there.
    bool takes_single(Unit& unit);
    // Memory that the n-th call of a virtual thread's shares with the n-th one of all others, zero at first; for as
    // long as the region lasts.
    void* common(Unit& unit, size_t bytes);
    // It comes to a call that no watched execution had made. Those that need OpenMP's own team end the job.
    void meet_other(const char* name);
    // A loop of n iterations whose order matters: its pieces (pieces_of_loop()) are run one after the other, in the
    // order of the iterations. So nobody in them waits for an earlier one.
    void begin_in_turn(Unit& unit, uint64_t n, uint64_t chunk);
    // Waits until all iterations before the unit's next piece are over. False: it has no more.
    bool next_in_turn(Unit& unit, Part& piece);
    // Whether the chunks of a loop that is dealt so are claimed one by one; then its begin, and the next ones.
    bool claims(directive::Deal deal) const { return at_once && deal >= directive::Deal::on_demand; }
    // Whether it is long enough that the last chunks to be taken should be short ones.
    bool minds_order() const;
    void begin_on_demand(Unit& unit, uint64_t n, uint64_t chunk, directive::Deal deal);
    bool next_on_demand(Unit& unit, Part& piece);
    // A loop of n iterations that is dealt so, whichever way its pieces come.
    void begin_loop(Unit& unit, uint64_t n, uint64_t chunk, directive::Deal deal)
    {
        if (WS_UNLIKELY(claims(deal)))
            begin_on_demand(unit, n, chunk, deal);
        else
            unit.has_rounds(n, deal == directive::Deal::round_robin ? rounds_of_loop(n, chunk, unit.units)
                                                                    : one_round(n, chunk, unit.units));
    }
    // The number by which the program may know a thread that it did not ask for before: below `told`, and nobody else's
    // at the time.
    unsigned slot(Unit& unit);

    // For copyprivate.
    void* volatile copied = nullptr;

    RegionSite& site;
    const RegionCall& region;
    const unsigned units, told, at_once;
    uint64_t opened_at = 0; // ticks; 0: not registered with the watchdog
    uint64_t on_demand_progress() const
    {
        const OnDemandLoops* const loops = window::load_acquire(on_demand_); // pairs with begin_on_demand()
        return loops ? loops->progress() : 0;
    }
    uint64_t progress() const
    {
        return uint64_t(Hardware::load_relaxed(phase_)) * (most_units + 1) + ended() +
               (on_demand_progress() << 32);
    }
    // The watchdog's.
    VirtualTeam *next = nullptr, *previous = nullptr;
    uint64_t seen_progress = 0, seen_at = 0;
    double seen_used = 0; // seconds of the process's processor time

private:
    friend Series;
    void run(unsigned lo, unsigned hi, Fiber*& spare, int level);
    uint64_t claim(unsigned word, uint64_t wanted);
    void call_all(int level);
    bool may_be_whole() const;
    bool has_ranges() const;
    void begin(Unit& unit, const Units& units, Fiber* fiber);
    void end(Unit& unit);
    void play(const Units& those, Fiber*& spare, int level, Series* series);
    static void run_units(void* fiber);
    void count_ended(unsigned lo, unsigned count);
    void begin_thread(unsigned lo, unsigned hi);
    void begin_threads(unsigned word, uint64_t claimed);
    void begin_rest();
    void wait_for_threads();
    void join_threads();
    unsigned stopped() const;
    void hold(Unit& unit, const char* why);
    static void* thread(void*);

    static constexpr unsigned words = most_units / 64;
    // Of this phase, a bit for each virtual thread: those that have begun it, and those that have stopped at its end;
    // and how many of these have stopped or ended, or have nothing to do in it. Owner and guests mostly have those of
    // different words, so each word has a cache line of its own.
    struct alignas(64) Sixty4 {
        volatile Hardware::Word begun = 0, stopped = 0, ended = 0;
    } those_[words];
    uint64_t ended() const // of all; who has just counted his own sees those that were counted before
    {
        uint64_t all = 0;
        for (const Sixty4& some : those_)
            all += Hardware::load_acquire(some.ended); // pairs with count_ended()
        return all;
    }
    void set_ended(uint64_t all) // by who begins a phase, while nobody counts
    {
        for (Sixty4& some : those_)
            Hardware::store_relaxed(some.ended, &some == those_ ? all : 0);
    }
    volatile Flag phase_ = 0;
    Phase* volatile next_ = nullptr; // what follows it
    Fiber* waiting_[most_units]; // those that have stopped, by their first number
    volatile Flag registered_ = 0;
    volatile Flag all_begun_ = 0;
    volatile Flag slots_ = 0;
    volatile Flag singles_ = 0; // that have been taken
    OnDemandLoops* volatile on_demand_ = nullptr; // cold()'s, where there is one
    bool whole_ = false; // one call runs all
    pthread_t owner_;
    std::mutex beginning_; // begin_all(), and the begin of a phase
    // Cold: of threads of its own, and barriers.
    struct Cold;
    Cold* volatile cold_ = nullptr;
    Cold& cold();
    void release_if_stopped(Cold& c);
    template <class F> void with_turns(unsigned loop, F f);
};

// The program has set an allocator of its own for its threads. Any thread.
bool allocator_is_set();

// A target region that runs here is open, or a teams construct, by any thread.
bool in_target_or_teams();

// The watchdog's list. Any thread.
void watch_over(VirtualTeam& team);
void watch_no_more(VirtualTeam& team);

} // namespace ws::openmp
