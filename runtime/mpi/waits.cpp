// SPDX-License-Identifier: MIT
//
// -workshare-waits: libws and libws-waits.so (waits.c), which was loaded first for it, get to know each other.
#include "mpi/job.h"

#include "abi/call_waits.h"
#include "base/atomics.h"
#include "lend/rank.h"

#include <cstdio>
#include <dlfcn.h>

// Where this library begins and ends, by the linker.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
}

namespace ws::mpi {

void watch_calls(Job& job)
{
    if (!job.options.waits)
        return;
    auto* const calls = static_cast<ws_call_waits*>(dlsym(RTLD_DEFAULT, WS_CALL_WAITS_NAME));
    if (!calls) {
        if (job.rank == 0)
            std::fputs("workshare: warning: -workshare-waits has no effect, because libws-waits.so was not loaded "
                       "first; start the job with Workshare's mpirun, or with workshare\n",
                       stderr);
        return;
    }
    job.lending->watch_calls();
    calls->begin = ws_call_begins;
    calls->end = ws_call_ends;
    calls->own_begin = uintptr_t(__ehdr_start);
    calls->own_end = uintptr_t(_end);
    // In the order of the words in options.txt: gpu; io; both, in two orders. Pairs with begins() in waits.c.
    constexpr unsigned kinds[] = {0, WS_CALLS_GPU, WS_CALLS_IO, WS_CALLS_GPU | WS_CALLS_IO, WS_CALLS_GPU | WS_CALLS_IO};
    base::store_release(calls->kinds, kinds[job.options.waits]);
}

} // namespace ws::mpi
