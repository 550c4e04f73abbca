// SPDX-License-Identifier: MIT
//
// The rank's own thread: what it does while it is blocked in MPI.
#pragma once

#include "lend/lender.h"
#include "lend/other_threads.h"

namespace ws::lend {

// When a waiting thread offers its core to others of the system by sched_yield(). What comes for it meanwhile waits for
// the end of that call, which takes from some 0.2 to 2 us. So where nobody took the core the next one is due when eight
// times as long has passed. Ticks.
class Yields {
public:
    bool are_due(uint64_t now) const { return now >= at_; }
    // One took less than `short_ones`: nobody had the core.
    void took(uint64_t begin, uint64_t end, uint64_t short_ones)
    {
        at_ = end - begin < short_ones ? end + 8 * (end - begin) : end;
    }

private:
    uint64_t at_ = 0;
};

class HomeThread {
public:
    explicit HomeThread(Rank& rank) : rank_(rank), others_(rank) {}

    // Rank::start() and Rank::stop() call these.
    void start();
    void stop();
    // Rank::let_lend() calls it, in no wait.
    void let_lend(bool on);

    // MPICH's hooks, see Rank.
    void blocked(unsigned polls);
    void unblocked();
    void polled();
    void has_waited(uint64_t began);

    bool had_neighbours() const { return lender_.had_neighbours(); }

    // Whether the calling thread may begin a wait outside of MPI: it is the rank's own, in no iteration, not in MPI,
    // and in no such wait.
    bool may_be_stood_in_for() const;
    // Used by who has the seat: this thread, or its stand-in while that is there (stand_in.h).
    Lender& lender() { return lender_; }

private:
    // Another thread of the program waits, or a loop's body does: the core must not be lent then.
    bool is_another() const;
    bool last_poll_was_dry();
    base::Flag own_call_row() const;
    void another_blocked(unsigned polls);
    void blocked_in_region(unsigned polls);
    void turn(unsigned polls);
    void look(unsigned polls);
    bool look_at_served(uint64_t now);
    bool has_just_served(uint64_t now) const;
    void arm();
    void begin_wait(uint64_t now);
    void count_wait(base::Flag call, uint64_t took, uint64_t lent);
    uint64_t end_wait();
    void carry_lag(uint64_t now, uint64_t waited);
    bool gave_step(uint64_t now, bool idle);
    void yield(uint64_t now);
    void idle(uint64_t now);
    void waits_long(uint64_t now);
    void show_call(const char* name);

    // After which of a wait's polls it looks at the clock, and for work. Armed or lent: after each. Before the spin is
    // over: 0.2 us lie between two looks, or eight over a network whose polls take a microsecond. A rank that answers
    // one-sided calls has the next one to answer first.
    enum LookMask : unsigned { every = 0, fourth = 3, eighth = 7, thirty_second = 31 };

    Rank& rank_;
    OtherThreads others_;
    Lender lender_;
    SpareTime* spare_ = nullptr;
    bool active_ = false;
    LookMask look_mask_ = every;
    bool is_blocked_ = false;      // this wait is longer than the spin
    // the last wait was long: the next will most likely be, so it is not worth spinning first
    bool waits_are_long_ = false;
    bool was_taken_ = false;       // in this wait: by a parallel region of another rank
    bool helps_nobody_ = false;    // by its score, or by let_lend()
    bool lends_ = true;            // by let_lend()
    unsigned seen_events_ = 0;     // LendOptions::events when it armed
    uint64_t wait_began_ = 0;      // ticks
    uint64_t waited_until_ = 0;    // ticks: of a wait that may turn out short; 0: in none
    uint64_t idle_since_ = 0;      // ticks: since when there is nothing to help with, nor anything to do for MPI
    Yields yields_;
    uint64_t little_until_ = 0;    // ticks: until then there is only work that is not worth a hand-over
    uint64_t served_at_ = 0;       // ticks: MPI handled something in this wait that did not end it; 0: nothing
    unsigned served_events_ = 0;   // LendOptions::events then
    uint64_t looked_at_peers_ = 0; // ticks
    bool shows_call_ = false;      // in window::Whereabouts
    uint64_t region_wait_began_ = 0; // ticks: the last wait in an iteration
    bool said_of_wait_ = false;      // a note of such a wait was printed
    base::Flag wait_call_ = 0;   // row of the call that it waits in
    uint64_t lent_before_ = 0, slept_before_ = 0; // lent_ticks and naps_ticks when the wait began
};

} // namespace ws::lend
