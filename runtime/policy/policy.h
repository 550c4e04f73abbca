// SPDX-License-Identifier: MIT
//
// A policy: one way to balance. mpi/ walks the registry and names none; each lives in a folder of its own below this one and knows the
// window, the loads and the topology, but no other policy.
#pragma once

#include "lend/chooser.h"
#include "mpi/options.h"
#include "observe/verdict.h"
#include "window/window.h"

#include <mpi.h>
#include <vector>

namespace ws::policy {

// The rank that policies work for, from attach() to detach().
struct Rank {
    Window* window = nullptr;      // null: the node has none, and nobody steals there
    MPI_Comm node = MPI_COMM_NULL; // all ranks of the node, for libws alone
    int node_number = -1;          // in the job, from 0
    const Options* options = nullptr; // as read by all; each policy looks at its own
    // A policy's choice: whom this rank's threads help while they wait.
    const VictimPolicy* victims = nullptr;
};

class Policy {
public:
    virtual const char* name() const = 0;
    // At the end of MPI_Init, collective over MPI_COMM_WORLD: the window and the board are there, nobody lends yet.
    virtual void attach(Rank&) {}
    // In MPI_Finalize, collective over MPI_COMM_WORLD: nobody lends any more, the window is still there.
    virtual void detach(Rank&) {}
    // What the verdict, and so the report, should know. On every rank, at the end.
    virtual void tell(Facts&) const {}

protected:
    ~Policy() = default; // they live as long as the process
};

// All that there are, in the order in which they attach. registry.cpp
const std::vector<Policy*>& policies();

} // namespace ws::policy
