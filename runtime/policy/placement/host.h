// SPDX-License-Identifier: MIT
//
// What the MPI part of rank reordering needs of the job; filled in when libws attaches, empty in a job without
// -workshare.
#pragma once

#include "measure/meter.h"
#include "observe/board.h"

#include <mpi.h>

namespace ws::policy::placement {

struct Host {
    MPI_Comm node = MPI_COMM_NULL; // all ranks of the node, for this runtime alone
    int node_number = -1;
    observe::Board* board = nullptr;
    measure::Meter* meter = nullptr;
};
extern Host host;

} // namespace ws::policy::placement
