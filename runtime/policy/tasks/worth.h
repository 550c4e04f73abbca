// SPDX-License-Identifier: MIT
//
// Whether a task is worth moving: the condition of time of the paper, after Harchol-Balter and Downey.
#pragma once

#include "policy/tasks/pace.h"

#include <cmath>

namespace ws::policy::tasks {

// What moving costs, as measured.
struct Cost {
    double fixed_s = 20e-6;    // f, of a message; the tasks in it share it
    double bytes_per_s = 1e9;  // b
};

// State of a node that gives or takes. Q counts tasks per core, because the paper's nodes have one core.
struct Side {
    double rest;  // Q
    double speed; // V of a core (pace.h); 0: not known, taken for the other's
    double cores;
};

// The least expected run time, in seconds, of a task that is worth moving: (f + u/b) / (Q_i - V_s/V_d (Q_j + 1)), where
// u is its bytes. Infinite where the task would end no earlier there.
inline double age_min(const Cost& cost, double bytes, double tasks_in_message, const Side& from, const Side& to)
{
    const double ratio = from.speed > 0 && to.speed > 0 ? from.speed / to.speed : 1;
    const double wait = from.rest / from.cores - ratio * (to.rest + 1) / to.cores;
    if (!(wait > 0))
        return HUGE_VAL;
    return (cost.fixed_s / tasks_in_message + bytes / cost.bytes_per_s) / wait;
}

// The most tasks that level both: the last of them begins there in an earlier round of the cores than it would here.
// Speeds that are not known are equal, and those that are nearly so.
inline double most_to_move(const Side& from, const Side& to)
{
    const bool differ = from.speed > 0 && to.speed > 0 && !as_good_as_equal(from.speed, to.speed);
    const double here = differ ? from.speed : 1, there = differ ? to.speed : 1;
    const double level =
        (from.rest * to.cores * there - to.rest * from.cores * here) / (from.cores * here + to.cores * there);
    double k = std::floor(level);
    while (k >= 1 &&
           std::floor((to.rest + k - 1) / to.cores) * here >= std::floor((from.rest - k) / from.cores) * there)
        k--;
    return k;
}

} // namespace ws::policy::tasks
