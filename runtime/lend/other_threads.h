// SPDX-License-Identifier: MIT
//
// Threads of the program beside the one that called MPI_Init, blocked in MPI: no core stands behind them that could be
// lent, but nor must they use one up. They yield, then sleep; senders wake them.
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
    Rank& rank_;
};

} // namespace ws::lend
