// SPDX-License-Identifier: MIT
//
// What tasks reduce (task_reduction, in_reduction, and taskloop's reduction): each thread that runs tasks of the group
// has a copy of each variable, which the compiler's code sets up when it first uses it, and adds up at the end.
//
// The compiler's array: the number of variables, the bytes of one thread's copies, their alignment (from then on the
// copies, which are zero), -1, the next outer array, nothing, the end of the copies; and for each variable its address,
// where in a thread's copies its own lies, and nothing.
#include "group/part.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ws::group {

namespace {

enum { count_at = 0, bytes_at = 1, copies_at = 2, outer_at = 4, end_at = 6, variables_at = 7 };

char* copies(const uintptr_t* data) { return reinterpret_cast<char*>(data[copies_at]); }

// The copy of a variable for the calling thread, in the innermost group that reduces it; or of what is another thread's
// copy of it, because a task that has a copy put this one. Null: none does.
void* mine(char* of, uintptr_t slot, void*& original)
{
    for (const uintptr_t* data = part.context.reductions; data; data = reinterpret_cast<uintptr_t*>(data[outer_at])) {
        const uintptr_t bytes = data[bytes_at];
        const bool is_copy = of >= copies(data) && of < reinterpret_cast<char*>(data[end_at]);
        const uintptr_t offset = is_copy ? uintptr_t(of - copies(data)) % bytes : 0;
        for (uintptr_t i = 0; i < data[count_at]; i++) {
            const uintptr_t* const variable = data + variables_at + 3 * i;
            if (is_copy ? variable[1] != offset : reinterpret_cast<char*>(variable[0]) != of)
                continue;
            original = reinterpret_cast<void*>(variable[0]);
            return copies(data) + slot * bytes + variable[1];
        }
    }
    return nullptr;
}

} // namespace

WS_EXPORT int ws_task_slot(void) { return part.member ? int(part.member->number) : 0; }

WS_EXPORT int ws_task_slots(void)
{
    if (!may_have_others())
        return 1;
    const Crew* const crew = part.crew ? part.crew : crew_of(self);
    return crew ? int(crew->members()) : 1;
}

WS_EXPORT void ws_task_reduction_start(uintptr_t* data)
{
    const size_t bytes = data[bytes_at] * (may_have_others() ? Crew::most_members : 1);
    void* memory = nullptr;
    if (posix_memalign(&memory, data[copies_at] < sizeof(void*) ? sizeof(void*) : data[copies_at], bytes)) {
        std::fprintf(stderr, "workshare: error: no memory for the reductions of a ws taskgroup (%zu bytes)\n", bytes);
        std::exit(1);
    }
    std::memset(memory, 0, bytes);
    data[copies_at] = reinterpret_cast<uintptr_t>(memory);
    data[outer_at] = reinterpret_cast<uintptr_t>(part.context.reductions);
    data[end_at] = data[copies_at] + bytes;
    part.context.reductions = data;
}

WS_EXPORT void ws_task_reduction_end(uintptr_t* data)
{
    part.context.reductions = reinterpret_cast<uintptr_t*>(data[outer_at]);
    std::free(copies(data));
}

WS_EXPORT void ws_task_reduction_remap(size_t count, size_t originals, void** pointers)
{
    const uintptr_t slot = uintptr_t(ws_task_slot());
    for (size_t i = 0; i < count; i++) {
        void* original = nullptr;
        void* const copy = mine(static_cast<char*>(pointers[i]), slot, original);
        if (!copy) {
            std::fprintf(stderr,
                         "workshare: error: no taskgroup around a ws task reduces a variable of its 'in_reduction' "
                         "clause; name it in the 'task_reduction' clause of a taskgroup\n");
            std::exit(1);
        }
        pointers[i] = copy;
        if (i < originals)
            pointers[count + i] = original;
    }
}

} // namespace ws::group
