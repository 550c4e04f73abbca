// SPDX-License-Identifier: MIT
//
// What a rank had counted at some moments of its run, in memory of a fixed size, and how it spent its time from slice
// to slice. Plain arithmetic: calls.cpp brings the moments, in a run with a report.
#pragma once

#include <cstdint>
#include <vector>

namespace ws::observe {

// Ticks that a rank had counted until `at`.
struct Moment {
    uint64_t at;
    uint64_t mpi, lent, close_wait, borrowed; // see counters.h
};

// Keeps at most `most` moments, at least a step apart. When there is no room, every second goes and the step doubles:
// counters only grow, so what is left is as true as before.
class Moments {
public:
    static constexpr unsigned most = 256;

    // Begins with the first moment. A step is in ticks.
    void start(const Moment& first, uint64_t step);
    // Whether the next moment may be added; false before start().
    bool due(uint64_t now) const { return now >= next_; }
    void add(const Moment& m);

    const Moment* begin() const { return all_; }
    const Moment* end() const { return all_ + count_; }

private:
    uint64_t next_ = UINT64_MAX, step_ = 0;
    unsigned count_ = 0;
    Moment all_[most] = {};
};

// How a rank spent a slice of its run, in parts of the slice: its own thread computing, its core lent, and what other
// cores computed for it, which may be more than 1. The rest of the slice it waited.
struct TimeSlice {
    double computing, lent, borrowed;
};
constexpr unsigned time_slices = 64;

// Divides the time from the first of `moments` until `last` into time_slices equal slices. Between two moments, time is
// taken to have been spent evenly. Values have three decimals. Empty if that time is none.
std::vector<TimeSlice> slices_of(const Moments& moments, const Moment& last);

} // namespace ws::observe
