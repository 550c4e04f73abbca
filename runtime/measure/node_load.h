// SPDX-License-Identifier: MIT
//
// The loads of one node's ranks in one (window/load_row.h): what nodes tell each other.
#pragma once

#include "window/load_row.h"
#include <vector>

namespace ws::measure {

// Sums since the ranks attached, in seconds: the clocks of nodes do not tick alike. What happened between two readings
// is their difference, and how long that took the difference of `measured_s`.
struct NodeLoad {
    // ticks of the node that reads this, when it became known there; 0: nothing is known of that node
    uint64_t at = 0;
    double measured_s = 0;  // the moment up to which the sums count, by the clock of the node that they are of
    unsigned ranks = 0;
    unsigned computing = 0; // of them: not waiting in MPI at that moment
    unsigned cores = 0;     // that they may use
    double useful_s = 0, waited_s = 0, borrowed_s = 0, kept_off_s = 0;
    double period_s = 0;    // the longest that a rank's last period took; 0: none is known, or nobody asked for it
};

// `now` and `ticks_per_us`: of the node of these ranks.
NodeLoad summed_up(const std::vector<window::Load>& loads, unsigned cores, uint64_t now, double ticks_per_us);

} // namespace ws::measure
