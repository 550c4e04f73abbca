// SPDX-License-Identifier: MIT
//
// The processes of a communicator in a line, those of a core side by side and those of a node: for
// MPIX_Dist_load_create, which needs an order that nobody has to know as a whole. Kept with the communicator.
#pragma once

#include "policy/placement/place.h"
#include "policy/placement/spread.h"

namespace ws::policy::placement {

struct ProcessLine {
    ~ProcessLine();
    MPI_Comm comm = MPI_COMM_NULL; // the line: a private communicator
    int at = 0;                    // of the calling process in it
    Domain domain;

    // Its unit, to which loads are assigned: a core or a node.
    int number = 0, slot = 0; // of the unit in `units`; of the process in its unit
    PlacementUnits units;

    // Units side by side form a cell, of as many processes as one process assigns ranks to. Its first process leads.
    int cell_size;            // that was asked for
    int leader = 0;           // in the line
    Spots members; // of the leader: where the cell's processes are
};

// Collective over comm; the one that is kept with it, if that is for the same domain and cells. Returns an MPI error
// code.
int find_line(MPI_Comm comm, const std::shared_ptr<const Machine>& machine, Domain domain, int cell_size,
              std::shared_ptr<const ProcessLine>& line);

} // namespace ws::policy::placement
