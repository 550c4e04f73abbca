// SPDX-License-Identifier: MIT
//
// Nodes as the tests of tasks need them: of one core, with room for all tasks.
#pragma once

#include "policy/tasks/balancer.h"
#include "policy/tasks/scheduler.h"

namespace ws::policy::tasks {

inline MemberState state(Class cls, double rest, double capacity = 10, double cores = 1, int node = 0)
{
    return {cls, rest, rest, 0, 0, 0, capacity, cores, 1e9, node, node, {}, {}};
}

inline Look look(double now_s, double rest, double waiting, double mean_s = 1e-3)
{
    Look l;
    l.now_s = now_s;
    l.rest = rest;
    l.waiting = waiting;
    l.mean_s = mean_s;
    l.unit_s = 9e-3; // so C is 10
    l.room = 1e9;
    return l;
}

} // namespace ws::policy::tasks
