// SPDX-License-Identifier: MIT
//
// A job in a few lines, and how many of its ranks do what.
#pragma once

#include "line.h"
#include "sample.h"
#include "view.h"

namespace ws::top {

std::vector<Line> head(const JobSample& job, const View& view, unsigned width);
std::vector<Line> summary(const JobSample& job);

} // namespace ws::top
