// SPDX-License-Identifier: MIT
//
// OpenMP's threads, as the program has them: how many a region gets, how one is begun, and what virtual threads are
// told.
#pragma once

#include "abi/abi.h"
#include "openmp/library/regions.h"
#include "loop/participant.h"
#include "base/atomics.h"

namespace ws::openmp {

// The functions of the program's OpenMP library. Without one `max_threads` is all there is.
struct OpenMP {
    int (*max_threads)();
    int (*num_threads)();
    int (*thread_num)();
    int (*in_parallel)();
    int (*thread_limit)();
    int (*level)();
    int (*num_procs)();
    int (*max_active_levels)(); // null: it has none; the next as well
    int (*num_teams)();
    uintptr_t (*default_allocator)(); // both or none
    void (*set_default_allocator)(uintptr_t);
    void (*parallel)(void (*fn)(void*), void* data, unsigned threads, unsigned flags); // GOMP_parallel, libomp's too
};
extern const OpenMP* found_library;
const OpenMP& find_openmp(void* caller);
// `caller`: where in the program. Looked up once.
inline const OpenMP& openmp(void* caller)
{
    // Acquire: what it points to was written before.
    const OpenMP* found = base::load_acquire(found_library);
    return WS_LIKELY(found != nullptr) ? *found : find_openmp(caller);
}

// Regions of OpenMP's that the calling thread is in.
int nesting_level();

// ---- what the program has said and is told (openmp_questions.cpp)

// Whether libomp's regions begin in libws, if there is a libomp.
bool sees_forks();
// From here on none passes by.
void see_all_forks();

// ---- regions that are shared as they are (runtime/openmp/)

// Hears of exit(): the library may then end itself at any moment, and would initialize itself again for a thread
// that goes on meanwhile. Once, any thread.
void hear_of_exit();
// Before a virtual thread calls the library: does not return once another thread has called exit().
void stay_if_process_ends();

// What OpenMP has each thread say of its own regions, and what a virtual thread knows of those around it.
struct ThreadSettings {
    const ThreadSettings* outer; // of the virtual thread that opened its region; null: it was none
    unsigned number, size;       // its number, of how many
    int depth, active;           // regions around it, with its own; of these the active ones
    int threads;                 // of its next region
    int dynamic, levels;         // omp_set_dynamic(), omp_set_max_active_levels(); -1: as the library has it
    OmpSchedule schedule;
    int kind, chunk;             // as it has said the schedule itself; kind -1: it has not
    int library_level = 0;       // regions that the library knows of where it runs
};
// The calling virtual thread's; null: it is none.
extern __thread ThreadSettings* thread_settings __attribute__((tls_model("initial-exec")));

// As many threads as the rank has of its own: what OpenMP had before the program said how many it wants, and before it
// was told how many virtual threads a region has.
unsigned own_threads();
// -workshare-openmp=share is on.
bool is_share_asked();

// The same, unless it is in a region of the library's within.
inline ThreadSettings* own_settings()
{
    ThreadSettings* const mine = thread_settings;
    return WS_UNLIKELY(mine != nullptr) && nesting_level() == mine->library_level ? mine : nullptr;
}

} // namespace ws::openmp
