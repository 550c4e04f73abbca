// SPDX-License-Identifier: MIT
//
// What a host needs of the node: the communicator of its ranks, and memory beside the window. MPI_Init makes one
// communicator and one shared window for both, as each takes all ranks up to a millisecond.
#pragma once

#include <cstddef>
#include <mpi.h>

namespace ws::mpi {

// How many bytes a host wants for N ranks of a node; null: none. Set before ws_fork_attach().
extern size_t (*host_bytes)(unsigned ranks);

struct HostNode {
    MPI_Comm comm = MPI_COMM_NULL;
    void* memory = nullptr; // zero at first; null if the node has no window
};
// From ws_fork_attach() to the end of hooks.finalize().
extern HostNode host_node;

} // namespace ws::mpi
