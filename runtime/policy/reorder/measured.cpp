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
struct Times {
    double wall = 0, waits = 0, awake = 0; // of the waits: neither asleep nor with the core lent
};
struct Counts : Times {
    double others = 0,           // others computed of this rank's loops
           ran = 0, queued = 0;  // the system's: on a core; ready to run while others had it
};
Counts begun;                // when measuring began anew
Times in_calls;              // of MPIX functions, since then
std::mutex lock;             // of these two
thread_local Times entered;  // the call that is under way

Times times()
{
    const Seat& home = board->seat(0);
    const uint64_t now = ticks();
    Times t;
    t.wall = double(now);
    t.waits = double(home.lend.blocked_ticks);
    if (const uint64_t since = __atomic_load_n(&home.waits_since, __ATOMIC_RELAXED)) // by another thread
        t.waits += double(now - since);
    t.awake = t.waits - double(home.lend.lent_ticks) - double(home.lend.sleep_ticks);
    return t;
}

Counts count()
{
    Counts c = {entered, 0, 0, 0};
    for (unsigned i = 0; i < board->seats; i++)
        c.others += double(board->seat(i).visit.busy_ticks);
    for (unsigned i = 0; i < loop_rows - 1 && board->loop(i).name[0]; i++)
        c.waits += double(board->loop(i).close_wait);
    c.waits += double(board->loop(loop_rows - 1).close_wait);
    if (own_seat == &board->seat(0)) {
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
    const Counts now = count();
    std::lock_guard<std::mutex> guard(lock);
    const double waits = now.waits - begun.waits - in_calls.waits, outside = now.wall - begun.wall - in_calls.wall - waits;
    // Where ranks share a core, a part of the time outside of waits went by while others had it. The system counts that, but for waits as
    // well. It also counts what the thread ran: all but the waking part of waits and what calls took was the program's, at least.
    const double program = now.ran - begun.ran - (now.awake - begun.awake) - (in_calls.wall - in_calls.waits);
    const double own = std::max({outside - (now.queued - begun.queued), std::min(outside, program), 0.0});
    return (own + std::max(now.others - begun.others, 0.0)) / board->ticks_per_us * 1e-6;
}

void begin_measuring()
{
    const Counts now = count();
    std::lock_guard<std::mutex> guard(lock);
    begun = now;
    in_calls = {};
}

AroundCall::AroundCall()
{
    if (board)
        entered = times();
}

AroundCall::~AroundCall()
{
    if (!board)
        return;
    const Times now = times();
    std::lock_guard<std::mutex> guard(lock);
    in_calls.wall += now.wall - entered.wall;
    in_calls.waits += now.waits - entered.waits;
}

} // namespace ws::reorder
