// SPDX-License-Identifier: MIT
//
// The phases of the program on the board: which are open, and what was counted in each. A phase is a path of names:
// "solve" inside "step" is another than "solve" alone. MPI_Pcontrol's levels are phases, too: level 2 is called
// "phase 2", and level 1, its default, is none.
//
// Beginning and ending a phase take the same time however many there are: the difference of some counters to what they
// were is added to the row of the phase that was present until then. Measured by benchmarks/phase_cost.
//
// Phases are the rank's: only the thread that called MPI_Init begins and ends them. All of this is for that thread;
// calls of others are counted, and otherwise ignored.
#pragma once

#include "observe/board.h"

namespace ws::observe {

// What the rank had counted at a moment.
struct CountersAt {
    uint64_t at, mpi, blocked, lent, lag, borrowed, close_wait, loops, executions, executions_shared, executions_helped,
        iterations_stolen;
};
CountersAt counted_at(Board& board, uint64_t now);

// Phases within each other, the run included. Those that are deeper count as the last of these.
constexpr unsigned most_open_phases = 64;

// The rank attaches: the run begins, at the moment `now`. Before this, and after end_phases(), nothing below does
// anything.
void first_phase(Board& board, uint64_t now);
// The rank detaches: all that is counted until `now` is in the rows. Phases stay open, so that faults can be told.
void end_phases(uint64_t now);

// Return the row of the phase that begins or ends; no_row if none does, or if too many are open.
Flag begin_phase(const char* name);
Flag end_phase();
// MPICH's hook for MPI_Pcontrol. A level is a phase inside the named phase that is present: it ends at the latest with
// this one.
void phase_level(int level);

// Is told that the row of another phase is the present one; null: nobody is.
extern void (*phase_changed)(Flag row, uint64_t now);

// Brings the rows up to date while phases go on.
void settle_phases();

// Whether a row is of a phase of this name, and whether such a phase is open, at whatever depth.
bool is_called(const PhaseRow& row, const char* name);
bool is_open(const char* name);

// What the program did wrong; the names are of the first such phase, or empty.
struct PhaseFaults {
    uint64_t ends;           // of phases while none was open
    uint64_t other_threads;  // calls of threads that may not
    unsigned left_open;      // named phases that are open
    char ended_before[sizeof PhaseRow::name]; // the phase that had ended last when such an end came
    char called_with[sizeof PhaseRow::name];  // of another thread's call
    char open[sizeof PhaseRow::name];         // the innermost that is open
};
PhaseFaults phase_faults();

} // namespace ws::observe
