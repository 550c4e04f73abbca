// SPDX-License-Identifier: MIT
//
// The MPI functions of the program on the board, and what the rank counted over time.
#pragma once

#include "observe/board.h"
#include "observe/moments.h"
#include <string>

namespace ws::observe {

// Before everything below: the board of this process.
void show_calls_on(Board& board);

// The row of the MPI function of that name; no_row if the name is null or there are too many functions. `name` must
// stay where it is. Any thread.
base::Flag call_row(const char* name);

// MPICH's hook, in a run with report or trace: the calling thread's outermost MPI call begins or ends.
void called(const char* name, int enter);
// In MPI so far, the home thread; the call under way included. Called by that thread.
uint64_t mpi_ticks_now();
// The part of it that is no counter's yet: of the calling thread's call that is under way at `now`.
uint64_t in_call_until(uint64_t now);

// In a run with report or trace: begins to keep what the rank counts over time, from the moment that it attached. The
// first moments are a millisecond apart.
void start_moments(double ticks_per_us);
// In a run with report or trace: begins to count the home thread's instructions and cycles outside of MPI, into the
// rows of phases. Called by that thread, outside of MPI calls. Returns why the kernel refuses that, or nothing.
std::string start_counting();

// The counters of the calling thread have changed, at `now`: of the home thread, a moment is kept if one is due. Off,
// or not due, it costs one comparison.
void note_moment(uint64_t now);
// How the rank spent its time until `end`; empty in other runs.
std::vector<TimeSlice> time_spent(uint64_t end);

} // namespace ws::observe
