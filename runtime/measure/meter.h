// SPDX-License-Identifier: MIT
//
// Measures what this rank's own work costs and keeps its row in the window (window/load_row.h) true.
//
// The row is written where a wait begins and where it ends, and when a loop that guests helped with is over. A rank
// that never waits, the slowest of its node, writes it rarely: a reader brings it to its own time (Load::brought_to()).
#pragma once

#include "measure/kept_off.h"
#include "measure/period.h"
#include "base/atomics.h"
#include "window/load_row.h"

#include <pthread.h>

namespace ws::measure {

class Meter {
public:
    // From `now` on, for the calling thread, the home thread. Without a row the sums are kept for this process alone.
    void start(window::LoadRow* row, uint64_t now, double ticks_per_us);
    // In a child of fork(), which is no rank: the row is its parent's.
    void leave() { row_ = &own_row_; }

    // ---- the home thread
    void wait_begins(uint64_t at);
    // `asleep`: the part of the wait in which the thread did not want to run.
    void wait_ends(uint64_t at, uint64_t asleep);
    // Waits in the middle of work: those too short for wait_begins() and wait_ends(), and those for guests.
    void waited_within(uint64_t ticks) { within_ += ticks; }
    // Brings the row up to now, in the middle of work.
    void bring_up(uint64_t now);
    // Cores that others lent to its parallel regions did what its own would have done in so long.
    void helped(uint64_t ticks) { helped_ += ticks; }
    uint64_t helped() const { return helped_; }
    // What it has spent until now, that help included, outside of waits; writes nothing.
    Spent spent(uint64_t now) const
    {
        const uint64_t passed = now > last_ ? now - last_ : 0, within = within_ < passed ? within_ : passed;
        return {now, worked_ + passed - within + base::load_relaxed(borrowed_) + helped_, waited_ + within};
    }
    // An MPI call of the program begins (Periods).
    void called(uint32_t about, uint32_t place, uint64_t now);
    uint64_t turns() const { return turns_; }
    uint64_t period() const { return period_; } // ticks of the last one; 0: none is known
    const Periods* periods() const { return periods_; } // null: no call has been told of

    // ---- a guest or a worker: its part in a region of this rank, of `busy` ticks
    void visit_begins(uint64_t at);
    void visit_ends(uint64_t at, uint64_t busy);

    // ---- any thread of this process
    window::Load load(uint64_t now);
    // Whether others were seen to keep a thread that works for this rank from its core, in times that end after `at`.
    // It is seen some milliseconds late (times::kept_off_us).
    bool disturbed_since(uint64_t at) const { return base::load_relaxed(disturbed_at_) > at; }

private:
    void work_until(uint64_t at);
    void settle(uint64_t at);
    void add_borrowed(uint64_t ticks);
    uint64_t note_kept_off(uint64_t ticks, uint64_t at);
    void write(uint64_t at, bool waits);

    window::LoadRow own_row_ = {};
    window::LoadRow* row_ = &own_row_;
    pthread_t home_ = {};
    bool started_ = false, waits_ = false;
    uint64_t last_ = 0;   // ticks: until then all is in the sums
    uint64_t worked_ = 0, waited_ = 0, within_ = 0, kept_ = 0, period_ = 0, turns_ = 0, helped_ = 0;
    Periods* periods_ = nullptr; // as long as the process: a thread may be in called() at its end
    KeptOff kept_off_;
    double ticks_per_us_ = 0;
    uint64_t disturbed_at_ = 0; // ticks; of any thread, relaxed: a hint
    alignas(64) uint64_t borrowed_ = 0; // by guests and workers: a line of its own
};

} // namespace ws::measure
