// SPDX-License-Identifier: MIT
//
// A process that waits for another one checks now and then whether that one still lives. A dead rank ends the job with
// an error that names it: a chunk it had claimed may be lost, and nobody could tell.
#include "lend/rank.h"

#include <cstdio>

namespace ws::lend {

void Rank::check_peers(const char* waiting_for)
{
    const unsigned dead = peers_.find_dead();
    if (dead == Peers::none)
        return;
    std::fprintf(stderr, "workshare: error: rank %d (pid %d) died while rank %d waited for %s; ending the job\n",
                 window.home(dead).world_rank, int(peers_.pid(dead)), window.own_home().world_rank,
                 waiting_for);
    loops.end_job();
}

} // namespace ws::lend
