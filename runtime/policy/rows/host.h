// SPDX-License-Identifier: MIT
//
// What FLEX-MPI needs of the job, filled in when libws attaches and empty in a job without -workshare; and what came of
// it, for the verdict.
#pragma once

#include "policy/attached.h"
#include "policy/rows/monitor.h"

#include <pthread.h>
#include <string>

namespace ws::policy::rows {

struct Job : policy::Attached {
    using Attached::Attached;
    pthread_t home = {};            // the thread that called MPI_Init, whose blocked time has steps
    policy::Steps* steps = nullptr; // null: there are none any more
    void want_steps() const;        // from now on: numbers are under way. Where another thread says so, there are none
};
extern Job host;

// Gives all partitions of this process a step. Whether one of them wants more.
bool step_all();

// Of all partitions of this process, those that are gone included.
struct Told {
    uint64_t partitions = 0, intervals = 0, moves = 0, undone = 0, outcome[outcomes] = {};
    double rows = 0, bytes = 0, move_s = 0; // of all processes of the partitions
    double expected_s = 0, measured_s = 0;  // what moves were to gain, and did, in the intervals compared
    std::string measured;                   // what the last partition's work was
};
extern Told told;

} // namespace ws::policy::rows
