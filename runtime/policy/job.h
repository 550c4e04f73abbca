// SPDX-License-Identifier: MIT
//
// The job as policies know it: one object, from attach() to detach() the same, which the runner hands to each policy
// and a policy to what it makes. No other state of the job lies outside of objects: what programs call has no argument
// for it, and finds its policy by that policy's policy().
#pragma once

#include "arbiter/decider.h"
#include "book/book.h"
#include "measure/meter.h"
#include "observe/board.h"
#include "options/options.h"
#include "window/window.h"

#include <mpi.h>
#include <pthread.h>

namespace ws::policy {

class InTogether;
class Policy;
class Steps;

// As made here it is no job: what policies have before attach(), after detach() and without -workshare.
struct Job {
    window::Window* window = nullptr; // null: the node has none, and nobody steals there
    MPI_Comm node = MPI_COMM_NULL;    // all ranks of the node, for libws alone
    int rank = 0;                     // in MPI_COMM_WORLD
    int node_number = -1;             // in the job, from 0
    double ticks_per_us = 1000;       // of this node
    observe::Board* board = nullptr;  // what this process shows of itself: counters
    measure::Meter* meter = nullptr;  // what its own work costs
    const option::Options* options = nullptr; // as read by all; each policy looks at its own
    // set in attach() by a policy that reads Meter::period(): else nobody looks for periods
    bool wants_periods = false;
    pthread_t home = {};              // the thread that called MPI_Init,
    Steps* steps = nullptr;           // and who gives it steps while it is blocked. Null: there are none any more

    // The jobs of this user on the node, from the end of MPI_Init on; joined() says whether this one takes part.
    book::Reader* book = nullptr;

    // The innermost call of the home thread in which processes wait for each other (together.h).
    mutable InTogether* together = nullptr;

    bool is_there() const { return options; }
    bool is_home() const { return is_there() && pthread_equal(home, pthread_self()); }
    double seconds(uint64_t ticks) const { return double(ticks) / ticks_per_us * 1e-6; }

    // Returns the decider for a policy on this node; without a window, no rank decides.
    arbiter::Decider node_decider(const Policy&) const;
};
inline const Job no_job;

} // namespace ws::policy
