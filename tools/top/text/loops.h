// SPDX-License-Identifier: MIT
//
// A row for each loop, those with the most work first.
#pragma once

#include "line.h"
#include "sample.h"
#include "view.h"

namespace ws::top {

// At most `most` lines, the heading among them; none where that leaves no row.
std::vector<Line> loop_lines(const JobSample& job, size_t most, const View& view, unsigned width);

} // namespace ws::top
