// SPDX-License-Identifier: MIT
//
// How the threads of a parallel region spent its time, as DLB's TALP divides it. A thread does useful work in its part
// of the region outside of OpenMP's library. The rest of the region is lost:
//
//    scheduling   what every thread of the region lost: it began, gave out work and ended
//    imbalance    what the others lost besides: they waited for the thread with most work
#pragma once

#include <algorithm>
#include <cstdint>

namespace ws::openmp {

struct RegionTimes {
    uint64_t all, scheduling, imbalance; // core time of the region's threads, and two parts of it
};

// Divides a region that lasted `lasted`. Its `threads` threads were useful for `useful` together, and the one with most
// for `most_useful`.
inline RegionTimes region_times(uint64_t lasted, uint64_t threads, uint64_t useful, uint64_t most_useful)
{
    most_useful = std::min(most_useful, lasted); // clocks of two cores may differ by some ticks
    useful = std::min(useful, threads * most_useful);
    return {threads * lasted, threads * (lasted - most_useful), threads * most_useful - useful};
}

} // namespace ws::openmp
