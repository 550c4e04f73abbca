// SPDX-License-Identifier: MIT
//
// How the tasks of directives are put, for the files of the two forms in which compilers make them: GCC's (task.cpp)
// and clang's (llvm_task.cpp).
#pragma once

#include "group/part.h"

namespace ws::group {

// Whether what the calling thread puts may be deferred; if so, it is a member.
inline bool may_defer(bool may_wait, ws_site* site)
{
    if (part.member)
        return !part.context.final;
    return may_wait && !part.context.final && WS_UNLIKELY(ws_group_wanted() == WS_GROUP_ASK) && ws_group_begin(site);
}

// A task with room for that much data behind its head; null: no memory.
Task* make_task(size_t bytes, size_t align, bool is_final);
void free_task(Task& task);

// Defers a task, or runs it here behind the tasks before it; a member's. `depend` is as GCC writes it; null: none.
void put(Task& task, void** depend, bool may_wait);

void wait_for_children();

inline char* aligned(char* at, size_t align) { return at + (-reinterpret_cast<uintptr_t>(at) & (align - 1)); }

// Calls part(n, left) for each part of a taskloop: its iterations, and how many come after. Flags and `tasks` are those
// of ws_taskloop.
template <class Part> void each_part(unsigned flags, uint64_t tasks, uint64_t iterations, Part&& part)
{
    if (!iterations)
        return;
    uint64_t count, most = 0; // most: iterations of all tasks but the last, if that is fixed
    if (flags & WS_TASK_GRAINSIZE) {
        count = tasks ? iterations / tasks : iterations;
        if (flags & WS_TASK_STRICT && tasks) {
            count = (iterations + tasks - 1) / tasks;
            most = tasks;
        }
    } else
        count = tasks ? tasks : 8 * uint64_t(self.host->participants);
    count = count < 1 ? 1 : count > iterations ? iterations : count;
    const uint64_t each = most ? most : iterations / count;
    uint64_t longer = most ? 0 : iterations % count; // the number of tasks with one iteration more
    for (uint64_t left = iterations; left;) {
        uint64_t n = each + (longer ? 1 : 0);
        longer -= longer ? 1 : 0;
        n = n < left ? n : left;
        left -= n;
        part(n, left);
    }
}

} // namespace ws::group
