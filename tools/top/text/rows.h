// SPDX-License-Identifier: MIT
//
// A row for each core of a rank, with the columns that fit.
#pragma once

#include "line.h"
#include "sample.h"
#include "view.h"

namespace ws::top {

struct CoreLine {
    const RankSample* rank;
    const CoreSample* core;
    size_t number; // of the worker, from 1
    bool home;
};

// In the order that the view asks for; a rank's workers follow it.
std::vector<CoreLine> rows_of(const JobSample& job, const View& view);

// The columns that fit, from the most to the least important; the state takes what is left.
struct Layout {
    unsigned rank = 5, state = 12, bar = 0, borrowed_bar = 0;
    bool tasks = false, efficiency = false, shares = false, steals = false, chunks = false, pid = false;
};

Layout fit_columns(unsigned width, const JobSample& job);
Line heading(const Layout& layout, const View& view);
// `most_borrowed`: what the bar of borrowed time is full at.
Line core_line(const CoreLine& row, const Layout& layout, const View& view, double most_borrowed);
double most_borrowed(const JobSample& job, const View& view);

// How a time was spent, in `width` characters.
void bar(Line& line, const Shares& shares, unsigned width);

} // namespace ws::top
