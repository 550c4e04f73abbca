// SPDX-License-Identifier: MIT
//
// Lending. A thread that has nothing to do on its core (a rank blocked in MPI, a worker) claims a chunk of a rank that
// still computes: its victim, the owner. It gives the core to a guest in the owner's process, and gets it back.
//
//   rank.h         a rank that lends: all of it is below one object of this class
//   home.cpp       the rank's own thread: what the fork's hooks call
//   stand_in.cpp   the thread that lends the core in waits outside of MPI
//   worker.cpp     threads on spare cores, which help their own rank first
//   lender.cpp     the steal path of either: choose, claim, lend, sleep; the idle ladder
//   hand_over.h    which work is worth a hand-over: arithmetic
//   chooser.cpp    which region to help with
//   guest.cpp      the guests of this process on other ranks' cores
//   body_stack.cpp the stacks of guests and workers
//   doorbell.cpp   who wakes whom
//   liveness.cpp   nobody waits without a bound on a process that died; peers.h: who lives
#pragma once

#include "book/book.h"
#include "lend/chooser.h"
#include <cstddef>
#include <cstdint>

namespace ws::lend {

struct LendTimes {
    uint64_t spin_ticks;   // a rank is blocked for at least this long before it does anything but spin
    uint64_t patience_ticks; // a rank that has been blocked for longer than this is long_hungry
    uint64_t linger_ticks; // a guest without chunks waits this long for the owner's next region
    // a thread that has had nothing to help with for this long goes to sleep, if its core is its own
    uint64_t yield_ticks;
    uint64_t peers_ticks;  // a blocked rank that has nobody to lend to checks this often whether the others live
    uint64_t short_ticks;  // how long a chunk may take for which MPI_Test lends the core
    uint64_t quantum_us;   // a thread that sleeps, its core lent or not, looks at MPI itself after this time
    uint64_t longest_quantum_us; // doubled with each look in vain, up to this
};

// Other users of a blocked rank's time: the policies (policy/runner.h). Called by the home thread alone, except
// worker_step().
class SpareTime {
public:
    static constexpr uint64_t never = ~uint64_t(0);
    uint64_t due_at = never; // ticks: from then on a step is wanted even if there is something to help with
    bool when_idle = false;  // a step is wanted whenever there is nothing to help with
    bool hears_end = false;  // of the present wait: wait_ends() is called
    // One of them. Takes about as long as a chunk; calls of MPI only what returns at once.
    virtual void step(uint64_t now) = 0;
    virtual void wait_ends() {}
    // Called about once a second in a wait that has lasted for long.
    virtual void waits_long() {}
    // A worker is idle: as a step, for who wants one. Returns from when on there may be more to do. By any worker.
    virtual uint64_t worker_step(uint64_t /*now*/) { return never; }

protected:
    ~SpareTime() = default;
};

struct LendOptions {
    LendTimes times;
    Score score; // whom this rank's threads help
    size_t stack_bytes;       // of a thread that runs loop bodies; 0: as the rank's own
    unsigned pretended_cores; // 0, or how many cores ranks and workers take the node to have (for work that sleeps)
    const unsigned* events;   // MPICH's: changes with each poll that has handled anything
    const int* sends_open;    // MPICH's: sends of this rank that may wait for their receivers,
    const int* sends_to;      // and the MPI_COMM_WORLD rank of those, -1 for several
    SpareTime* spare_time;
    const char* (*call_name)(); // MPICH's: the MPI function that the calling thread is in
    book::Reader* book;       // the other jobs of the node; outlives everything here
};

} // namespace ws::lend
