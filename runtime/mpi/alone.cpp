// SPDX-License-Identifier: MIT
//
// Who is alone: the question behind the plain form of `ws atomic` (ws_alone in directive/abi.h). Guests are counted by the
// regions; here it is about threads of the program's own, which might be in regions of theirs.
#include "loop/participant.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sys/single_threaded.h>

extern "C" __attribute__((visibility("default"))) char ws_alone = 0;

namespace ws {

Alone may_be_alone = Alone::unknown;

namespace {

// OpenMP's, of whatever library the program brings; null without one.
int (*omp_in_parallel)();

} // namespace

void settle_alone(int thread_level_asked)
{
    omp_in_parallel = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_in_parallel"));
    // MPI_THREAD_SINGLE is the program's word that it has one thread. OpenMP programs often do not mean it.
    may_be_alone = thread_level_asked != MPI_THREAD_SINGLE ? Alone::never
                   : omp_in_parallel                       ? Alone::unless_parallel
                                                           : Alone::always;
}

bool look_up_alone()
{
    if (may_be_alone == Alone::unknown) {
        int initialized = 0, finalized = 0, level = MPI_THREAD_MULTIPLE;
        if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized || PMPI_Finalized(&finalized) != MPI_SUCCESS ||
            finalized || PMPI_Query_thread(&level) != MPI_SUCCESS)
            return __libc_single_threaded;
        settle_alone(level);
        return alone();
    }
    return !omp_in_parallel();
}

} // namespace ws
