// SPDX-License-Identifier: MIT
//
// What programs call of phases, and what follows from these: which of them share, and what the job says of them.
#pragma once

#include "mpi/job.h"

namespace ws::mpi {

// From here on the functions of programs act; until stop_phases() they are about this job.
void start_phases(Job& job);
void stop_phases(Job& job);
// At the end, once on the whole job: what programs did wrong with phases, and whether -workshare-only-phase ever acted.
// Collective over MPI_COMM_WORLD.
void report_phases(Job& job);

} // namespace ws::mpi
