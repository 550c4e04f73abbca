// SPDX-License-Identifier: MIT
//
// Locks that their owner may set several times know it by its thread. Virtual threads that stop while they hold one
// would share it with others on the same thread: regions that use such locks are OpenMP's.
#include "directive/next.h"
#include "openmp/meet.h"
#include "openmp/watch.h"

namespace ws::openmp {

using directive::Next;

namespace {

__attribute__((noinline)) void note(int change)
{
    Unit& unit = *current;
    if (unit.watch)
        unit.watch->note_unknown("a lock that may be set several times");
    else
        unit.nest_locks += unsigned(change);
}

} // namespace

// `change`: how many more the caller holds then, of what the library has answered.
#define WS_NEST_LOCK(ours, name, version, change)                                                                     \
    WS_EXPORT int ours(void* lock)                                                                                    \
    {                                                                                                                 \
        static Next<int(void*)> next(name, version);                                                                  \
        [[maybe_unused]] const int answer = next(__builtin_return_address(0))(lock);                                  \
        if (WS_UNLIKELY(current != nullptr))                                                                          \
            note(change);                                                                                             \
        return answer;                                                                                                \
    }                                                                                                                 \
    asm(".symver " #ours "," name "@" version)
#define WS_NEST_LOCKS(what, change)                                                                                   \
    WS_NEST_LOCK(openmp_nest_lock_##what##_1, "omp_" #what "_nest_lock", "OMP_1.0", change);                                             \
    WS_NEST_LOCK(openmp_nest_lock_##what##_3, "omp_" #what "_nest_lock", "OMP_3.0", change);                                             \
    WS_NEST_LOCK(openmp_nest_lock_##what##_llvm, "omp_" #what "_nest_lock", "VERSION", change);                                          \
    WS_NEST_LOCK(openmp_nest_lock_##what##_fortran_1, "omp_" #what "_nest_lock_", "OMP_1.0", change);                                    \
    WS_NEST_LOCK(openmp_nest_lock_##what##_fortran_3, "omp_" #what "_nest_lock_", "OMP_3.0", change);                                    \
    WS_NEST_LOCK(openmp_nest_lock_##what##_fortran_llvm, "omp_" #what "_nest_lock_", "VERSION", change)

WS_NEST_LOCKS(set, 1);
WS_NEST_LOCKS(test, answer != 0);
WS_NEST_LOCKS(unset, -1);

} // namespace ws::openmp
