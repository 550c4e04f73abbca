// SPDX-License-Identifier: MIT
//
// A parallel region in the program, known by its function, and what its executions have shown.
#pragma once

#include "abi/abi.h"
#include "base/atomics.h"
#include "openmp/shared/longest_first.h"

#include <string>

namespace ws::openmp {

using base::Flag;
using base::Hardware;

// The loop over its virtual threads after the barrier that returns to `barrier`.
struct Phase {
    ws_site site;
    const void* barrier;
    LongestFirst* volatile order; // null: not measured yet
};

struct alignas(64) RegionSite {
    ws_site site;  // the loop over its virtual threads, from the region's begin on
    ws_site again; // over those that were set aside
    const void* function;
    const char* volatile waits; // its virtual threads were seen to wait for each other in this way
    volatile Flag stuck;        // how often that was noticed: once may be chance
    volatile Hardware::Word claims, ticks; // of chunks on demand, and of the executions with such loops
    const char* volatile kept;  // why an execution was left to OpenMP
    LongestFirst* volatile order; // of the loop `site`; null: not measured yet
    Phase* volatile phases[128]; // found by where the barrier is
};

// Any thread. Null: no memory, or more regions than are kept.
RegionSite* find_site(const void* function);
// How many there are. Any thread.
unsigned sites_made();
// Any thread. Never null.
ws_site* site_after(RegionSite& site, const void* barrier);
// Any thread. The order of a round's virtual threads; `loop` is one of the site's. Null: no memory, or those that were
// set aside, which are others each time.
LongestFirst* order_of(RegionSite& site, ws_site* loop);

// Whether threads of some region of this process wait for each other, or its chunks are so short that assigning them to
// virtual threads may cost more than sharing gains: what sharing gained cannot be told then.
bool gain_is_unknown();
// What became of this process's regions, for the summary; `weight` tells on which rank there is most to say. Empty, 0:
// all are shared, or sharing is not asked for.
struct RegionsTold {
    std::string text;
    int weight = 0;
};
RegionsTold tell_regions();

} // namespace ws::openmp
