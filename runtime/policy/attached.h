// SPDX-License-Identifier: MIT
//
// What a policy keeps of its rank for functions that programs call, which have no argument for it. As it is here before
// attach() and after detach(), and in a job without -workshare.
#pragma once

#include "policy/policy.h"

namespace ws::policy {

struct Attached {
    bool on = false;
    int node_number = -1;
    double ticks_per_us = 1000;
    observe::Board* board = nullptr;
    measure::Meter* meter = nullptr;
    const option::Options* options = nullptr;

    Attached() = default;
    explicit Attached(const Rank& rank)
        : on(true), node_number(rank.node_number), ticks_per_us(rank.ticks_per_us), board(rank.board),
          meter(rank.meter), options(rank.options)
    {
    }
    double seconds(uint64_t ticks) const { return double(ticks) / ticks_per_us * 1e-6; }
};

} // namespace ws::policy
