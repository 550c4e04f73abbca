// SPDX-License-Identifier: MIT
//
// Tasks of virtual threads run at once. So each virtual thread has a copy of what is reduced, which its tasks add to;
// the program itself adds up all copies, when all have come to the construct's end.
#include "openmp/shared/task_reductions.h"

#include "openmp/library/next.h"
#include "openmp/library/threads.h"
#include "loop/participant.h"
#include "openmp/shared/meet.h"
#include "openmp/shared/team.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ws::openmp {


namespace {

// The words of libgomp's form that matter here; and those of each variable: the program's own, and where in a copy. A
// construct may have several such lists, the first of which leads to the next.
struct Form {
    static constexpr unsigned in_all = 0, size = 1, copies = 2, next = 4, kept = 5, copies_end = 6, first = 7, each = 3;
    static constexpr unsigned address = 0, offset = 1;
};

uintptr_t* following(const uintptr_t* data) { return reinterpret_cast<uintptr_t*>(data[Form::next]); }

// memory(bytes, alignment), filled with zeros, is where the copies lie. Returns the construct's last list.
template <class Memory> uintptr_t* give_copies(uintptr_t* data, unsigned threads, Memory memory)
{
    for (;; data = following(data)) {
        const uintptr_t bytes = data[Form::size] * threads;
        data[Form::copies] = memory(bytes, data[Form::copies]);
        data[Form::copies_end] = data[Form::copies] + bytes;
        data[Form::kept] = 0; // where libgomp has a table, which it frees
        if (!data[Form::next])
            return data;
    }
}

uintptr_t allocate(uintptr_t bytes, uintptr_t alignment)
{
    alignment = std::max(alignment, uintptr_t(sizeof(void*)));
    bytes = (bytes + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, bytes);
    if (!memory) {
        std::fprintf(stderr, "workshare: error: no memory for %zu bytes of reductions over tasks\n", size_t(bytes));
        std::exit(1); // as libgomp does
    }
    return uintptr_t(std::memset(memory, 0, bytes));
}

// The calling virtual thread's latest construct is this one; where its lists end those of the one before follow.
template <class Memory> void begin_reductions(uintptr_t* data, Memory memory)
{
    Unit& unit = *current;
    uintptr_t* const last = give_copies(data, unit.team->units, memory);
    last[Form::next] = uintptr_t(unit.reductions);
    data[Form::kept] = uintptr_t(unit.reductions) + 1; // not 0: libgomp's mark of a first list
    unit.reductions = data;
}
void end_reductions(Unit& unit) { unit.reductions = reinterpret_cast<uintptr_t*>(unit.reductions[Form::kept] - 1); }

// Puts the address of the virtual thread's copy in place of that of another copy or of the variable. False: it is none
// of ours.
bool find_copy(void*& variable, void*& original)
{
    const auto at = uintptr_t(variable);
    for (auto* data = current->reductions; data; data = following(data)) {
        const bool in_copy = at >= data[Form::copies] && at < data[Form::copies_end];
        for (uintptr_t i = 0; i < data[Form::in_all]; i++) {
            const uintptr_t* const one = data + Form::first + i * Form::each;
            if (in_copy ? (at - data[Form::copies]) % data[Form::size] != one[Form::offset] : at != one[Form::address])
                continue;
            variable =
                reinterpret_cast<void*>(data[Form::copies] + current->units.lo * data[Form::size] + one[Form::offset]);
            original = reinterpret_cast<void*>(one[Form::address]);
            return true;
        }
    }
    return false;
}

} // namespace

void begin_region_reductions(uintptr_t* data, unsigned threads) { give_copies(data, threads, allocate); }

void begin_common(uintptr_t* reductions, void** memory)
{
    if (reductions)
        begin_reductions(reductions, [](uintptr_t bytes, uintptr_t alignment) {
            const auto all = uintptr_t(current->team->common(*current, bytes + alignment));
            return (all + alignment - 1) / alignment * alignment;
        });
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
        end_reductions(*current);
        waited_for(caller, loop::own_frame());
        return;
    }
    next(caller)(cancelled);
}
WS_GNU(GOMP_workshare_task_reduction_unregister, "GOMP_5.0");

// A taskgroup's, of one virtual thread: the program adds up as many copies as its region has threads.
WS_EXPORT void gnu_GOMP_taskgroup_reduction_register(uintptr_t* data)
{
    static Next<decltype(gnu_GOMP_taskgroup_reduction_register)> next("GOMP_taskgroup_reduction_register");
    current ? begin_reductions(data, allocate) : next(__builtin_return_address(0))(data);
}
WS_GNU(GOMP_taskgroup_reduction_register, "GOMP_5.0");

// Also after a region that had reductions.
WS_EXPORT void gnu_GOMP_taskgroup_reduction_unregister(uintptr_t* data)
{
    static Next<decltype(gnu_GOMP_taskgroup_reduction_unregister)> next("GOMP_taskgroup_reduction_unregister");
    if (!current || current->reductions != data) {
        next(__builtin_return_address(0))(data);
        return;
    }
    end_reductions(*current);
    for (auto* list = data; list != current->reductions; list = following(list))
        std::free(reinterpret_cast<void*>(list[Form::copies]));
}
WS_GNU(GOMP_taskgroup_reduction_unregister, "GOMP_5.0");

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
