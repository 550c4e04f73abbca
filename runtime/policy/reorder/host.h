// SPDX-License-Identifier: MIT
//
// What the MPI part of rank reordering needs of the job; filled in when libws attaches, empty in a job without -workshare.
#pragma once

#include <mpi.h>

namespace ws::reorder {

struct Host {
    MPI_Comm node = MPI_COMM_NULL; // all ranks of the node, for this runtime alone
    int node_number = -1;
    // While it is on, the calling thread's waits in MPI let other processes run and lend nothing: in a call that has begun in all
    // processes, and in which each waits for the next, going to sleep and being woken would take most of the time.
    void (*yield_in_mpi)(bool on) = nullptr;
};
extern Host host;

} // namespace ws::reorder
