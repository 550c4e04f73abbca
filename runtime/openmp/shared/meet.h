// SPDX-License-Identifier: MIT
//
// What happens when a virtual thread comes to a call of the library's that does more than
// distribute a loop. `current` is not null.
#pragma once

#include "openmp/shared/team.h"
#include "base/os.h"

#include <cstdint>

// For functions of the library's whose parameters do not matter, of which none has more than 12, all integers and
// pointers: their list, and that of the arguments to hand on.
#define WS_12(type, each)                                                                                             \
    each(type, a) each(type, b) each(type, c) each(type, d) each(type, e) each(type, f) each(type, g) each(type, h)   \
        each(type, i) each(type, j) each(type, k) type l
// Or none more than 6, which are in registers.
#define WS_6(type, each)                                                                                              \
    each(type, a) each(type, b) each(type, c) each(type, d) each(type, e) type f
#define WS_NAMED(type, name) type name,
// Returns what such a function gives: never by a jump to it, for which the compiler would write all 12 to
// where its caller has put them, and those that it has not are its caller's variables, which may have changed.
#define WS_RETURN(call)                                                                                               \
    const long result_of_call = call;                                                                                 \
    asm volatile("" : : : "memory");                                                                                  \
    return result_of_call

namespace ws::openmp {

// All threads of the region wait for each other. `caller`: where the call returns to; `frame`: the stack pointer then
// (own_frame() of the called function); `location`: libomp's ident_t, for tools. True: they have, by libws.
bool waited_for(void* caller, uintptr_t frame, const void* location = nullptr);

// Whether a call that returns to `caller` was the last deed of a region's function that libws has called: then a
// barrier there is the region's end itself.
bool ends_region(const void* caller, uintptr_t frame);

} // namespace ws::openmp
