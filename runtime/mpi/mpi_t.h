// SPDX-License-Identifier: MIT
//
// The WS_ variables of MPI_T: the lists, and what a tool reads and sets. MPICH's side is mpir_workshare.c, which asks
// for the lists by ws_fork_variables().
#pragma once

#include "lend/lend.h"
#include "options/options.h"
#include "base/os.h"

namespace ws::mpi {

struct Job;

// The times that the options determine. `all_ring`: whatever a rank can wait for rings its doorbell.
lend::LendTimes lend_times(const option::Options& options, const base::Clock& clock, bool all_ring);

// The board is there: the counters count from here on.
void mpi_t_begin(Job& job);
// Before the window goes: from here on the node's ranks are not looked at any more. All counters keep their last
// values.
void mpi_t_end();

} // namespace ws::mpi
