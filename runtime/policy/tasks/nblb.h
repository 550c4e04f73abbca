// SPDX-License-Identifier: MIT
//
// Tasks that move between nodes, as in "Dynamic Load Balancing Algorithm for MPI Parallel Computing" (Sun, Liang).
// Programs use it through include/workshare/task.h. The policy itself says how the job was started and, in the end,
// what came of it, and has a pool look at its letters, and on rank 0 at what the scheduler has to do, while a task is
// blocked in MPI, and on idle workers. Beside that pools look by themselves, as they must react while tasks run, when
// policies get no time.
//
//   task.h -> exports.cpp -> pool.h -> wire.h (letters), queue.h (tasks that wait), ending.h (is it over?)
//                              |-----> balancer.h (who gives to whom): central.cpp with scheduler.h, rivals.cpp
//                                      classify.h, worth.h, predict.h
#pragma once

#include "policy/attached.h"

#include <pthread.h>

namespace ws::policy::tasks {

policy::Policy& policy();

// From attach() to detach().
struct Job : policy::Attached {
    using Attached::Attached;
    bool lends = false; // somebody may lend cores to this rank's tasks
    window::Window* window = nullptr; // null: there is none
    pthread_t home = {};              // the thread that called MPI_Init,
    policy::Steps* steps = nullptr;   // and who gives it steps while it is blocked
};
extern Job job;
inline double seconds(uint64_t ticks) { return job.seconds(ticks); }

// For the verdict: what all pools of this rank have done.
struct Sums {
    uint64_t put = 0, run = 0, moved_out = 0, moved_in = 0, bytes_out = 0, bytes_in = 0, letters = 0;
    uint64_t kept_worth = 0, kept_room = 0, kept_moved = 0, kept_none = 0;
    uint64_t stepped = 0, worked = 0, pulsed = 0; // looks at letters in blocked time, by idle workers, by the pulse
    uint64_t unfreed = 0; // pools that there are
};
extern Sums sums;

class Pool;
// The pool that runs on the home thread, whose letters that thread looks at also when a task of it is blocked in MPI,
// by the policy's steps; null: none, or it looks by itself. Of the home thread.
void look_while_blocked(Pool* pool);
// The pool whose letters this rank's idle workers look at; null: none, and no worker is in it any more.
void look_on_workers(Pool* pool);

} // namespace ws::policy::tasks
