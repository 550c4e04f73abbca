// SPDX-License-Identifier: MIT
#include "policy/tasks/nblb.h"

#include "policy/tasks/pool.h"
#include "base/os.h"
#include "base/times.h"

#include <algorithm>
#include <cstdio>

namespace ws::policy::tasks {

policy::Wants Nblb::attach(policy::Job& job)
{
    job_ = &job;
    is_on_ = true;
    lends_ = job.window && (job.window->ranks() > 1 || job.window->workers() > 0);
    return {};
}

policy::Wants Nblb::step(policy::Job&, uint64_t now, uint64_t)
{
    if (!looks_)
        return {};
    looks_->step();
    return soon(now);
}

// Before the pulse would look.
policy::Wants Nblb::soon(uint64_t now) const
{
    return {false, now + uint64_t(0.5 * base::times::task_pulse_us * job_->ticks_per_us)};
}

uint64_t Nblb::worker_step(uint64_t now)
{
    std::unique_lock<std::mutex> hold(workers_lock_, std::try_to_lock);
    return hold && workers_look_ ? workers_look_->worker_step(now) : policy::Wants::never;
}

void Nblb::look_on_workers(Pool* pool)
{
    std::lock_guard<std::mutex> hold(workers_lock_);
    workers_look_ = pool;
}

void Nblb::look_while_blocked(Pool* pool)
{
    if (!job_->steps || !job_->is_home())
        return;
    looks_ = pool;
    job_->steps->want(*this, pool ? soon(base::ticks()) : policy::Wants());
}

uint64_t Nblb::add(Pool& pool)
{
    std::lock_guard<std::mutex> hold(pools_lock_);
    pools_.push_back(&pool);
    sums_.unfreed++;
    return ++made_;
}

void Nblb::remove(const Pool& pool, const Sums& done)
{
    std::lock_guard<std::mutex> hold(pools_lock_);
    pools_.erase(std::find(pools_.begin(), pools_.end(), &pool));
    sums_.unfreed--;
    sums_.put += done.put;
    sums_.run += done.run;
    sums_.moved_out += done.moved_out;
    sums_.moved_in += done.moved_in;
    sums_.bytes_out += done.bytes_out;
    sums_.bytes_in += done.bytes_in;
    sums_.letters += done.letters;
    sums_.kept_worth += done.kept_worth;
    sums_.kept_room += done.kept_room;
    sums_.kept_moved += done.kept_moved;
    sums_.kept_none += done.kept_none;
    sums_.stepped += done.stepped;
    sums_.worked += done.worked;
    sums_.pulsed += done.pulsed;
}

void Nblb::end(policy::Job&)
{
    is_on_ = lends_ = false;
    {
        std::lock_guard<std::mutex> hold(pools_lock_);
        for (Pool* pool : pools_)
            pool->leave();
    }
    all_ = summed(sums_);
    if (all_.unfreed) // on rank 0
        std::fprintf(stderr,
                     "workshare: warning: pools of tasks that were not freed, of all ranks: %llu; call ws_pool_free\n",
                     static_cast<unsigned long long>(all_.unfreed));
}

void Nblb::tell(observe::Facts& facts) const
{
    const Sums& s = all_;
    if (!s.run)
        return;
    char text[400];
    std::snprintf(
        text, sizeof text,
        "%llu tasks ran, %llu of them moved to another node (%.3g MB with results), with %llu messages; polls for "
        "messages by waiting ranks: %llu, by idle workers: %llu, within tasks: %llu",
        static_cast<unsigned long long>(s.run), static_cast<unsigned long long>(s.moved_in), 1e-6 * double(s.bytes_in),
        static_cast<unsigned long long>(s.letters), static_cast<unsigned long long>(s.stepped),
        static_cast<unsigned long long>(s.worked), static_cast<unsigned long long>(s.pulsed));
    facts.policies.emplace_back(text);
}

Nblb& policy()
{
    static Nblb& nblb = *new Nblb; // never destroyed: exit() may run beside its users
    return nblb;
}

} // namespace ws::policy::tasks
