// SPDX-License-Identifier: MIT
//
// libws's side of the WS_ variables in MPI_T; MPICH's is mpir_workshare.c. The list of them is in mpir_workshare.h.
#pragma once

#include "lend/lend.h"
#include "mpi/options.h"

namespace ws {

// The times that the options decide. `all_ring`: whatever a rank waits for rings its doorbell.
LendTimes lend_times(const Options& options, bool all_ring);

// Sets the hooks, once the board is there.
void mpi_t_begin();
// Before the window goes: from here on the node's ranks are not looked at any more. The rank's own counters still are.
void mpi_t_end();

} // namespace ws
