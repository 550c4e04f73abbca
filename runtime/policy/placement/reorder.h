// SPDX-License-Identifier: MIT
//
// Assigns ranks to cores by load, when the program asks: the functions of workshare/mpix.h. docs/reference/placement.md
#pragma once

#include "policy/placement/measured.h"
#include "policy/placement/place.h"
#include "policy/policy.h"

namespace ws::policy::placement {

// One a rank: what its calls of MPIX functions have in common.
class Reorder final : public policy::Policy {
public:
    policy::Wants attach(policy::Job& job) override
    {
        job_ = &job;
        return {};
    }
    void detach(policy::Job&) override { job_ = &policy::no_job; }

    const policy::Job& job() const { return *job_; }
    bool can_measure() const { return job_->meter; }
    // What the rank's own work has cost since it attached, in ticks.
    int64_t useful() const { return int64_t(job_->meter->load(base::ticks()).useful); }
    MeasuredLoad measured;
    MachineOfJob machine;

private:
    const policy::Job* job_ = &policy::no_job;
};

// This process's, for the registry and for the functions of mpix.h, which have no argument for it.
Reorder& policy();

} // namespace ws::policy::placement
