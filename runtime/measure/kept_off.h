// SPDX-License-Identifier: MIT
//
// Time in which a thread could have run but others had its core. It is no part of what the thread's work costs.
#pragma once

#include <cstdint>

namespace ws::measure {

// Of the calling thread so far, in ns; 0 where the kernel does not say. Takes 7 us.
struct Scheduled {
    unsigned long long ran, kept_off;
};
Scheduled scheduled();

// For one thread, the only one that calls this. Asks the system so seldom that it takes less than a thousandth of the
// time; a seventh of that if it keeps a file open.
class KeptOff {
public:
    void start(uint64_t now, double ticks_per_us, bool keep_open);
    // The thread has worked for so many ticks, or done something else without sleeping.
    void worked(uint64_t ticks) { work_ += ticks; }
    void was_awake(uint64_t ticks) { other_ += ticks; }
    // Where work begins or ends: how many ticks are to be subtracted from it; mostly 0, as the system is not asked.
    uint64_t settle(uint64_t now) { return now - asked_at_ < every_ ? 0 : ask(now); }
    bool is_started() const { return every_ != 0; }

private:
    uint64_t ask(uint64_t now);
    Scheduled look() const;

    uint64_t every_ = 0, asked_at_ = 0; // ticks
    Scheduled told_ = {};               // then
    int file_ = -1;                     // kept open
    uint64_t work_ = 0, other_ = 0;     // ticks since then
    double ticks_per_ns_ = 0;
};

} // namespace ws::measure
