// SPDX-License-Identifier: MIT
//
// What mpi/attach tells the critical sections.
#pragma once

#include "window/locks.h"

namespace ws::abi {

// The node's locks, or null: only threads of this process exclude each other from here on. Call while no critical
// section runs. `rank` is the rank in MPI_COMM_WORLD, for messages.
void use_node_locks(window::LockTable* node, int rank);

} // namespace ws::abi
