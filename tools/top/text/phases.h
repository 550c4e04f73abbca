// SPDX-License-Identifier: MIT
//
// A row for each phase of the program, the one with the most time first.
#pragma once

#include "line.h"
#include "sample.h"
#include "view.h"

namespace ws::top {

// At most `most` lines, the heading among them; none where that leaves no row, or if the program has no phases.
std::vector<Line> phase_lines(const JobSample& job, size_t most, const View& view, unsigned width);

} // namespace ws::top
