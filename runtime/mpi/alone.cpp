// SPDX-License-Identifier: MIT
//
// Whether a thread is alone, so that `ws atomic` may be a plain operation (ws_alone in abi/abi.h). Regions know
// their guests; this file is about other threads of the program, which might be in regions of their own.
#include "loop/participant.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sys/single_threaded.h>

extern "C" { __attribute__((visibility("default"))) char ws_alone; }

using ws::loop::Alone;

Alone ws::loop::may_be_alone = Alone::unknown;

namespace {

// A function of whatever OpenMP library the program brings.
bool has_openmp()
{
    static const bool has = dlsym(RTLD_DEFAULT, "omp_in_parallel") != nullptr;
    return has;
}

} // namespace

void ws::loop::settle_alone(int thread_level_asked)
{
    // MPI_THREAD_SINGLE is the program's word that it has one thread. OpenMP programs often do not mean it; and an
    // iteration may begin a parallel region at any time, so it is not enough to ask whether one is open now.
    may_be_alone = thread_level_asked != MPI_THREAD_SINGLE || has_openmp() ? Alone::never : Alone::always;
}

bool ws::loop::look_up_alone()
{
    int initialized = 0, finalized = 0, level = MPI_THREAD_MULTIPLE;
    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized || PMPI_Finalized(&finalized) != MPI_SUCCESS ||
        finalized || PMPI_Query_thread(&level) != MPI_SUCCESS)
        return __libc_single_threaded && !has_openmp();
    settle_alone(level);
    return may_be_alone == Alone::always;
}
