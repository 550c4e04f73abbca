// SPDX-License-Identifier: MIT
//
// Threads of the program beside the one that called MPI_Init, blocked in MPI: they must not use up a core. They yield,
// then sleep; senders wake them. Where one is pinned to a core that a worker has (lend/worker.h), the worker has it
// while the thread sleeps here, and no longer.
#pragma once

#include <cstdint>

namespace ws::lend {

class Rank;

class OtherThreads {
public:
    explicit OtherThreads(Rank& rank) : rank_(rank) {}

    // MPICH's hooks, as Rank's, by any thread that may not lend and runs no iteration.
    void blocked(unsigned polls);
    void unblocked();

private:
    void compute_from_here();

    Rank& rank_;
};

} // namespace ws::lend
