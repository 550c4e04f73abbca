// SPDX-License-Identifier: MIT
//
// The one way out when going on would lose work or hang.
#pragma once

namespace ws::mpi {

// Ends the whole job with exit status 1. The caller has printed the reason to stderr. From any thread, at any time:
// before MPI_Init and after MPI_Finalize it ends this process.
[[noreturn]] void end_job();

// In a child of fork(): the job is its parent's, and end_job() ends this process alone.
void leave_job();

} // namespace ws::mpi
