// SPDX-License-Identifier: MIT
//
// Gives the policies of this rank their time: one step at a time, of the one that is due longest, else of those that
// take what is left in turn. The rest of libws knows them through this and policies() only.
#pragma once

#include "lend/lend.h"
#include "policy/policy.h"

#include <vector>

namespace ws::policy {

class Runner final : public lend::SpareTime, public Steps {
public:
    // `budget`: what a step may take, in ticks; read before each. It may change.
    Runner(const std::vector<Policy*>& policies, const volatile uint64_t& budget);

    void attach(const Job& job);
    const Job& job() const { return job_; }
    void step(uint64_t now) override;
    void wait_ends() override;
    void waits_long() override;
    uint64_t worker_step(uint64_t now) override;
    void want(const Policy& policy, Wants wants) override;
    void end();
    void detach();

private:
    struct Tenant {
        Policy* policy;
        Wants wants;
    };
    // `done`: the step that it has just had began and ended then.
    void want(Tenant& tenant, Wants wants, uint64_t began, uint64_t ended);
    Tenant* next(uint64_t now);

    Job job_;
    std::vector<Tenant> tenants_;
    const volatile uint64_t& budget_;
    size_t turn_ = 0; // who had the last step that was not due
};

} // namespace ws::policy
