// SPDX-License-Identifier: MIT
//
// Runs of many commits: the figures of each commit, how much they vary by chance, and where they changed. Only
// arithmetic; history_page.cpp shows it.
#pragma once

#include "observe/report.h"
#include <string>
#include <vector>

namespace ws::report {

// A run of a commit, and the file that it was read from.
struct Run {
    std::string commit, file;
    observe::Report report;
};

// A figure that a history follows.
struct Followed {
    const char *name, *text;
    bool is_time, less_is_better;
    double (*of)(const observe::Report&);
};
extern const std::vector<Followed> followed; // the first is the elapsed time

// The runs of one commit; values in the order of `runs`.
struct Commit {
    std::string name;
    int64_t started_unix_ns; // the earliest run's
    std::vector<const Run*> runs;
};

// A figure became another at a commit. Medians of the commits from the change before to the one after it.
struct Change {
    size_t commit; // the first with the new value
    double before, after;
};

struct Curve {
    const Followed* figure;
    std::vector<double> medians;              // of each commit's runs
    std::vector<std::vector<double>> values;  // of its runs
    double noise; // standard deviation of a commit's median
    std::vector<Change> changes;
    std::vector<double> levels; // of each commit: the median between the changes around it
};

// Runs of the same program on as many ranks and nodes.
struct Experiment {
    std::string program;
    double ranks, nodes;
    std::vector<Commit> commits; // the earliest first
    std::vector<Curve> curves;   // in the order of `followed`
};
std::vector<Experiment> experiments_of(const std::vector<Run>& runs);

double median(std::vector<double> values);

// How much the medians vary without a change. From the deviation of runs of one commit, if there are enough, and from
// the differences between neighbours, whichever is more: a machine varies more from day to day than within an hour.
// Half of these differences may be changes.
double noise_of(const std::vector<std::vector<double>>& values);

// Returns the first commits with new values. `noise`: of a median. A change is five
// standard deviations of the difference or more, and a hundredth of the value or more; two commits or more have each
// value. Curves without a change show one in at most 2 % of all cases (history_test.cpp), as the noise is an estimate.
std::vector<size_t> changes_in(const std::vector<double>& medians, double noise);

} // namespace ws::report
