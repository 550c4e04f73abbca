// SPDX-License-Identifier: MIT
//
// OpenMP's threads, as the program has them: how many a region gets, how one is begun, and whether anything in the process can
// tell threads apart, and so guests from threads.
#pragma once

#include "directive/abi.h"

namespace ws {

// The functions of the program's OpenMP library.
struct OpenMP {
    int (*max_threads)();
    int (*num_threads)();
    int (*thread_num)();
    int (*in_parallel)();
    int (*thread_limit)();
    void (*parallel)(void (*fn)(void*), void* data, unsigned threads, unsigned flags); // GOMP_parallel, libomp's too
};
// `caller`: where in the program. Looked up once.
const OpenMP& openmp(void* caller);

// Runs fn(data) by the threads that a region gets now.
void openmp_parallel(const OpenMP& library, void (*fn)(void*), void* data);

// Whether a loop of OpenMP's is right with guests, who are none of OpenMP's threads. LoopHost::may_share.
bool may_share_openmp(const ws_site* site);

} // namespace ws
