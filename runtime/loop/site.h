// SPDX-License-Identifier: MIT
//
// What a `ws for` in the source learns over its executions: what an iteration costs, where in the range the work lies, and
// whether sharing it pays. The few words that each execution needs lie in the site itself (ws_site::learned), the rest in
// a record that is made when the site is first published.
//
// Several threads may run one loop at once. They then overwrite each other's measurements: every value stays a measured one.
#pragma once

#include "directive/abi.h"
#include "window/os.h"
#include <cstdint>

namespace ws {

struct SiteRecord;

struct Learned {
    double unit_ticks;    // cost of an iteration to the thread that runs it; 0 = never measured
    int64_t countdown;    // whole runs until the next measurement
    double alone_ticks;   // wall time an iteration, open to close, in regions that nobody helped with; 0 = never measured
    int64_t unshared;     // regions to run without sharing: it does not pay, or must be measured alone
    double tilt;          // cost of an iteration in the second half of the range over one in the first; 0 = never measured
    SiteRecord* record;   // null until the first published region
};
static_assert(sizeof(Learned) == sizeof(ws_site::learned));
inline Learned& learned(ws_site* site) { return reinterpret_cast<Learned&>(site->learned); }

// The fields above by relaxed atomic accesses, plain moves in machine code.
template <class T> T peek(const T& field)
{
    T value;
    __atomic_load(&field, &value, __ATOMIC_RELAXED);
    return value;
}
template <class T> void poke(T& field, T value) { __atomic_store(&field, &value, __ATOMIC_RELAXED); }

constexpr int64_t measure_every = 16;

// An iteration has cost `ticks` to the thread that ran it. A loop that suddenly takes long must not go on unshared: a rise is
// believed at once, a fall by halves.
inline void remember_cost(Learned& l, double ticks)
{
    double before = peek(l.unit_ticks);
    poke(l.unit_ticks, ticks > before ? ticks : (ticks + before) / 2);
    poke(l.countdown, measure_every);
}

// A region that nobody helped with took `ticks` an iteration, open to close.
void remember_alone(Learned& l, double ticks);

// Owner's costs before and after the first guest's coming, as the chunks of one region show them; 0 = not seen.
struct Crowding {
    double before, after;
};

// A published region is over: `iterations` in it, of them `stolen`, in `wall` ticks open to close. Decides whether the next
// ones are to be shared.
void remember_shared(ws_site* site, uint64_t iterations, uint64_t stolen, uint64_t wall, Crowding crowding);

// Whether the region published last was helped with.
bool helped_last(const Learned& l);

// The cost of the second half over the first, as measured in one region.
void remember_tilt(Learned& l, double tilt);

// Whether this execution may be shared. Counts down what remember_shared() has set.
inline bool may_share(Learned& l)
{
    int64_t left = peek(l.unshared);
    if (WS_LIKELY(left == 0))
        return true;
    poke(l.unshared, left - 1);
    return false;
}

// Published regions, their iterations and the stolen ones, of every site; and how many regions ran unshared as sharing them
// had not paid. For the end of the job.
void for_each_shared_site(void (*visit)(const char* where, uint64_t regions, uint64_t iterations, uint64_t stolen));
uint64_t unpaid_regions();

} // namespace ws
