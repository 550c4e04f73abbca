// SPDX-License-Identifier: MIT
#include "openmp/library/allocator.h"

#include "openmp/library/next.h"
#include "openmp/library/threads.h"
#include "base/atomics.h"

namespace ws::openmp {

using base::Flag;
using base::Hardware;

namespace {
volatile Flag is_set; // the program has called omp_set_default_allocator()
} // namespace

uintptr_t default_allocator()
{
    // Relaxed: who sets one for others to inherit comes before their region.
    return WS_UNLIKELY(Hardware::load_relaxed(is_set)) && openmp(nullptr).default_allocator
               ? openmp(nullptr).default_allocator()
               : 0;
}

void inherit_allocator(uintptr_t allocator) { openmp(nullptr).set_default_allocator(allocator); }

// An allocator is as large as a pointer; Fortran passes where it is.
#define WS_SET_ALLOCATOR(ours, name, version)                                                                         \
    WS_EXPORT void ours(uintptr_t allocator)                                                                          \
    {                                                                                                                 \
        static Next<void(uintptr_t)> next(name, version);                                                             \
        Hardware::store_relaxed(is_set, 1);                                                                           \
        next(__builtin_return_address(0))(allocator);                                                                 \
    }                                                                                                                 \
    asm(".symver " #ours "," name "@" version)
WS_SET_ALLOCATOR(openmp_set_allocator, "omp_set_default_allocator", "OMP_5.0.1");
WS_SET_ALLOCATOR(openmp_set_allocator_fortran, "omp_set_default_allocator_", "OMP_5.0.1");
WS_SET_ALLOCATOR(openmp_set_allocator_llvm, "omp_set_default_allocator", "VERSION");
WS_SET_ALLOCATOR(openmp_set_allocator_fortran_llvm, "omp_set_default_allocator_", "VERSION");

} // namespace ws::openmp
