// SPDX-License-Identifier: MIT
//
// What other programs took of the CPUs that the ranks of a node compute on: all that the kernel counts there, less what
// the job used.
#pragma once

#include "base/cpus.h"

#include <vector>

namespace ws::measure {

// Seconds that each CPU has computed for programs since boot, by its number (/proc/stat: steps of 10 ms). Empty where
// the kernel does not say.
std::vector<double> cpu_seconds(const char* proc = "/proc");

// A rank's part, from the first look to the last.
struct Used {
    double cpu;     // the one that its home thread is bound to; -1: may use several
    double there;   // seconds of its own threads there, and of guests of the job to which it lent that CPU
    double process; // seconds of all of its threads
};

struct Others {
    double share = 0; // of the time: of `cpu`, or of all `cpus` of the node's ranks
    int cpu = -1;     // the one that others used most, if each rank has a CPU of its own
    unsigned cpus = 0;
};
// `seconds` passed between the looks; `cpus` are all that the node's ranks may use.
Others others(const std::vector<double>& first, const std::vector<double>& last, double seconds, base::CpuMask cpus,
              const std::vector<Used>& ranks);

} // namespace ws::measure
