// SPDX-License-Identifier: MIT
//
// WS_CHECK, WS_STEAL_ALL and WS_CHAOS: each region of more than one unit is published, whatever it costs and whether
// or not somebody waits, and its owner leaves chunks to helpers. WS_CHECK takes another order for each execution of a
// loop, notes what it did, and compares results of reductions with those of serial passes.
#pragma once

#include "loop/checks.h"
#include <string>
#include <vector>

namespace ws::check {

constexpr unsigned first_order = unsigned(loop::Order::backwards), check_orders = 5;
const char* order_name(unsigned order); // from 0

// What the loops of this process ask.
loop::Checks& checks();

// ---- what WS_CHECK notes

struct CheckedLoop {
    std::string name;
    uint64_t runs = 0;      // all executions
    uint64_t empty = 0, single = 0; // with no iteration, with one
    // inside another shared loop, on a thread that may not share, before MPI_Init or after MPI_Finalize
    uint64_t plain = 0;
    uint64_t refused = 0;   // by its clause `if`
    uint64_t one_chunk = 0; // a clause makes one chunk of all iterations
    uint64_t nobody = 0;    // published, but no helper came
    uint64_t shared = 0;    // helpers ran iterations
    uint64_t iterations = 0, helped = 0; // of the shared ones; run by helpers
    uint64_t orders[check_orders] = {};  // of the shared ones
    // of the shared ones: results of reductions were compared with a serial pass; they differed
    uint64_t compared = 0, differ = 0;
    uint64_t uncompared = 0;             // the serial pass failed
    // the first reason why an execution, or a reduction of the loop, was not compared
    std::string why_not;
    void add(const CheckedLoop& more);
};

// Whether results of this process's loops differed.
bool results_differ();
// All loops of this process; those of its binaries that were never run, too.
std::vector<CheckedLoop> checked_loops();

} // namespace ws::check
