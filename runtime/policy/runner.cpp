// SPDX-License-Identifier: MIT
#include "policy/runner.h"

#include "policy/together.h"
#include "base/atomics.h"
#include "base/os.h"

#include <algorithm>
#include <utility>

namespace ws::policy {

unsigned number_of(const Policy& policy)
{
    const auto& all = policies();
    return unsigned(std::find(all.begin(), all.end(), &policy) - all.begin());
}

arbiter::Decider Job::node_decider(const Policy& policy) const
{
    if (!window)
        return {};
    return {&window->node().deciders[number_of(policy)], window->me()};
}

Runner::Runner(const std::vector<Policy*>& policies, const volatile uint64_t& budget) : budget_(budget)
{
    for (Policy* p : policies)
        tenants_.push_back({p, {}});
}

void Runner::attach(const Job& job)
{
    job_ = job;
    job_.home = pthread_self();
    job_.steps = this;
    for (Tenant& t : tenants_)
        want(t, t.policy->attach(job_), 0, 0);
}

void Runner::end()
{
    job_.steps = nullptr;
    for (Tenant& t : tenants_)
        t.policy->end(job_);
}

void Runner::detach()
{
    for (Tenant& t : tenants_)
        t.policy->detach(job_);
}

void Runner::want(const Policy& policy, Wants wants)
{
    for (Tenant& t : tenants_)
        if (t.policy == &policy)
            want(t, wants, 0, 0);
}

void Runner::want(Tenant& tenant, Wants wants, uint64_t began, uint64_t ended)
{
    // What is due all the time leaves as much for others.
    if (wants.due_at != Wants::never)
        wants.due_at = std::max(wants.due_at, ended + (ended - began));
    tenant.wants = wants;
    due_at = never;
    when_idle = hears_end = false;
    for (const Tenant& t : tenants_) {
        due_at = std::min(due_at, t.wants.due_at);
        when_idle |= t.wants.when_idle;
        hears_end |= t.wants.hears_end;
    }
}

Runner::Tenant* Runner::next(uint64_t now)
{
    Tenant* due = nullptr;
    for (Tenant& t : tenants_)
        if (t.wants.due_at <= now && (!due || t.wants.due_at < due->wants.due_at))
            due = &t;
    for (size_t i = 0; !due && i < tenants_.size(); i++) {
        turn_ = (turn_ + 1) % tenants_.size();
        if (tenants_[turn_].wants.when_idle)
            due = &tenants_[turn_];
    }
    return due;
}

void Runner::step(uint64_t now)
{
    Tenant* const t = next(now);
    if (!t)
        return;
    const Wants wants = t->policy->step(job_, now, base::load_relaxed(budget_));
    want(*t, wants, now, std::max(now, base::ticks()));
}

void Runner::wait_ends()
{
    hears_end = false;
    for (Tenant& t : tenants_)
        if (std::exchange(t.wants.hears_end, false))
            t.policy->wait_ends(job_);
}

void Runner::waits_long() { say_who_is_missing(job_); }

uint64_t Runner::worker_step(uint64_t now)
{
    uint64_t again_at = never;
    for (const Tenant& t : tenants_)
        again_at = std::min(again_at, t.policy->worker_step(now));
    return again_at;
}

} // namespace ws::policy
