// SPDX-License-Identifier: MIT
//
// The default allocator, which a thread sets for itself, and which the threads of its regions inherit.
#pragma once

#include <cstdint>

namespace ws::openmp {

// The calling thread's; 0: no thread has ever set one.
uintptr_t default_allocator();
// The calling thread's, from here on. Not 0.
void inherit_allocator(uintptr_t allocator);

} // namespace ws::openmp
