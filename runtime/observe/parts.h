// SPDX-License-Identifier: MIT
//
// What the report says in every format, computed once: the tree of efficiencies, what time was spent on, why a loop was
// not helped more, and what differs between runs. Only arithmetic; report_text.cpp, report_html.cpp and tools/report
// present it.
#pragma once

#include "observe/report.h"
#include <string>
#include <vector>

namespace ws::observe {

struct TimePart {
    const char* name; // for JSON
    const char* text;
    double seconds, times; // times: how often; below 0: not counted
};

// What became of blocked_s, the time that ranks waited in MPI: won back, handed over, lost by the reasons of Refusal in
// their order, and spun. The parts add up to it.
std::vector<TimePart> waiting_parts(const RankCounts& c);

// What became of wall_s: computing, waiting for helpers, in MPI without a wait, and the parts of waiting. The parts add
// up to it.
std::vector<TimePart> time_parts(const RankCounts& c);

// What follows from the processor's counters. They count a rank's own thread; the instructions that other cores ran for
// it are taken to have been as many per second.
struct Counters {
    double instructions; // of all that was computed
    double per_cycle, hertz;
};
// All 0 if nothing was counted.
Counters counters_of(const RankCounts& c);

// Returns the useful time of all cores.
double useful_s(const Report& r);

// Returns the part of the ranks' cores that is left if threads are idle while a rank computes outside of parallel
// regions; 1 with one thread per rank, or if regions were not counted.
double serialisation_efficiency(const Report& r);

// A figure of several runs.
struct Compared {
    enum Kind { time, share, count } kind;
    std::string text;
    unsigned depth; // in the tree of efficiencies, else 0
    std::vector<double> values;
};
// Beside figures of each run: the computation scaling of POP, with the first run as its reference, and what it is the
// product of if all runs have counters: instructions, instructions per cycle and frequency.
std::vector<Compared> compare(const std::vector<const Report*>& runs);

// A loop of several runs: the time of owners and helpers, and the part of the iterations that helpers ran.
struct ComparedLoop {
    std::string name;
    std::vector<double> seconds, stolen;
};
// The one that takes most time in all runs together first.
std::vector<ComparedLoop> compare_loops(const std::vector<const Report*>& runs);

} // namespace ws::observe
