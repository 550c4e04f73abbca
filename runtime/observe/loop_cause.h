// SPDX-License-Identifier: MIT
//
// Why a loop was not helped more, for the summary (verdict.cpp) and for each loop of a report.
#pragma once

#include "base/times.h"
#include "observe/report.h"

namespace ws::observe {

double per_run(const LoopFigures& l, double x);
double time_of(const LoopFigures& l); // owners' and helpers'

// Whether OpenMP tasks were put in most executions of the loop, a parallel region's.
bool has_tasks(const LoopFigures& l);

// Returns the time per execution of the kind of execution, cut or whole, in which most of the loop's time was spent: a
// thousand short ones do not make a long one short. Guests help with long ones only.
double usual_run(const LoopFigures& l);
// A sleeping rank is not woken for less.
constexpr double short_run_s = 1e-6 * base::times::publish_asleep_us;
bool is_short(const LoopFigures& l);

// Whether the longest chunk is a large part of an execution, on a node with `cores` cores. A thief cannot take a part
// of a chunk, so an execution lasts at least as long as its longest chunk. Only the longest chunk of all executions is
// known. If others had the CPU meanwhile, or the data was cold, one chunk in thousands was long, and `waited` is small
// compared with such a chunk in each execution.
bool is_coarse(const LoopFigures& l, double cores, double waited);

// Returns why the chunks of such a loop are long: `coarse` or `long_chunk`.
LoopCause why_coarse(const LoopFigures& l);

// The cause of a loop on nodes with `cores` cores.
LoopCause loop_cause(const LoopFigures& l, double cores);

} // namespace ws::observe
