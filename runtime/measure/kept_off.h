// SPDX-License-Identifier: MIT
//
// Time in which a thread could have run but others had its core. It is no part of what the thread's work costs.
#pragma once

#include <cstdint>

namespace ws::measure {

// Times of the calling thread so far, in ns; 0 if the kernel does not tell them. The call takes 7 us, and 40 us after
// the thread has computed for some milliseconds, because then no data of the kernel are in the caches.
struct Scheduled {
    unsigned long long ran, kept_off;
};
Scheduled scheduled();

// For one thread, the only one that calls this. It asks at ends of regions and of waits, where others wait for this
// thread. So it reads a clock first, which tells for 0.3 us, or 3, how long the thread ran: it was kept off for no
// longer than it did not run while it wanted to, mostly next to nothing. Only else it reads the kernel's file.
class KeptOff {
public:
    void start(uint64_t now, double ticks_per_us, bool keep_open);
    // Adds `ticks` in which the thread has worked, or has done something else without sleeping.
    void worked(uint64_t ticks) { work_ += ticks; }
    void was_awake(uint64_t ticks) { other_ += ticks; }
    // Where work begins or ends: how many ticks are to be subtracted from it; mostly 0, as the system is not asked.
    uint64_t settle(uint64_t now) { return now - asked_at_ < every_ ? 0 : ask(now, ran_ns()); }
    // The same where the thread is known to have run for so long since any one moment, however lately it was asked.
    uint64_t ask(uint64_t now, unsigned long long has_run_ns);
    bool is_started() const { return every_ != 0; }
    // How often it has read the file.
    unsigned looks() const { return looks_; }

private:
    static unsigned long long ran_ns();
    unsigned long long look();

    uint64_t every_ = 0, asked_at_ = 0; // ticks
    // Ticks of work in which the thread did not run: how many are not worth a look, and those since the last look.
    uint64_t little_ = 0, missed_ = 0;
    unsigned long long told_ = 0; // ns kept off, at the last look
    unsigned long long ran_ = 0;  // ns, when asked last
    int file_ = -1;               // kept open
    unsigned looks_ = 0;
    uint64_t work_ = 0, other_ = 0; // ticks since it was asked last
    double ticks_per_ns_ = 0;
};

} // namespace ws::measure
