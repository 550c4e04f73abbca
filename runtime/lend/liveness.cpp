// SPDX-License-Identifier: MIT
//
// Whoever waits for another process checks now and then whether it still lives. A dead rank ends the job with an error
// that names it: a chunk it had claimed may be lost, and nobody could tell.
#include "lend/lend.h"
#include "lend/peers.h"
#include "mpi/end_job.h"

#include <cstdio>

namespace ws::lend {

namespace {
Peers peers;
} // namespace

void probe_peers() { peers.start(*detail::window); }

void check_peers(const char* waiting_for)
{
    const unsigned dead = peers.find_dead();
    if (dead == Peers::none)
        return;
    const window::Window& w = *detail::window;
    std::fprintf(stderr, "workshare: rank %d (pid %d) died while rank %d waited for %s; ending the job\n",
                 w.home(dead).world_rank, int(w.home(dead).process.pid), w.own_home().world_rank, waiting_for);
    mpi::end_job();
}

} // namespace ws::lend
