// SPDX-License-Identifier: MIT
//
// FLEX-MPI: rows follow the processes' speeds. docs/reference/xmpi.md has what a program does for it.
#pragma once

#include "policy/policy.h"
#include "policy/rows/counters.h"
#include "policy/rows/monitor.h"
#include "policy/rows/partitions.h"

#include <string>

namespace ws::policy::rows {

// For the summary: sums over all partitions of this process, including those that are gone.
struct FlexTotals {
    uint64_t partitions = 0, intervals = 0, moves = 0, undone = 0, resized = 0, outcome[outcomes] = {};
    double rows = 0, bytes = 0, move_s = 0; // of all processes of the partitions
    double expected_s = 0, measured_s = 0;  // what moves were to gain, and did, in the intervals compared
    std::string measured;                   // what the last partition's work was
};

// One a rank. Partitions have it from when they are made.
class Flex final : public policy::Policy {
public:
    policy::Wants attach(policy::Job& job) override;
    policy::Wants step(policy::Job&, uint64_t now, uint64_t) override;
    void tell(observe::Facts& facts) const override;
    void detach(policy::Job&) override { job_ = &policy::no_job; }

    const policy::Job& job() const { return *job_; }
    // From now on: numbers are under way. Where another thread than the home thread says so, there are none.
    void want_steps();

    Partitions partitions;
    Counters counters;
    FlexTotals totals;

private:
    const policy::Job* job_ = &policy::no_job;
    double pause_us_ = 0;
};

// This process's, for the registry and for the functions of xmpi.h, which have no argument for it.
Flex& policy();

} // namespace ws::policy::rows
