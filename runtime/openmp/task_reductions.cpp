// SPDX-License-Identifier: MIT
//
// Tasks of virtual threads run at once. So each virtual thread has a copy of what is reduced, which its tasks add to;
// the program itself adds up all copies, when all have come to the construct's end.
#include "openmp/task_reductions.h"

#include "directive/next.h"
#include "directive/openmp_threads.h"
#include "loop/participant.h"
#include "openmp/meet.h"
#include "openmp/team.h"

#include <algorithm>

namespace ws::openmp {

using directive::Next;

namespace {

// The words of libgomp's form that matter here; and those of each variable: the program's own, and where in a copy.
struct Form {
    static constexpr unsigned in_all = 0, size = 1, copies = 2, before = 4, copies_end = 6, first = 7, each = 3;
    static constexpr unsigned address = 0, offset = 1;
};

void begin_reductions(uintptr_t* data)
{
    Unit& unit = *current;
    VirtualTeam& team = *unit.team;
    const uintptr_t aligned = data[Form::copies], bytes = data[Form::size] * team.units;
    data[Form::copies] = (uintptr_t(team.common(unit, bytes + aligned)) + aligned - 1) / aligned * aligned;
    data[Form::copies_end] = data[Form::copies] + bytes;
    data[Form::before] = uintptr_t(unit.reductions);
    unit.reductions = data;
}

// Puts the address of the virtual thread's copy in place of that of another copy or of the variable. False: it is none
// of ours.
bool find_copy(void*& variable, void*& original)
{
    const auto at = uintptr_t(variable);
    for (auto* data = current->reductions; data; data = reinterpret_cast<uintptr_t*>(data[Form::before])) {
        const bool in_copy = at >= data[Form::copies] && at < data[Form::copies_end];
        for (uintptr_t i = 0; i < data[Form::in_all]; i++) {
            const uintptr_t* const one = data + Form::first + i * Form::each;
            if (in_copy ? (at - data[Form::copies]) % data[Form::size] != one[Form::offset] : at != one[Form::address])
                continue;
            variable =
                reinterpret_cast<void*>(data[Form::copies] + loop::self.number * data[Form::size] + one[Form::offset]);
            original = reinterpret_cast<void*>(one[Form::address]);
            return true;
        }
    }
    return false;
}

} // namespace

void begin_common(uintptr_t* reductions, void** memory)
{
    if (reductions)
        begin_reductions(reductions);
    if (memory)
        *memory = current->team->common(*current, uintptr_t(*memory));
}

#define WS_GNU(name, version) asm(".symver gnu_" #name "," #name "@" version)

WS_EXPORT void gnu_GOMP_task_reduction_remap(size_t count, size_t originals, void** variables)
{
    static Next<decltype(gnu_GOMP_task_reduction_remap)> next("GOMP_task_reduction_remap");
    bool found = current && current->reductions;
    for (size_t i = 0; found && i < count; i++) {
        void* original;
        found = find_copy(variables[i], original);
        if (found && i < originals)
            variables[count + i] = original;
    }
    if (!found) // of a taskgroup within the thread
        next(__builtin_return_address(0))(count, originals, variables);
}
WS_GNU(GOMP_task_reduction_remap, "GOMP_5.0");

// The construct's end, for all.
WS_EXPORT void gnu_GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    static Next<decltype(gnu_GOMP_workshare_task_reduction_unregister)> next(
        "GOMP_workshare_task_reduction_unregister");
    void* const caller = __builtin_return_address(0);
    if (current) {
        current->reductions = reinterpret_cast<uintptr_t*>(current->reductions[Form::before]);
        waited_for(caller, loop::own_frame());
        return;
    }
    next(caller)(cancelled);
}
WS_GNU(GOMP_workshare_task_reduction_unregister, "GOMP_5.0");

WS_EXPORT void gnu_GOMP_scope_start(uintptr_t* reductions)
{
    static Next<decltype(gnu_GOMP_scope_start)> next("GOMP_scope_start");
    if (current) {
        begin_common(reductions, nullptr);
        return;
    }
    next(__builtin_return_address(0))(reductions);
}
WS_GNU(GOMP_scope_start, "GOMP_5.1");

} // namespace ws::openmp
