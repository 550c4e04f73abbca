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

} // namespace ws::openmp
