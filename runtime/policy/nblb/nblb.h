// SPDX-License-Identifier: MIT
//
// Tasks that move between nodes, as in "Dynamic Load Balancing Algorithm for MPI Parallel Computing" (Sun, Liang).
// Programs use it through include/workshare/task.h. The policy itself only says how the job was started and, in the
// end, what came of it: pools work by themselves, as they must react while tasks run, when policies get no time.
//
//   task.h -> exports.cpp -> pool.h -> wire.h (letters), queue.h (tasks that wait), ending.h (is it over?)
//                              |-----> balancer.h (who gives to whom): central.cpp with scheduler.h, rivals.cpp
//                                      classify.h, worth.h, predict.h
#pragma once

#include "policy/attached.h"

namespace ws::policy::nblb {

policy::Policy& policy();

// From attach() to detach().
struct Job : policy::Attached {
    using Attached::Attached;
    bool lends = false; // somebody may lend cores to this rank's tasks
    window::Window* window = nullptr; // null: there is none
};
extern Job job;
inline double seconds(uint64_t ticks) { return job.seconds(ticks); }

// For the verdict: what all pools of this rank have done.
struct Sums {
    uint64_t put = 0, run = 0, moved_out = 0, moved_in = 0, bytes_out = 0, bytes_in = 0, letters = 0;
    uint64_t kept_worth = 0, kept_room = 0, kept_moved = 0, kept_none = 0;
    uint64_t unfreed = 0; // pools that there are
};
extern Sums sums;

} // namespace ws::policy::nblb
