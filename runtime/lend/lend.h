// SPDX-License-Identifier: MIT
//
// Lending: a thread that has nothing to do on its core (a rank blocked in MPI, a worker) claims a chunk of a rank that
// still computes (its victim, the owner), gives the core to a guest in the owner's process, and gets it back.
//
//   home.cpp       the rank's own thread: what the fork's hooks call
//   worker.cpp     threads on spare cores, which help their own rank first
//   lender.cpp     the steal path of either: choose, claim, lend, sleep; the idle ladder
//   chooser.cpp    which region to help with
//   guest.cpp      the guests of this process on other ranks' cores
//   body_stack.cpp the stacks of guests and workers
//   doorbell.cpp   who wakes whom
//   liveness.cpp   nobody waits without a bound on a process that died; peers.h: who lives
#pragma once

#include "book/book.h"
#include "lend/chooser.h"
#include "observe/board.h"
#include "window/os.h"
#include "window/types.h"
#include "window/window.h"
#include <cstdint>
#include <pthread.h>

namespace ws::lend {

using window::Hardware;

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

// Who else uses the time of a blocked rank: the policies (policy/runner.h). For the home thread alone.
class SpareTime {
public:
    static constexpr uint64_t never = ~uint64_t(0);
    uint64_t due_at = never; // ticks: from then on a step is wanted even if there is something to help with
    bool when_idle = false;  // a step is wanted whenever there is nothing to help with
    // One of them. Takes about as long as a chunk; calls no MPI.
    virtual void step(uint64_t now) = 0;

protected:
    ~SpareTime() = default;
};

struct LendOptions {
    LendTimes times;
    const VictimPolicy* victims; // whom this rank's threads help
    size_t stack_bytes;       // of a thread that runs loop bodies; 0: as the rank's own
    unsigned pretended_cores; // 0, or how many cores ranks and workers take the node to have (for work that sleeps)
    const unsigned* events;   // MPICH's: changes with each poll that has handled anything
    const int* sends_open;    // MPICH's: sends of this rank that may wait for their receivers,
    const int* sends_to;      // and the MPI_COMM_WORLD rank of those, -1 for several
    SpareTime* spare_time;
    const char* (*call_name)(); // MPICH's: the MPI function that the calling thread is in
    book::Reader* book;       // the other jobs of the node; outlives everything here
};

// Starts and stops lending by this rank. Called by the thread that called MPI_Init; `window` outlives everything here.
void lend_start(window::Window& window, const LendOptions& options);
// Other times, from any thread: they act from the next time on that somebody looks at them.
void lend_retime(const LendTimes& times);
// After this no guest of another process will be woken by us; returns when our core is back and our workers have ended.
void lend_stop();
// Joins this process's guests. Every rank of the node has called lend_stop() before.
void guests_stop();
// Creates guests that thieves have asked for (LoopHost::make_guests).
void guests_make();
// The fork's hooks (mpi/attach).
void blocked(unsigned polls);
void unblocked();
void polled();
void ring(unsigned node_rank);
void taken();

// Whether another job of the node was seen to use this rank's CPUs.
bool had_neighbours();

// Whether a thread of the node is blocked or idle (LoopHost::somebody_waits).
bool somebody_waits();
// Wakes a few threads of the node that sleep for want of work, our own workers first (LoopHost::wake).
void wake_sleepers();

// While all ranks live: which of them can be seen from here.
void probe_peers();
// Ends the job when a rank of this node has died; otherwise returns. Cheap enough for every millisecond.
void check_peers(const char* waiting_for);

// Called by a thread that waits in MPI inside an iteration: if it is a guest, it returns its core and goes on waiting
// beside the thief.
void guest_blocked(unsigned polls);

// True while this rank sits in a blocking MPI call; guests read it to give cores back early.
bool owner_is_blocked();

// Of all threads of this process that lend.
namespace detail {
extern window::Window* window;
extern LendTimes times;
extern const int *sends_open, *sends_to; // MPICH's, see LendOptions
// Whether the program has lately spun on MPI_Test, which is its way of waiting. This expires by itself once the program
// computes.
inline bool looked_just_now(const window::Home& core)
{
    return window::ticks() - Hardware::load_relaxed(core.looked_at) < times.patience_ticks;
}
void ring_core(window::Home& core);
// Makes a thread that runs loop bodies, on these CPUs from its first moment if it may use them. Returns an errno as
// pthread_create does.
int start_body_thread(pthread_t& thread, window::CpuMask cpus, void* (*run)(void*), void* argument);
void start_workers(const LendOptions& options);
void stop_workers();
} // namespace detail

} // namespace ws::lend
