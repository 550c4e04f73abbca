// SPDX-License-Identifier: MIT
//
// What to change about a job, computed from the reports of one to three runs of it: arithmetic alone. advise.cpp reads
// the files and prints. What is assumed, and why: docs/about/estimate.md, "Advice".
#pragma once

#include "observe/report.h"
#include <optional>
#include <string>
#include <vector>

namespace doctor {

using ws::observe::Report;

// How many times as fast the job would be as the run that an advice is about.
struct Gain {
    double low, expected, high;
};

// Advice is given only if even its lower bound is worth a change of the command: a gain of 2 %.
constexpr double least_gain = 1.02;

struct Advice {
    const char* kind; // for JSON
    size_t run;       // that the gain is compared with
    std::string what;
    Gain gain;
    bool measured = false; // the gain is that of one run over another
    std::string basis, assumes = {};
    std::vector<std::string> commands = {};
};

// A loop that was not shared well, and what to change in the source.
struct LoopAdvice {
    std::string loop;
    double part; // of the time in all loops
    ws::observe::LoopCause cause;
    double most_speedup; // of the job, if all waiting that this loop can explain were used
};

struct NotAdvised {
    const char* kind;
    std::string what, why;
};

// What the runs do not tell, and a command whose report would; empty if there is none.
struct Unknown {
    std::string about, because, command = {};
};

// How the time follows from ranks and threads:
//
//    elapsed = (outside + in regions) / (1 - part that waits)
//    outside = serial + work / ranks; in regions = serial + work / (ranks * threads); the part that waits = a + b
//    log2(ranks)
//
// The parameters follow from the runs by least squares. With three runs, each is predicted from the other two; the
// largest difference is the error.
struct Model {
    bool by_ranks, by_cores; // whether the runs differ in these, so that others can be predicted
    std::optional<double> error;
    double outside[2], regions[2], waiting[2];

    double elapsed_s(double ranks, double threads) const;
};

struct Counsel {
    std::vector<Advice> advice; // what gains most first
    std::vector<LoopAdvice> loops;
    std::vector<NotAdvised> not_advised;
    std::vector<Unknown> unknown;
    std::optional<Model> model;
};

// Returns why nothing can follow from a report, or nothing.
std::string why_useless(const Report& r);
// `runs`: one to three, none useless. Throws std::runtime_error, one line for the user, if they are of different
// programs.
Counsel advise(const std::vector<Report>& runs);

double threads_of(const Report& r); // per rank
std::string shape_text(double ranks, double threads); // "2 ranks x 4 threads"
std::string program_name(const Report& r);            // without its folder

} // namespace doctor
