// SPDX-License-Identifier: MIT
//
// omp_set_default_allocator(): a thread's own, which those of its regions inherit. Guests do not: from then on regions
// are OpenMP's.
#include "directive/next.h"
#include "openmp/team.h"

#include <cstdint>

namespace ws::openmp {

using directive::Next;

namespace {
volatile Flag allocator_set;
} // namespace

bool allocator_is_set() { return Hardware::load_relaxed(allocator_set); }

// An allocator is as large as a pointer; Fortran passes where it is.
#define WS_SET_ALLOCATOR(ours, name, version)                                                                         \
    WS_EXPORT void ours(uintptr_t allocator)                                                                          \
    {                                                                                                                 \
        static Next<void(uintptr_t)> next(name, version);                                                             \
        Hardware::store_relaxed(allocator_set, 1);                                                                           \
        next(__builtin_return_address(0))(allocator);                                                                 \
    }                                                                                                                 \
    asm(".symver " #ours "," name "@" version)
WS_SET_ALLOCATOR(openmp_set_allocator, "omp_set_default_allocator", "OMP_5.0.1");
WS_SET_ALLOCATOR(openmp_set_allocator_fortran, "omp_set_default_allocator_", "OMP_5.0.1");
WS_SET_ALLOCATOR(openmp_set_allocator_llvm, "omp_set_default_allocator", "VERSION");
WS_SET_ALLOCATOR(openmp_set_allocator_fortran_llvm, "omp_set_default_allocator_", "VERSION");

} // namespace ws::openmp
