// SPDX-License-Identifier: MIT
//
// What is shown, as lines of styled text: knows no terminal. (screen.h puts them on one.)
#pragma once

#include "sample.h"
#include <string>
#include <vector>

namespace ws::top {

enum class Style { plain, strong, dim, heading, computing, lent, waiting, borrowed, alert };

struct Piece {
    std::string text;
    Style style;
};

struct Line {
    std::vector<Piece> pieces;

    Line& add(const std::string& text, Style style = Style::plain);
    // Cuts the line or fills it with blanks; a cut one ends in '>'.
    void fit(unsigned width);
    unsigned width() const;
    std::string text() const;
};

// Characters, of valid UTF-8.
unsigned width_of(const std::string& text);

enum class Column { rank, state, computing, lent, waiting, borrowed, efficiency, steals, chunks };
constexpr int columns = 9;
const char* column_name(Column column);

// What the user has chosen to see.
struct View {
    Column sort = Column::rank;
    bool reverse = false;
    bool since_start = false; // shares since the job began, not since the last refresh
    bool summary = false;     // no row for each core
    bool paused = false, help = false;
    bool plain_list = false;  // all rows, no keys: for files
    uint64_t job = 0;         // 0: the first
    unsigned scroll = 0;      // rows; put right by lay_out()
    double interval = 1;
    std::string message;      // in place of the keys
};

// The job that the view shows: its place in `jobs`.
size_t shown_job(const std::vector<JobSample>& jobs, const View& view);

// The whole screen: `height` lines at most, each of `width` at most.
std::vector<Line> lay_out(const std::vector<JobSample>& jobs, View& view, unsigned width, unsigned height);

// A job, whole, for a file.
std::vector<Line> list(const JobSample& job, const View& view, unsigned width);

// Intervals that + and - step through.
double next_interval(double interval, bool longer);

std::string duration(double seconds); // 340us, 12.3ms, 4.5s, 3:07, 2:03:07

} // namespace ws::top
