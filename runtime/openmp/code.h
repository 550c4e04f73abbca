// SPDX-License-Identifier: MIT
//
// What the program's machine code shows of a function.
#pragma once

namespace ws::openmp {

// Whether what has barriers, the program or a library, refers to errno at all.
bool has_errno_beside_barriers();

// Whether this address is in the function that begins at `function`, and that function speaks of errno nowhere. False
// also where this cannot be seen: on other processors than x86-64, or without unwind tables.
bool is_without_errno(const void* function, const void* address);

// Where a function's code is: GCC makes a jump of one that is the same as another.
const void* code_of(const void* function);

// What the machine code of a region shows, and all that it may call.
struct RegionCode {
    bool asks;        // a thread of it may learn which one it is, or how many there are, but to deal a loop
    bool all;         // all that it may call is known
    bool deals_first; // before it deals a loop it calls nothing, and has no loop
    bool by_number;   // it deals a loop by its thread number
};
// Of the region of this function; tell(to, name): OpenMP's functions that it may call. False: nothing can be seen, as
// capstone is missing or this is no x86-64. Any thread.
bool look_at_region(const void* function, RegionCode& code, void (*tell)(void* to, const char* name), void* to);
// A question at this address, where it returns to, tells the program nothing.
struct HarmlessQuestion {
    bool is, deals; // `deals`: a loop is dealt with the answer
};
HarmlessQuestion harmless_question(const void* caller);

} // namespace ws::openmp
