// SPDX-License-Identifier: MIT
//
// A thread's events as both formats want them: in the order of their begins, one within the other or apart.
#pragma once

#include "trace/trace.h"
#include <algorithm>
#include <vector>

namespace ws::trace {

using observe::EventKind;

// Which of two events with the same times lies around the other.
inline int level(EventKind kind)
{
    switch (kind) {
    case EventKind::phase: return 0;
    case EventKind::parallel: return 0; // never at the same time
    case EventKind::rows: return 0; // nor this
    case EventKind::mpi: return 1;
    case EventKind::lent: return 2;
    case EventKind::asleep: return 3;
    case EventKind::visit: return 4;
    case EventKind::region: return 5;
    case EventKind::chunk: return 6;
    case EventKind::tasks: return 7;
    }
    return 8;
}

// Sorts by begin, an outer event before those within it, and cuts what sticks out of the one around it: a lease can
// outlive the MPI call that it began in.
inline void nest(TraceEvent* events, uint64_t count)
{
    std::sort(events, events + count, [](const TraceEvent& a, const TraceEvent& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end > b.end : level(a.kind) < level(b.kind);
    });
    std::vector<int64_t> ends;
    for (uint64_t i = 0; i < count; i++) {
        TraceEvent& e = events[i];
        e.end = std::max(e.end, e.begin);
        while (!ends.empty() && ends.back() <= e.begin)
            ends.pop_back();
        if (!ends.empty())
            e.end = std::min(e.end, ends.back());
        ends.push_back(e.end);
    }
}

// Calls enter(event) and leave(event) for nested events, in the order of time.
template <class Enter, class Leave> void walk(const TraceEvent* events, uint64_t count, Enter enter, Leave leave)
{
    std::vector<const TraceEvent*> open;
    for (uint64_t i = 0; i < count; i++) {
        while (!open.empty() && open.back()->end <= events[i].begin) {
            leave(*open.back());
            open.pop_back();
        }
        enter(events[i]);
        open.push_back(&events[i]);
    }
    for (; !open.empty(); open.pop_back())
        leave(*open.back());
}

} // namespace ws::trace
