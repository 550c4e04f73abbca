// SPDX-License-Identifier: MIT
//
// What is shown, as lines of styled text: knows no terminal. (screen.h puts them on one.)
#pragma once

#include "sample.h"
#include "text/line.h"
#include "text/view.h"
#include "text/words.h"
#include <string>
#include <vector>

namespace ws::top {

// The job that the view shows: its place in `jobs`.
size_t shown_job(const std::vector<JobSample>& jobs, const View& view);

// The whole screen: `height` lines at most, each of `width` at most.
std::vector<Line> lay_out(const std::vector<JobSample>& jobs, View& view, unsigned width, unsigned height);

// A job, whole, for a file.
std::vector<Line> list(const JobSample& job, const View& view, unsigned width);

// Intervals that + and - step through.
double next_interval(double interval, bool longer);

} // namespace ws::top
