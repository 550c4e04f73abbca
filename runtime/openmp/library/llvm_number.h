// SPDX-License-Identifier: MIT
//
// libomp's number of the calling thread, which its functions take as an argument.
#pragma once

#include "openmp/library/next.h"
#include "openmp/library/threads.h"

#include <cstdint>

namespace ws::openmp {

inline Next<int32_t(void* location)> next_global_thread_num("__kmpc_global_thread_num");

// clang's code asks for it once per region, and a region that runs without libomp may have gone on on another thread
// since. `caller`: where in the program; null: anywhere. Does not return once another thread has called exit(), because
// libomp would initialize itself again.
inline int32_t llvm_number(void* location, void* caller = nullptr)
{
    stay_if_process_ends();
    return next_global_thread_num(caller)(location);
}

} // namespace ws::openmp
