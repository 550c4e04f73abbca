// SPDX-License-Identifier: MIT
//
// The head of this rank's board: who it is, in which job.
#include "mpi/job.h"
#include "observe/board.h"
#include "observe/calls.h"
#include "observe/phases.h"
#include "base/atomics.h"
#include "base/os.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <sys/random.h>

namespace ws::mpi {

using observe::Board;

namespace {

uint64_t job_number(Job& job)
{
    uint64_t number = 0;
    if (job.rank == 0 && getrandom(&number, sizeof number, 0) != sizeof number)
        number = uint64_t(time(nullptr)) << 32 | uint64_t(getpid());
    PMPI_Bcast(&number, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return number;
}

// Numbers of the nodes in the order of their first ranks.
int node_number(Job& job, int node_rank)
{
    int first = node_rank == 0, number = 0;
    PMPI_Exscan(&first, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (job.rank == 0)
        number = 0; // MPI_Exscan leaves rank 0's value undefined
    PMPI_Bcast(&number, 1, MPI_INT, 0, job.node);
    return number;
}

// What the user chose: the WS_ variables of the environment.
void list_options(char* text, size_t size)
{
    size_t length = 0;
    for (char** e = environ; *e; e++)
        if (std::strncmp(*e, "WS_", 3) == 0 && std::strncmp(*e, "WS_ENABLE=", 10) != 0 && length < size)
            length += size_t(std::snprintf(text + length, size - length, "%s%s", length ? " " : "", *e));
}

} // namespace

bool show_rank(Job& job)
{
    const unsigned ranks = job.inactive ? 1 : job.window.cores();
    const unsigned workers = job.inactive ? 0 : job.window.workers();
    job.board = observe::make_board(ranks, workers);
    bool made = job.board != nullptr;
    PMPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_CXX_BOOL, MPI_LAND, MPI_COMM_WORLD);
    if (!made)
        return false;
    Board& b = *job.board;
    observe::show_calls_on(b);
    PMPI_Comm_rank(job.node, &b.node_rank);
    PMPI_Comm_size(job.node, &b.node_ranks);
    b.job = job_number(job);
    b.rank = job.rank;
    b.size = job.size;
    b.node = node_number(job, b.node_rank);
    b.first_worker = workers ? job.window.first_worker() : 0;
    job.clock.calibrate();
    b.ticks_per_us = job.clock.ticks_per_us();
    b.inactive = base::Flag(job.inactive);
    gethostname(b.host, sizeof b.host - 1);
    const ssize_t length = readlink("/proc/self/exe", b.program, sizeof b.program - 1);
    b.program[length < 0 ? 0 : length] = '\0';
    list_options(b.options, sizeof b.options);
    return true;
}

void show_attached(Job& job)
{
    Board& b = *job.board;
    b.node_cpus = job.inactive ? 0 : job.window.node().cpus;
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    b.attached_at = job.attached_at;
    b.attached_at_unix = int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
    observe::first_phase(b, b.attached_at);
    observe::show_board(*job.board);
}

void show_ended(Job& job)
{
    observe::called(nullptr, 0); // MPI_Finalize: what comes now is not the program's
    const uint64_t now = base::ticks(); // one moment, so that the phases add up to the run
    observe::end_phases(now);
    base::store_relaxed(job.board->ended_at, now);
}

} // namespace ws::mpi
