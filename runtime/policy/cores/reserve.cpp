// SPDX-License-Identifier: MIT
#include "policy/cores/reserve.h"

#include "openmp/library/region_cores.h"
#include "base/os.h"

#include <algorithm>
#include <sched.h>

namespace ws::policy::cores {

using base::CpuSet;

// A region is worth a thread that comes and goes from this on: 0.3 % of it at most.
constexpr double least_region_us = 20000;
// libgomp's futex call for each task takes 0.1 to 0.3 us where a thread is missing at its barriers.
constexpr double least_task_us = 50;
constexpr unsigned stalled_us = 10000;

namespace {

enum : Flag {
    nobody, // the region has no such member, or it has not begun
    asleep,
    inside, // runs tasks on its rank's own cores
    lent,   // and from here on: plus the processor
};

} // namespace

// ---- which regions

TaskRegions::TaskRegions(double ticks_per_us)
    : least_ticks_(uint64_t(least_region_us * ticks_per_us)), grain_ticks_(uint64_t(least_task_us * ticks_per_us))
{}

bool TaskRegions::wants_reserve(const void* site)
{
    SiteHistory& its = sites_[site];
    return its.fits && its.reserve.is_due();
}

void TaskRegions::took(const void* site, uint64_t work, uint64_t tasks, uint64_t barriers, bool reserve, bool helped)
{
    SiteHistory& its = sites_[site];
    its.fits = tasks > 1 && work >= least_ticks_ && work / tasks >= grain_ticks_ && barriers <= 2;
    if (reserve)
        its.reserve.tried(helped);
}

bool TaskRegions::compares(const void* site, unsigned own) const
{
    const SiteHistory* its = sites_.find(site);
    return its && its->own == own && its->helped != 0;
}

bool TaskRegions::keeps_alone(const void* site, unsigned own)
{
    if (!compares(site, own))
        return false;
    SiteHistory& its = sites_[site];
    if (its.alone == 0)
        return true;
    const bool alone = its.alone <= its.helped;
    if (its.until_try > 0) {
        its.until_try--;
        return alone;
    }
    its.tries = std::min(its.tries + 1, most_tries);
    its.until_try = first_try << its.tries;
    return !alone;
}

void TaskRegions::lasted(const void* site, uint64_t ticks, uint64_t tasks, unsigned own, unsigned threads)
{
    SiteHistory& its = sites_[site];
    const bool is_short = tasks > 1 && ticks * threads / tasks < grain_ticks_;
    if (!is_short || its.own != own) {
        its.alone = its.helped = 0;
        its.own = own;
        its.until_try = first_try;
        its.tries = 0;
    }
    if (!is_short)
        return;
    const uint64_t each = std::max<uint64_t>(ticks / tasks, 1);
    uint64_t& least = threads > own ? its.helped : its.alone;
    least = least == 0 || each < least ? each : least + (each - least) / 4;
}

// ---- the region's

void Reserve::attach(Table& table, window::Window& window, unsigned me, bool same_processes)
{
    table_ = &table;
    window_ = &window;
    me_ = me;
    enabled_ = same_processes && table.ranks() > 1;
}

unsigned Reserve::open(unsigned wanted, unsigned others)
{
    count_ = enabled_ ? std::min(wanted, most_reserve) : 0;
    if (count_ == 0)
        return 0;
    others_ = others;
    Hardware::store_relaxed(arrived_, 0); // relaxed, both: its threads begin after this
    Hardware::store_relaxed(is_open_, 0);
    Hardware::store_relaxed(openmp::members_wait, 1);
    Hardware::fetch_add_full(table_->head().reserves, count_);
    return count_;
}

void Reserve::wait(unsigned number)
{
    ReserveSeat& seat = table_->row(me_).reserve[number];
    Hardware::store_relaxed(seat.thread, Flag(syscall(SYS_gettid)));
    window_->mask(me_).bind(); // where its lender of an earlier region left it, or its creator is
    // Full: before the look at is_open_; pairs with let_in().
    Hardware::store_full(seat.state, asleep);
    Flag state;
    while ((state = Hardware::load_acquire(seat.state)) == asleep) {
        const Flag beat = Hardware::load_relaxed(openmp::members_wait);
        if (!Hardware::load_acquire(is_open_)) {
            base::futex_wait(&seat.state, asleep, stalled_us);
            if (Hardware::load_relaxed(openmp::members_wait) != beat)
                continue;
        }
        Hardware::cas_full(seat.state, asleep, inside); // or a lender was faster
    }
}

void Reserve::arrives()
{
    if (count_ == 0 || is_member || Hardware::load_relaxed(is_open_))
        return;
    if (Hardware::fetch_add_full(arrived_, 1) + 1 >= others_)
        let_in();
}

void Reserve::let_in()
{
    Hardware::store_full(is_open_, 1); // full: before the look at the seats; pairs with wait()
    for (unsigned i = 0; i < count_; i++)
        if (ReserveSeat& seat = table_->row(me_).reserve[i]; Hardware::cas_full(seat.state, asleep, inside))
            base::futex_wake(&seat.state);
}

void Reserve::hand_back(ReserveSeat& seat, unsigned processor, uint64_t now)
{
    const uint64_t since = Hardware::load_relaxed(seat.since);
    Hardware::fetch_add_full(seat.used, now - std::min(now, since));
    table_->word(processor).change(arbiter::Use::openmp, table_->idle_use(processor));
}

Reserve::Lent Reserve::close(uint64_t now)
{
    Lent sum;
    Hardware::store_relaxed(openmp::members_wait, 0);
    for (unsigned i = 0; i < count_; i++) {
        ReserveSeat& seat = table_->row(me_).reserve[i];
        Flag state;
        do
            state = Hardware::load_acquire(seat.state);
        while (!Hardware::cas_full(seat.state, state, nobody));
        if (state >= lent && state - lent < table_->processors()) {
            bind(Hardware::load_relaxed(seat.thread), me_);
            hand_back(seat, state - lent, now);
        }
        sum.used += Hardware::load_relaxed(seat.used);
        sum.cores += Hardware::load_relaxed(seat.used) != 0;
        sum.recalled += Hardware::load_relaxed(seat.recalled);
        sum.left = sum.recalled;
        Hardware::store_relaxed(seat.used, 0);
        Hardware::store_relaxed(seat.recalled, 0);
    }
    if (count_)
        Hardware::fetch_add_full(table_->head().reserves, Flag(0) - count_);
    count_ = 0;
    return sum;
}

// Where the rank's threads are that have no core of their own.
void Reserve::bind(Flag thread, unsigned rank) const { window_->mask(rank).bind(int(thread)); }

// ---- a rank that waits

void Reserve::lend(unsigned processor, uint64_t now)
{
    for (unsigned distance = 1; distance < table_->ranks(); distance++) {
        const unsigned rank = (me_ + distance) % table_->ranks();
        for (unsigned i = 0; i < most_reserve; i++) {
            ReserveSeat& seat = table_->row(rank).reserve[i];
            const Flag state = Hardware::load_acquire(seat.state);
            if (state != asleep && state != inside)
                continue;
            if (!table_->word(processor).change(table_->idle_use(processor), arbiter::Use::openmp))
                return;
            Hardware::store_relaxed(seat.since, now);
            if (!Hardware::cas_full(seat.state, state, lent + processor)) {
                table_->word(processor).change(arbiter::Use::openmp, table_->idle_use(processor));
                continue;
            }
            if (const int cpu = table_->processor(processor).cpu; cpu >= 0) {
                CpuSet one;
                one.add(cpu);
                one.mask().bind(int(Hardware::load_relaxed(seat.thread)));
                if (Hardware::load_acquire(seat.state) != lent + processor) // the region was over meanwhile
                    bind(Hardware::load_relaxed(seat.thread), rank);
            }
            if (state == asleep)
                base::futex_wake(&seat.state);
            leases_.push_back({processor, rank, i});
            return;
        }
    }
}

bool Reserve::lend(uint64_t now)
{
    // Where a region is over, its opener has handed the core back.
    leases_.erase(std::remove_if(leases_.begin(), leases_.end(),
                                 [&](const Lease& l) {
                                     return Hardware::load_acquire(table_->row(l.rank).reserve[l.seat].state) !=
                                            lent + l.processor;
                                 }),
                  leases_.end());
    for (unsigned p = 0; p < table_->processors(); p++) {
        const unsigned home = table_->processor(p).home;
        if ((home == no_rank ? table_->owner(p) : home) == me_)
            lend(p, now);
    }
    return !leases_.empty();
}

void Reserve::take_back(uint64_t now)
{
    for (const Lease& l : leases_) {
        ReserveSeat& seat = table_->row(l.rank).reserve[l.seat];
        if (Hardware::load_acquire(seat.state) != lent + l.processor)
            continue;
        bind(Hardware::load_relaxed(seat.thread), l.rank); // first: the core is needed here
        if (!Hardware::cas_full(seat.state, lent + l.processor, inside))
            continue;
        Hardware::fetch_add_full(seat.recalled, 1);
        hand_back(seat, l.processor, now);
    }
    leases_.clear();
}

} // namespace ws::policy::cores
