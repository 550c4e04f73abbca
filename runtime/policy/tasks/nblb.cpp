// SPDX-License-Identifier: MIT
#include "policy/tasks/nblb.h"

#include "policy/tasks/pool.h"
#include "base/times.h"

#include <cstdio>
#include <mutex>

namespace ws::policy::tasks {

Job job;
Sums sums;

namespace {

class Nblb final : public policy::Policy {
public:
    policy::Wants attach(policy::Rank& rank) override
    {
        job = Job(rank);
        job.window = rank.window;
        job.lends = rank.window && (rank.window->ranks() > 1 || rank.window->workers() > 0);
        job.home = pthread_self();
        job.steps = rank.steps;
        return {};
    }

    policy::Wants step(policy::Rank&, uint64_t now, uint64_t) override
    {
        if (!looks_)
            return {};
        looks_->step();
        return soon(now);
    }

    uint64_t worker_step(uint64_t now) override
    {
        std::unique_lock<std::mutex> hold(workers_lock_, std::try_to_lock);
        return hold && workers_look_ ? workers_look_->worker_step(now) : policy::Wants::never;
    }

    void look_on_workers(Pool* pool)
    {
        std::lock_guard<std::mutex> hold(workers_lock_);
        workers_look_ = pool;
    }

    void look(Pool* pool)
    {
        looks_ = pool;
        job.steps->want(*this, pool ? soon(base::ticks()) : policy::Wants());
    }

    void end(policy::Rank&) override
    {
        job.on = false;
        job.lends = false;
        job.window = nullptr;
        job.steps = nullptr;
        Pool::leave_all();
        constexpr int numbers = sizeof(Sums) / sizeof(uint64_t);
        PMPI_Reduce(&sums, &all_, numbers, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        if (all_.unfreed) // on rank 0
            std::fprintf(stderr, "workshare: pools of tasks were not freed (ws_pool_free): %llu, of all ranks\n",
                         static_cast<unsigned long long>(all_.unfreed));
    }

    void tell(observe::Facts& facts) const override
    {
        const Sums& s = all_;
        if (!s.run)
            return;
        char text[400];
        std::snprintf(text, sizeof text,
                      "%llu tasks ran, %llu of them moved to another node (%.3g MB), with %llu letters; looks at "
                      "letters in blocked tasks: %llu, on idle workers: %llu, in computing ones: %llu",
                      static_cast<unsigned long long>(s.run), static_cast<unsigned long long>(s.moved_in),
                      1e-6 * double(s.bytes_in), static_cast<unsigned long long>(s.letters),
                      static_cast<unsigned long long>(s.stepped), static_cast<unsigned long long>(s.worked),
                      static_cast<unsigned long long>(s.pulsed));
        facts.policies.emplace_back(text);
    }

private:
    // Before the pulse would look.
    static policy::Wants soon(uint64_t now)
    {
        return {false, now + uint64_t(0.5 * base::times::task_pulse_us * job.ticks_per_us)};
    }

    Pool* looks_ = nullptr;
    std::mutex workers_lock_; // of what follows, and while a worker looks
    Pool* workers_look_ = nullptr;
    Sums all_; // on rank 0
};

Nblb own_policy;

} // namespace

void look_while_blocked(Pool* pool)
{
    if (job.steps && pthread_equal(job.home, pthread_self()))
        own_policy.look(pool);
}

void look_on_workers(Pool* pool) { own_policy.look_on_workers(pool); }

policy::Policy& policy() { return own_policy; }

} // namespace ws::policy::tasks
