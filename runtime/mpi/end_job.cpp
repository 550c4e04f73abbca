// SPDX-License-Identifier: MIT
#include "mpi/end_job.h"

#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <unistd.h>

namespace ws {

void end_job()
{
    int initialized = 0, finalized = 1;
    std::fflush(nullptr);
    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized && PMPI_Finalized(&finalized) == MPI_SUCCESS &&
        !finalized) {
        // The message goes through pipes to mpirun, which drops what it has not passed on when the abort reaches it.
        usleep(150000);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    _exit(1); // not exit(): handlers and destructors may wait for the threads that are at work
}

} // namespace ws
