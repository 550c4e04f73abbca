// SPDX-License-Identifier: MIT
//
// A lock for a few instructions between the threads of one process.
#pragma once

#include "base/atomics.h"
#include "base/os.h"

namespace ws::base {

class SpinLock {
public:
    void lock()
    {
        for (unsigned turn = 0; !Hardware::cas_full(held_, 0, 1); turn++) { // full: pairs with unlock()
            if (turn < 1000)
                cpu_relax();
            else
                sched_yield(); // the holder may have been preempted
        }
    }
    bool try_lock() { return Hardware::cas_full(held_, 0, 1); } // full: pairs with unlock()
    void unlock() { Hardware::store_release(held_, 0); }

private:
    volatile Hardware::Flag held_ = 0;
};

} // namespace ws::base
