// SPDX-License-Identifier: MIT
//
// A policy: one way to balance. mpi/ walks the registry and names none; each lives in a folder of its own below this
// one and knows the window, the loads and the topology, but no other policy.
//
//   attach -> step (in blocked time) -> end -> tell -> detach
//
// All but worker_step() are called by the thread that called MPI_Init, with no lock held. A policy that chooses cores
// for OpenMP's regions is also openmp::RegionCores, and says so by set_region_cores().
#pragma once

#include "observe/verdict.h"
#include "policy/job.h"

#include <vector>

namespace ws::policy {

// When a policy wants its next step. If it sets neither, it gets none until it asks for one by Job::steps.
struct Wants {
    static constexpr uint64_t never = ~uint64_t(0);
    bool when_idle = false;  // whenever this rank is blocked and has nothing to steal
    uint64_t due_at = never; // ticks: and from then on even if it has
    bool hears_end = false;  // Policy::wait_ends() is called at the end of the present wait
};

class Steps {
public:
    // From now on the policy wants these instead. The thread that called MPI_Init.
    virtual void want(const Policy&, Wants) = 0;

protected:
    ~Steps() = default;
};

class Policy {
public:
    // At the end of MPI_Init, collective over MPI_COMM_WORLD: the window and the board are there, nobody lends yet.
    // Memory that the ranks of the node are to share is made here, by node::Memory (node/memory.h) on Job::node.
    virtual Wants attach(Job&) { return {}; }
    // This rank is blocked in an MPI call, and calls here only what returns at once, on communicators of its own. What
    // takes longer than `budget` ticks is done in several steps: a message that arrives meanwhile waits for the end of
    // this one.
    virtual Wants step(Job&, uint64_t /*now*/, uint64_t /*budget*/) { return {}; }
    // The wait is over in which step() has said that the policy wants to hear of this. The program waits for it to
    // return.
    virtual void wait_ends(Job&) {}
    // A worker of this rank is idle and gives its time: as a step, with the same limits. Returns from when on, in
    // ticks, it may have more to do. Any worker, several at once, beside all else.
    virtual uint64_t worker_step(uint64_t /*now*/) { return Wants::never; }
    // MPI_Finalize has begun on all ranks: no more steps.
    virtual void end(Job&) {}
    // What the verdict, and so the report, should know. On every rank, at the end.
    virtual void tell(observe::Facts&) const {}
    // In MPI_Finalize, collective over MPI_COMM_WORLD: nobody lends any more, the window is still there.
    virtual void detach(Job&) {}

protected:
    ~Policy() = default; // they live as long as the process
};

// All that there are, in the order in which they attach: the same on all ranks. registry.cpp
const std::vector<Policy*>& policies();
// Its place there.
unsigned number_of(const Policy& policy);

} // namespace ws::policy
