// SPDX-License-Identifier: MIT
//
// Which rows go from whom to whom when one contiguous partition becomes another, and what that costs. Each row whose
// owner changes moves once, and no other moves. Arithmetic, without MPI.
#pragma once

#include "policy/rows/partition.h"

namespace ws::policy::rows {

struct Piece {
    size_t process; // the other one
    Range rows;
};
// What `me` gives away and what it gets, in the order of the rows. Data cross each boundary between two processes in
// one direction, so that no circle of processes can wait for each other.
// Costs: O(log(processes) + pieces).
std::vector<Piece> outgoing(const Starts& from, const Starts& to, size_t me);
std::vector<Piece> incoming(const Starts& from, const Starts& to, size_t me);

// Rows that change their owner; and the most that one process gives and gets.
struct Volume {
    Rows all = 0, most = 0;
};
Volume volume_of(const Starts& from, const Starts& to);

// A partition between the two, `part` of `parts`: a large shift is made in rounds, so that no process has much more
// than it gets in the end.
Starts part_way(const Starts& from, const Starts& to, Rows part, Rows parts);

// What a process needs during a round, rows that it had and will have together, beyond the larger of the two.
Rows surplus_of(Range from, Range to);

} // namespace ws::policy::rows
