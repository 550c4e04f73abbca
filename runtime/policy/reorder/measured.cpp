// SPDX-License-Identifier: MIT
#include "policy/reorder/measured.h"

#include "observe/board.h"
#include "window/os.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <mutex>

namespace ws::reorder {

namespace {

// Counters of the rank's own thread, in ticks: each only grows.
struct Counts {
    double wall = 0, waits = 0, awake = 0, // of the waits: neither asleep nor with the core lent
           others = 0,                     // others computed of this rank's loops
           ran = 0, queued = 0;            // the system's: on a core; ready to run while others had it
    Counts& operator+=(const Counts& o) { return add(o, 1); }
    Counts& operator-=(const Counts& o) { return add(o, -1); }

private:
    Counts& add(const Counts& o, double sign)
    {
        wall += sign * o.wall;
        waits += sign * o.waits;
        awake += sign * o.awake;
        others += sign * o.others;
        ran += sign * o.ran;
        queued += sign * o.queued;
        return *this;
    }
};
Counts begun, in_calls;     // when measuring began anew, less those; in MPIX functions
std::mutex lock;            // of these two
thread_local Counts entered; // the call that is under way

Counts count()
{
    Counts c;
    Seat& home = board->seat(0);
    const uint64_t now = ticks();
    c.wall = double(now - board->attached_at);
    c.waits = double(home.lend.blocked_ticks);
    if (const uint64_t since = __atomic_load_n(&home.waits_since, __ATOMIC_RELAXED)) // by another thread
        c.waits += double(now - since);
    c.awake = c.waits - double(home.lend.lent_ticks) - double(home.lend.sleep_ticks);
    for (unsigned i = 0; i < board->seats; i++)
        c.others += double(board->seat(i).visit.busy_ticks);
    for (unsigned i = 0; i < loop_rows - 1 && board->loop(i).name[0]; i++)
        c.waits += double(board->loop(i).close_wait);
    c.waits += double(board->loop(loop_rows - 1).close_wait);
    if (own_seat == &home) {
        const double ticks_per_ns = board->ticks_per_us * 1e-3;
        timespec t;
        if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
            c.ran = (double(t.tv_sec) * 1e9 + double(t.tv_nsec)) * ticks_per_ns;
        if (std::FILE* f = std::fopen("/proc/thread-self/schedstat", "re")) { // kernels without it: 0
            unsigned long long ran, queued;
            if (std::fscanf(f, "%llu %llu", &ran, &queued) == 2)
                c.queued = double(queued) * ticks_per_ns;
            std::fclose(f);
        }
    }
    return c;
}

} // namespace

bool can_measure() { return board != nullptr; }

double measured_load()
{
    Counts c = entered;
    {
        std::lock_guard<std::mutex> guard(lock);
        c -= begun;
        c -= in_calls;
    }
    // Where ranks share a core, a part of the time outside of waits went by while others had it. The system counts that, but for waits as
    // well. It also counts what the thread ran, of which at most the waits' waking part was none of the program's.
    const double outside = c.wall - c.waits;
    const double own = std::max({outside - c.queued, std::min(outside, c.ran - c.awake), 0.0});
    return (own + std::max(c.others, 0.0)) / board->ticks_per_us * 1e-6;
}

void begin_measuring()
{
    std::lock_guard<std::mutex> guard(lock);
    begun = entered;
    begun -= in_calls;
}

AroundCall::AroundCall()
{
    if (board)
        entered = count();
}

AroundCall::~AroundCall()
{
    if (!board)
        return;
    Counts took = count();
    took -= entered;
    std::lock_guard<std::mutex> guard(lock);
    in_calls += took;
}

} // namespace ws::reorder
