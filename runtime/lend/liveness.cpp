// SPDX-License-Identifier: MIT
//
// Who waits on another process looks now and then whether it still lives. A dead rank ends the job with an error that
// names it: a chunk it had claimed may be lost, and nobody could tell.
#include "lend/lend.h"
#include "mpi/end_job.h"
#include "window/os.h"

#include <algorithm>
#include <cstdio>

namespace ws {

namespace {
uint64_t visible; // ranks whose pid means something here; more than 64 ranks: all are taken to
} // namespace

void probe_peers()
{
    Window& w = *detail::window;
    for (unsigned r = 0; r < w.ranks() && r < 64; r++)
        visible |= uint64_t(process_alive(w.core(r).pid)) << r;
}

// A few at a time, the ranks after the own one first: were all looked at by all that wait, this would cost more than the waits give on a
// large node.
void check_peers(const char* waiting_for)
{
    constexpr unsigned at_once = 16;
    static thread_local unsigned next = 0;
    Window& w = *detail::window;
    for (unsigned i = 0; i < std::min(at_once, w.ranks() - 1); i++) {
        next = next % (w.ranks() - 1) + 1;
        const unsigned r = (w.me() + next) % w.ranks();
        const Core& c = w.core(r);
        if ((r < 64 && !(visible >> r & 1)) || process_alive(c.pid))
            continue;
        std::fprintf(stderr, "workshare: rank %d (pid %d) died while rank %d waited for %s; ending the job\n",
                     c.world_rank, int(c.pid), w.own_core().world_rank, waiting_for);
        end_job();
    }
}

} // namespace ws
