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
// All 0 if nothing was counted. `c` is of a rank, a phase, or a sum over several.
template <class Counts> Counters counters_of(const Counts& c)
{
    if (!(c.counted_s > 0) || !(c.cycles > 0))
        return {0, 0, 0};
    return {c.instructions / c.counted_s * (c.computing_s + c.borrowed_s), c.instructions / c.cycles,
            c.cycles / c.counted_s};
}

// Returns the useful time of all cores.
double useful_s(const Report& r);

// How much of the time of the ranks' threads is useful. Each level takes one kind of loss away, as DLB's TALP defines
// them, and `parallel` is the product of the others.
struct OpenMPEfficiency {
    double parallel;
    double serialisation; // lost: threads that are idle while a rank computes outside of parallel regions
    double load_balance;  // lost: threads that wait inside regions for the one with most work
    double scheduling;    // lost: all threads of a region, while it begins, gives out work and ends
};
// All 1 with one thread per rank, or if regions were not counted. Without times of the regions' threads, only
// serialisation is known, and the others are 1.
OpenMPEfficiency openmp_efficiency(const Report& r);
// The levels in their order, `parallel` first.
struct OpenMPLevel {
    const char *name, *text;
    double OpenMPEfficiency::*value;
};
constexpr OpenMPLevel openmp_levels[] = {
    {"parallel_efficiency", "OpenMP parallel efficiency", &OpenMPEfficiency::parallel},
    {"serialisation_efficiency", "serialisation: threads idle outside regions", &OpenMPEfficiency::serialisation},
    {"load_balance", "load balance inside regions", &OpenMPEfficiency::load_balance},
    {"scheduling_efficiency", "scheduling: beginning, giving out work, ending", &OpenMPEfficiency::scheduling},
};

// A figure of several runs.
struct Compared {
    enum ValueKind { time, share, count } kind;
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
