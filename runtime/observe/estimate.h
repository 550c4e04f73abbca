// SPDX-License-Identifier: MIT
//
// What sharing could gain, computed from the waiting of a run without help: for the summary (verdict.cpp) and for
// ws-doctor advise. docs/about/estimate.md, "The upper bound".
#pragma once

#include <algorithm>

namespace ws::observe {

// A run without help. Times are sums over the ranks, but the elapsed time.
struct Waited {
    double elapsed_s, ranks, nodes;
    double blocked_s;    // in MPI
    double all_waited_s; // of it: while no rank of the node computed
};

// Returns the part of the waiting in which another rank of the node computed. Helpers could use only that.
inline double helpable_s(const Waited& w) { return std::max(0.0, w.blocked_s - w.all_waited_s); }

// The same if only parallel regions are shared, in which the ranks computed for `regions_s`: a rank that opens a region
// alone can gain at most what the other ranks of its node take of it.
inline double helpable_in_regions_s(const Waited& w, double regions_s)
{
    return std::min(helpable_s(w), regions_s * (w.ranks / std::max(w.nodes, 1.0) - 1));
}

// Returns how many times as fast the run would be if helpers used `used_s` of the waiting, and `lost_s` of the elapsed
// time were lost by that.
inline double speedup_of(const Waited& w, double used_s, double lost_s = 0)
{
    const double then = w.elapsed_s - used_s / w.ranks + lost_s;
    return then > 0 ? w.elapsed_s / then : 1;
}

} // namespace ws::observe
