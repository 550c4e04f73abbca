// SPDX-License-Identifier: MIT
//
// Whether a node has too much to do, or too little: definition 1 of "Dynamic Load Balancing Algorithm for MPI Parallel
// Computing" (Sun, Liang). No MPI, no shared state.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ws::policy::tasks {

// Light may accept tasks, heavy gives some away, normal does neither.
enum class Class : uint8_t { light, normal, heavy };

// C: how many tasks a node of `cores` cores can do in the unit of time: those that run, which the queue counts, too,
// and those that it can begin meanwhile. `task_s`: what a task takes, with those that it puts; 0: not known.
inline double capacity(double cores, double task_s, double unit_s)
{
    return cores * (task_s > 0 ? 1 + unit_s / task_s : 1);
}

// A: a tenth of C.
inline double threshold(double capacity) { return 0.1 * capacity; }

// `rest`, the paper's Q: tasks of all ranks of the node that are not done, those that run included.
inline Class classify(double rest, double capacity)
{
    const double margin = threshold(capacity);
    return rest > capacity + margin ? Class::heavy : rest < capacity - margin ? Class::light : Class::normal;
}

// The unit of time, by which C is counted: a node with less to do than that asks for more, so it must be longer than it
// takes until something comes. `answer_s`: how long the scheduler, and then the rank that gives, may be busy before
// they look at their messages.
inline double unit_of_time(double least_s, double latency_s, double answer_s)
{
    return std::max(least_s, 4 * latency_s + 2 * answer_s);
}

} // namespace ws::policy::tasks
