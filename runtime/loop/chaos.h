// SPDX-License-Identifier: MIT
//
// WS_CHAOS=seed: random delays between the steps of the protocol and random chunk sizes, so that tests meet
// interleavings that a quiet machine never shows. One predictable branch when off.
#pragma once

#include "base/os.h"
#include "base/atomics.h"

namespace ws::loop {

class Chaos {
public:
    void seed(uint64_t s) { state_ = s | 1; }
    explicit operator bool() const { return WS_UNLIKELY(base::load_relaxed(state_) != 0); }

    // Relaxed, and load and store apart: a thread's lost update only changes which random numbers come.
    uint64_t random(uint64_t below)
    {
        uint64_t x = base::load_relaxed(state_);
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        base::store_relaxed(state_, x ? x : 1);
        return x % below;
    }

    void delay()
    {
        if (!*this)
            return;
        uint64_t kind = random(16);
        if (kind < 8)
            return;
        if (kind < 14)
            for (uint64_t n = random(2000); n; n--)
                base::cpu_relax();
        else if (kind == 14)
            sched_yield();
        else
            usleep(unsigned(random(300)));
    }

private:
    uint64_t state_ = 0;
};

extern Chaos chaos;

} // namespace ws::loop
