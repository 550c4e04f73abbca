// SPDX-License-Identifier: MIT
//
// The ranks of a pool, as that reaches them: by MPI (mpi_peers.cpp), or played by a test in one process.
#pragma once

#include "policy/processes.h"
#include "policy/tasks/wire.h"

#include <vector>

namespace ws::policy::tasks {

// Where the ranks are.
struct Places {
    std::vector<int> in_world;   // of each rank: its rank in MPI_COMM_WORLD
    std::vector<int> first;      // of each rank: the first rank of its node
    std::vector<int> node_ranks; // of the calling rank's node
    int node_me = 0;             // its place there
    MPI_Comm node = MPI_COMM_NULL; // they alone, for node::Memory; as long as the Peers
};

class Peers {
public:
    virtual ~Peers() = default;

    Processes& all() const { return *all_; }
    // Collective, once.
    virtual Places places() = 0;
    // Collective, once: letters among them. `meets`: those that the calling rank writes to in each run, in an order in
    // which no two wait for each other.
    virtual std::unique_ptr<Wire> open_wire(Wire::Receive receive, const std::vector<int>& meets) = 0;
    // Whether other threads than run()'s may look at letters meanwhile.
    virtual bool lets_threads_in() const = 0;

protected:
    explicit Peers(std::unique_ptr<Processes> all) : all_(std::move(all)) {}

private:
    const std::unique_ptr<Processes> all_;
};

// Collective over comm.
std::unique_ptr<Peers> peers_of(MPI_Comm comm);

} // namespace ws::policy::tasks
