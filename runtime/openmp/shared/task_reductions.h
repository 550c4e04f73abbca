// SPDX-License-Identifier: MIT
//
// libgomp's reductions over tasks (`reduction(task, ...)`) that a virtual thread comes to.
#pragma once

#include <cstdint>

namespace ws::openmp {

// The current virtual thread begins a construct with these, in the form of libgomp's functions: what all threads
// reduce, and a word with the size of memory that they have in common, zero at first, which gets its address. Either
// may be null.
void begin_common(uintptr_t* reductions, void** memory);

// A taskgroup of the current virtual thread begins with these.
extern "C" void gnu_GOMP_taskgroup_reduction_register(uintptr_t* reductions);

// Allocates the copies for a region of `threads` threads before it begins, as GOMP_parallel_reductions() does. The
// program frees them with GOMP_taskgroup_reduction_unregister().
void begin_region_reductions(uintptr_t* reductions, unsigned threads);

} // namespace ws::openmp
