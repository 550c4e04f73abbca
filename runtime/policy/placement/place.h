// SPDX-License-Identifier: MIT
//
// Where the processes of a communicator compute, and what is remembered with a communicator.
#pragma once

#include "policy/job.h"
#include "policy/placement/arrange.h"

#include <memory>
#include <mutex>

namespace ws::policy::placement {

// What a process knows of its node.
struct Machine {
    int node;                   // number of the node
    // how many processes of the node, in rank order, may run on the same several cores and came before
    int turn;
    std::vector<window::CpuPlace> cpus; // of each CPU
};

// Returns the place of the calling process. A process that may run on several cores is assumed to be on one of them:
// processes with the same choice are assigned to its cores in turn, in the order of their ranks.
Spot spot(const Machine& machine);

struct ProcessLine; // line.h

// Remembered as an attribute of a communicator; MPI_Comm_dup copies it.
struct Notes {
    int spare = 0; // this many ranks at the end have no work
    std::shared_ptr<const Machine> machine;
    std::shared_ptr<const ProcessLine> line; // of this communicator alone
};
const Notes* notes(MPI_Comm comm); // null if it has none
int set_notes(MPI_Comm comm, const Notes& notes);

// Found over all of MPI_COMM_WORLD, so all processes have it, or none.
class MachineOfJob {
public:
    // Collective over comm, an intracommunicator, in its first call. Returns an MPI error code.
    int find(const policy::Job& job, MPI_Comm comm, std::shared_ptr<const Machine>& machine);

private:
    std::mutex lock_;
    std::shared_ptr<const Machine> found_;
};

} // namespace ws::policy::placement
