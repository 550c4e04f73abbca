// SPDX-License-Identifier: MIT
//
// What the ranks of a job did in each phase of the program, between two readings: plain arithmetic, as in sample.h.
#pragma once

#include "sample.h"

namespace ws::top {

// The one in which the ranks spent most of the interval comes first, the time in no phase among them. None if the
// program has no phases. `before` as for sample().
std::vector<PhaseSample> phases(const std::vector<Reading>& after, const std::map<int, Reading>& before);

} // namespace ws::top
