// SPDX-License-Identifier: MIT
//
// The turns of the program's outer loop (measure/period.h): fed with the calls of MPI that the home thread makes. Only
// for policies that want them; without one nothing of this runs.
#pragma once

namespace ws::mpi {

struct Job;

// Puts itself in front of the hook `called`, which must be set already. To be called by the thread that called
// MPI_Init.
void watch_turns(Job& job);

} // namespace ws::mpi
