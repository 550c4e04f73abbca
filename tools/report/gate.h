// SPDX-License-Identifier: MIT
//
// What decides whether a run passes: a condition on a figure, and the comparison with runs whose noise is known. Only
// arithmetic; main.cpp reads files and prints.
#pragma once

#include "observe/report.h"
#include <string>
#include <vector>

namespace ws::report {

// A figure of a report that can be judged.
struct Figure {
    std::string name; // as in JSON
    double value;
};
// The efficiencies, elapsed_s, speedup, and the totals.
std::vector<Figure> figures_of(const observe::Report& r);

// "parallel_efficiency < 0.9": the run fails if it is true.
struct Condition {
    std::string name;
    enum { below, at_most, above, at_least } relation;
    double limit;
};
// Throws std::invalid_argument with what is wrong, for people.
Condition parse_condition(const std::string& text);
bool holds(const Condition& c, double value);
const char* text_of(const Condition& c); // "<"

// "3%" or "0.03" as 0.03. Throws std::invalid_argument.
double parse_share(const std::string& text);

// The mean of a sample, and the standard deviation of its values; 0 for fewer than two.
struct Sample {
    size_t size;
    double mean, deviation;
};
Sample sample_of(const std::vector<double>& values);

// Returns the value that Student's t with `degrees` degrees of freedom exceeds with a probability of 5 %.
double student_95(size_t degrees);

// How much longer the runs `now` took than the baseline, as a part of the baseline's time. Runs that really take
// equally long seem slower by more than `noise` with a probability of at most 5 %. The noise follows from the deviation
// of the baseline, which therefore needs at least three runs.
struct Slower {
    double part, noise;
};
constexpr size_t least_baseline = 3;
Slower slower(const std::vector<double>& baseline, const std::vector<double>& now);

} // namespace ws::report
