// SPDX-License-Identifier: MIT
//
// Lending: a rank that is blocked in MPI (the thief) claims a chunk of a rank that still computes (its victim, the
// owner), gives its core to a guest in the owner's process, and gets it back.
//
//   thief.cpp      choose, arm, claim, lend, sleep; the doorbell
//   guest.cpp      the guests of this process on other ranks' cores
//   liveness.cpp   nobody waits without a bound on a process that died
#pragma once

#include "window/types.h"
#include "window/window.h"
#include <cstdint>

namespace ws {

struct LendCounters {
    uint64_t blocked_ticks; // in MPI calls beyond the spin, lent time included
    uint64_t lent_ticks;
    uint64_t lends;
    uint64_t lost;     // claims that another thief was faster with
    uint64_t recalls;  // leases that ended on a doorbell or on the end of the home rank's wait
    uint64_t refusals; // blocked, but the core is not free to lend: other home ranks compute on it
    uint64_t moves;    // a thief left the CPU that it shared with its victim
    uint64_t guests_refused; // threads that the system did not give
};
extern LendCounters lend_counters;

struct LendTimes {
    uint64_t spin_ticks;   // blocked at least this long before anything else
    uint64_t patience_ticks; // who has been blocked longer is long_hungry
    uint64_t linger_ticks; // a guest without chunks waits this long for the owner's next region
    uint64_t peers_ticks;  // a blocked rank that has nothing to lend for looks this often whether the others live
    uint64_t quantum_us;   // a sleeping thief looks at MPI itself at least this often
};

// Starts and stops lending by this rank. Called by the owner thread; `window` outlives everything here.
void lend_start(Window& window, const LendTimes& times);
// After this no guest of another process will be woken by us; returns when our core is back. Non-blocking otherwise.
void lend_stop();
// Joins this process's guests. Every rank of the node has called lend_stop() before.
void guests_stop();
// Creates the guests that thieves have asked for (LoopHost::make_guests).
void guests_make();

// The fork's hooks (mpi/attach).
void blocked(unsigned polls);
void unblocked();
void ring(unsigned node_rank);

// While all ranks live: which of them can be seen from here. Another PID namespace (containers) would make every peer
// look dead.
void probe_peers();
// Ends the job when a rank of this node has died; otherwise returns. Cheap enough for every millisecond.
void check_peers(const char* waiting_for);

// The calling thread, which runs an iteration, waits in MPI: a guest returns its core at once and goes on beside the thief.
void guest_blocked(unsigned polls);

// True while this rank sits in a blocking MPI call; guests read it to give cores back early.
bool owner_is_blocked();

namespace detail {
extern Window* window;
extern LendTimes times;
} // namespace detail

} // namespace ws
