// SPDX-License-Identifier: MIT
//
// What it costs to count instructions and cycles by phase: the runtime's own code, without MPI. Phases of several
// lengths begin one after the other; the time within ComputingCount is summed up. If the processor's counters are
// refused, the kernel's software events are read in their place, which takes as long as reading them by the kernel.
#include "base/os.h"
#include "observe/cpu_counters.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

using ws::base::Flag;
using ws::base::ticks;
using ws::observe::ComputingCount;
using ws::observe::CpuCount;
using ws::observe::CpuCounters;

uint64_t counted;
void add(Flag, uint64_t ticks, const CpuCount&) { counted += ticks; }

double ticks_per_ns()
{
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t first = ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const uint64_t last = ticks();
    return double(last - first) /
           std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

uint64_t reading_cost(const CpuCounters& counters)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        const uint64_t began = ticks();
        counters.read();
        least = std::min(least, ticks() - began);
    }
    return least;
}

struct Cost {
    double share, change_ns, counted; // of the time; for each change of the phase; part of the time
};

// Two phases of `length` ticks in turn, for `whole` ticks.
Cost cost_of(const CpuCounters& counters, uint64_t reading, uint64_t length, uint64_t whole, double per_ns)
{
    ComputingCount<CpuCounters> count;
    counted = 0;
    const uint64_t begin = ticks();
    count.start(counters, begin, reading, 0, 3, add);
    uint64_t inside = 0, changes = 0, now = begin;
    while (now - begin < whole) {
        const uint64_t next = now + length;
        while (ticks() < next) {
        }
        now = ticks();
        count.change(1 + Flag(changes++ % 2), now);
        inside += ticks() - now;
    }
    const double lasted = double(ticks() - begin);
    return {double(inside) / lasted, double(inside) / double(changes) / per_ns, double(counted) / lasted};
}

} // namespace

int main(int argc, char** argv)
{
    double seconds = 0.5;
    for (int i = 1; i < argc; i++)
        if (i + 1 < argc && !std::strcmp(argv[i], "--seconds") && std::atof(argv[i + 1]) > 0)
            seconds = std::atof(argv[++i]);
        else {
            std::fprintf(std::strcmp(argv[i], "--help") ? stderr : stdout,
                         "counter_cost: counting instructions and cycles by phase\n"
                         "  --seconds S  for each length of a phase (0.5)\n");
            return std::strcmp(argv[i], "--help") ? 2 : 0;
        }
    CpuCounters hardware, software;
    const std::string refused = hardware.open();
    if (!refused.empty()) {
        std::printf("software events in place of the processor's counters: %s\n", refused.c_str());
        const std::string also = software.open({PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
                                               {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK});
        if (!also.empty()) {
            std::printf("the kernel refuses these, too: %s\n", also.c_str());
            return 77;
        }
    }
    const CpuCounters& counters = refused.empty() ? hardware : software;
    const double per_ns = ticks_per_ns();
    const uint64_t reading = reading_cost(counters);
    std::printf("a reading %.0f ns, by %s\n", double(reading) / per_ns,
                counters.reads_itself() ? "the processor's instruction" : "a call of the kernel");
    for (const double us : {0.02, 1.0, 20.0, 100.0, 1000.0, 10000.0}) {
        const Cost c =
            cost_of(counters, reading, uint64_t(1000 * us * per_ns), uint64_t(1e9 * seconds * per_ns), per_ns);
        std::printf("phases of %8.2f us: %5.2f %% of the time, %7.1f ns per change, %5.1f %% of the time counted\n", us,
                    100 * c.share, c.change_ns, 100 * c.counted);
    }
    return 0;
}
