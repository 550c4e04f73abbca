// SPDX-License-Identifier: MIT
//
// What a run came to: the ranks' counters put together, the one-line verdict, and the same as JSON.
#pragma once

#include <string>

namespace ws {

// A job's totals. Times in seconds, summed over the ranks unless said otherwise.
struct Totals {
    double ranks, nodes, alone_on_node; // ranks that share their node with no other
    double wall;                        // attach to detach, the longest
    double idle;                        // blocked in MPI, lent time included
    double lent;                        // cores lent
    double stolen;                      // guests computing
    double regions, regions_off, regions_shared, regions_joined;
    double iterations_stolen, chunks_stolen;
    double lends, lost, recalls, rings, refusals, moves, guests_refused, guests_barred;
    double close_wait;
    double sleeps, sleep, wakes; // naps of blocked ranks and idle workers, time, and how many were ended by somebody
    double workers, worker_chunks; // of chunks_stolen: taken by the owner's own workers
    double unpaid_regions;         // run unshared as sharing their loop had not paid
    double inactive; // ranks that run without stealing (their node's window could not be made)
};
constexpr int totals_count = sizeof(Totals) / sizeof(double);

struct Verdict {
    std::string line;   // for people
    std::string reason; // why nothing, or next to nothing, was stolen; else empty
};
// `top_loop` is the loop that most was stolen from, or empty; `why_inactive` explains Totals::inactive.
Verdict judge(const Totals& totals, const std::string& top_loop, const std::string& why_inactive);

std::string to_json(const Totals& totals, const Verdict& verdict, const std::string& top_loop);

} // namespace ws
