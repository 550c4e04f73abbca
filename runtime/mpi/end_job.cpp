// SPDX-License-Identifier: MIT
#include "mpi/end_job.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

namespace ws::mpi {

namespace {

// Our message has said why. MPI_Abort's message, from each rank, would hide it.
void be_quiet()
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
}

bool forked;

} // namespace

void leave_job() { forked = true; }

void end_job()
{
    if (forked)
        _exit(1); // and not exit(), which would write out what stdio still holds of the parent's output
    int initialized = 0, finalized = 1;
    std::fflush(nullptr);
    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized && PMPI_Finalized(&finalized) == MPI_SUCCESS &&
        !finalized) {
        // The message goes to mpirun through pipes, and mpirun drops what it has not passed on when the abort reaches
        // it.
        usleep(150000);
        be_quiet();
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    _exit(1); // not exit(): handlers and destructors may wait for the threads that are at work
}

} // namespace ws::mpi
