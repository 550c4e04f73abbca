// SPDX-License-Identifier: MIT
//
// Named locks: a table of robust mutexes that lies in the node's window, or, while there is none, in the process. A
// name gets the first free slot from its hash on, once, and keeps it.
//
// Robust (pthread_mutexattr_setrobust): if a thread dies with the mutex, the kernel gives it to the next one, and says
// so.
#pragma once

#include "base/atomics.h"
#include <cstddef>
#include <cstdint>
#include <pthread.h>
#include <sys/types.h>

namespace ws::window {

// Zeroed memory is a free slot.
struct alignas(64) Lock {
    // free -> making: CAS by the first process that needs the name; making -> ready: the same process
    volatile base::Hardware::Flag state;
    int holder_rank;               // holder: written under the mutex
    pid_t holder_pid;
    uint64_t hash;                 // constant once ready, as is the mutex itself
    pthread_mutex_t mutex;
};

class LockTable {
public:
    static constexpr unsigned max_names = 256;
    static constexpr size_t bytes = max_names * sizeof(Lock);

    // `memory`: `bytes` long, zeroed before the first process maps it.
    explicit LockTable(void* memory) : locks_(static_cast<Lock*>(memory)) {}

    // The lock's index, the same in all processes; none if the table is full. Waits only for another process that is
    // just making the same or a neighbouring lock: microseconds, or a second at most if it died there (then: none).
    static constexpr unsigned none = ~0u;
    unsigned find(const char* name);

    Lock& operator[](unsigned index) const { return locks_[index]; }

private:
    Lock* locks_;
};

} // namespace ws::window
