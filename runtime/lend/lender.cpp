// SPDX-License-Identifier: MIT
//
// The steal path, top to bottom: choose (chooser.cpp) -> arm -> (MPI polls once more) -> claim and lend -> sleep while
// it is lent; or, with nothing to help with, sleep on the doorbell. Each step is one atomic operation or a few; a
// thread that sleeps costs a wake-up besides. What a core costs on its way there and back benchmarks/handover prints.
#include "lend/lender.h"

#include "lend/rank.h"
#include "loop/chaos.h"
#include "observe/calls.h"
#include "observe/recorder.h"
#include "base/os.h"
#include "base/times.h"

#include <algorithm>
#include <initializer_list>

namespace ws::lend {

using loop::chaos;
using loop::Claim;
using loop::Sizing;
using observe::bump;
using observe::EventKind;
using observe::record;
using observe::Refusal;
using observe::Seated;
using observe::show;
using window::asleep_hungry;
using window::core_armed;
using window::core_asleep;
using window::core_kept;
using window::core_lent;
using base::CpuMask;
using base::CpuSet;
using window::Home;
using window::Lease;
using window::rank_computing;
using base::ticks;
using window::Window;

// A thread that has slept for this long without being needed checks whether its peers are alive.
constexpr uint64_t peers_asleep_us = 100000;
// Where ranks share cores, sleepers look at MPI less often, but nothing that fails to ring may cost
// more than a blink.
constexpr uint64_t longest_crowded_nap_us = 25000;

// ---- the way of a core to another rank and back

void Lender::arm()
{
    quiet_quanta_ = 0;
    Hardware::store_relaxed(home_->recall, 0);
    // Full, then MPI polls once more: a message posted before this store is found by that poll, one posted after
    // it rings. A sender whose store still sits in its store buffer escapes both; it costs a quantum, no more.
    Hardware::store_full(home_->state, core_armed);
}

bool Lender::disarm_if_rung()
{
    if (!Hardware::load_relaxed(home_->recall))
        return false;
    disarm();
    return true;
}

bool Lender::claim(const Target& target, Lease& lease)
{
    const Sizing sizing = Sizing::unpack(target.look.sizing);
    chaos.delay();
    Claim result = window_->row(target.rank).loops[target.slot].claim_and_join(
        [&](uint64_t remaining, unsigned joiners) { return sizing.units(remaining, joiners + 2, window_->cores()); },
        lease.chunk);
    lease.slot = target.slot;
    if (result != Claim::taken)
        refuse(result == Claim::lost   ? Refusal::lost_race
               : result == Claim::full ? Refusal::full
                                       : Refusal::too_little,
               ticks());
    bump(counters().claims_lost, result == Claim::lost);
    return result == Claim::taken;
}

bool Lender::lend(const Target& target, bool one_chunk)
{
    Lease lease;
    Target t = target;
    Sizing sizing = Sizing::unpack(t.look.sizing);
    if (one_chunk) { // as large as the time allows
        const uint64_t fits = rank_->times.short_ticks / std::max<uint64_t>(t.look.unit_ticks, 1);
        sizing.kind = WS_DYNAMIC;
        sizing.chunk = fits < 1 ? 1 : fits < sizing.chunk ? fits : sizing.chunk;
        t.look.sizing = sizing.pack();
    } else if (sizing.kind == WS_AUTO && t.look.unit_ticks) { // no more than the guest can do before the owner is done
        const uint64_t part = hand_over_.part(t.look.remaining * t.look.unit_ticks, t.look.joiners + 1);
        sizing.chunk = std::min(sizing.chunk, std::max<uint64_t>(1, part / t.look.unit_ticks));
        t.look.sizing = sizing.pack();
    }
    Home& c = *home_;
    arbiter::Word<> use(c.use);
    if (!use.change(own_use_, arbiter::Use::guest)) { // before the claim, because a claim cannot be undone
        refuse(Refusal::core_taken, ticks());
        return false;
    }
    if (!claim(t, lease)) {
        use.change(arbiter::Use::guest, own_use_);
        return false;
    }
    c.lease = lease;
    const uint64_t now = ticks();
    c.lent_at = lent_since_ = now;
    has_lease_ = true;
    went_on_ = false;
    refuse(Refusal::kinds, now);
    show(*seat_, Seated::lent, now, Flag(window_->home(t.rank).world_rank));
    show_busy(true);
    if (one_chunk || (chaos && chaos.random(4) == 0))
        Hardware::store_relaxed(c.recall, 1);
    Hardware::store_relaxed(c.tenant, t.rank);
    Hardware::store_full(c.state, core_lent);
    chaos.delay();
    window::GuestSlot& slot = window_->guest(t.rank, index_);
    Hardware::fetch_add_full(slot.knock, 1); // the lease is written; pairs with the guest's load of knock
    base::futex_wake(&slot.knock);
    bump(counters().lends);
    hand_over_.begins();
    wake_others_for(t);
    sleep_while_lent();
    return true;
}

void Lender::sleep_while_lent(uint64_t most_us)
{
    if (went_on_) { // the guest is still there, and this thread waits again
        went_on_ = false;
        lent_since_ = ticks();
        show(*seat_, Seated::lent, lent_since_, tenant());
    }
    const uint64_t us = std::min(sleep_us(rank_->times.quantum_us), most_us);
    base::futex_wait(&home_->state, core_lent, us);
    if (Hardware::load_acquire(home_->state) != core_lent) { // pairs with the guest's store
        const uint64_t now = ticks();
        account_return(now);
        show(*seat_, Seated::blocked, now);
    } else
        slept_in_vain(us, "its core, which is lent");
}

void Lender::resume()
{
    if (!has_lease_)
        return;
    const uint64_t now = ticks();
    if (Hardware::load_acquire(home_->state) == core_lent) { // pairs with the guest's store
        Hardware::store_relaxed(home_->recall, 1);
        if (!went_on_)
            account_lent(now);
        went_on_ = true;
    } else
        account_return(now);
}

void Lender::sleep(uint64_t most_us)
{
    Home& c = *home_;
    const uint64_t begin = ticks(), us = std::min(sleep_us(nap_us_), most_us);
    show(*seat_, Seated::asleep, begin);
    // counted before the state is stored, as owners ring only if there are any
    Hardware::fetch_add_full(window_->node().sleepers, 1);
    Hardware::store_full(c.state, core_asleep);
    chaos.delay();
    // A sender that rang while we were armed did not wake us: so we must look at recall after the store. Pairs with
    // ring().
    if (!Hardware::load_relaxed(c.recall))
        base::futex_wait(&c.state, core_asleep, us);
    // Not woken: armed again, so that whatever arrives after MPI's next poll rings.
    const bool woken =
        !Hardware::cas_full(c.state, core_asleep, Hardware::load_relaxed(c.recall) ? core_kept : core_armed);
    Hardware::fetch_add_full(window_->node().sleepers, Flag(-1));
    const uint64_t end = ticks();
    if (woken)
        step_aside_for_ringer();
    bump(counters().naps);
    bump(counters().wakes, woken);
    bump(counters().naps_ticks, end - begin);
    show(*seat_, Seated::blocked, end);
    if (WS_UNLIKELY(observe::recording))
        record(EventKind::asleep, begin, end, 0, woken);
    if (!woken)
        slept_in_vain(us, "an MPI call");
}

void Lender::wake_others_for(const Target& target) const
{
    if (Hardware::load_relaxed(window_->node().sleepers) &&
        double(target.look.remaining) * double(target.look.unit_ticks) >
            double(rank_->loops.publish_ticks[asleep_hungry]))
        rank_->wake();
}

void Lender::step_aside(unsigned victim)
{
    const int cpu = sched_getcpu();
    Hardware::store_relaxed(home_->running_on, Flag(cpu));
    const int victims = int(Hardware::load_relaxed(window_->home(victim).running_on));
    if (bound_ || cpu < 0 || (ours_alone_ && cpu != victims))
        return;
    look_who_is_where();
    if (named_.mask().has_room(victims))
        busy_.add(victims);
    if (busy_.mask().has(cpu))
        move_to_another_cpu();
}

void Lender::step_aside_for_ringer()
{
    const Flag rung = Hardware::load_relaxed(home_->recall);
    const int cpu = rung >= window::rung_on ? sched_getcpu() : -1;
    if (cpu < 0 || bound_ || rung != window::rung_on + Flag(cpu))
        return;
    look_who_is_where();
    if (!named_.mask().has_room(cpu))
        return;
    named_.add(cpu);
    busy_.add(cpu);
    move_to_another_cpu();
}

void Lender::look_who_is_where()
{
    Window& w = *window_;
    named_.clear();
    busy_.clear();
    for (unsigned c = 0; c < w.cores(); c++) {
        const int on = int(Hardware::load_relaxed(w.home(c).running_on));
        if (c == index_ || !named_.mask().has_room(on))
            continue;
        named_.add(on);
        if (is_busy(w.home(c)))
            busy_.add(on);
    }
}

void Lender::move_to_another_cpu()
{
    if (!own_.read_own())
        return;
    const CpuMask own = own_;
    for (CpuMask taken : {named_.mask(), busy_.mask()})
        for (int c = own.first(); c >= 0; c = own.first(c + 1))
            if (!taken.has(c)) {
                one_.clear();
                one_.add(c);
                if (one_.mask().bind()) {
                    own.bind();
                    Hardware::store_relaxed(home_->running_on, Flag(c));
                    bump(counters().moves);
                }
                return;
            }
}

// The MPI_COMM_WORLD rank that uses the core. Another process may have written into the window.
Flag Lender::tenant() const
{
    const Flag rank = std::min<Flag>(Hardware::load_relaxed(home_->tenant), window_->ranks() - 1);
    return Flag(window_->home(rank).world_rank);
}

// ---- what it took, and how long to sleep

void Lender::account_lent(uint64_t now)
{
    bump(counters().lent_ticks, now - lent_since_);
    observe::note_moment(now); // a wait may be long, and have many leases
    if (WS_UNLIKELY(observe::recording)) {
        record(EventKind::lent, lent_since_, now, tenant());
    }
}

void Lender::account_return(uint64_t now)
{
    has_lease_ = false;
    arbiter::Word<>(home_->use).change(arbiter::Use::guest, own_use_);
    bump(counters().recalls, Hardware::load_relaxed(home_->recall) != 0);
    if (!went_on_) {
        account_lent(now);
        show_busy(false);
    }
    const uint64_t returned_at = Hardware::load_relaxed(home_->returned_at);
    if (!went_on_ && returned_at > lent_since_) { // otherwise nobody waited for this return
        const uint64_t back = now - returned_at;
        observe::count_latency(seat_->return_latency, back, rank_->loops.ticks_per_us);
        hand_over_.took(Hardware::load_relaxed(home_->came_ticks), back,
                        uint64_t(base::times::return_us * rank_->loops.ticks_per_us));
        Hardware::store_relaxed(home_->return_ticks, Flag(hand_over_.back()));
    }
    Hardware::store_relaxed(home_->tenant, home_->rank);
}

uint64_t Lender::us_until(uint64_t due_at, uint64_t now) const
{
    if (due_at == SpareTime::never)
        return any;
    return due_at > now ? uint64_t(double(due_at - now) / rank_->loops.ticks_per_us) + 1 : 1;
}

uint64_t Lender::sleep_us(uint64_t first) const
{
    const uint64_t longest = rank_->times.longest_quantum_us;
    const uint64_t us = first << (quiet_quanta_ < 10 ? quiet_quanta_ : 10);
    return us < longest ? us : first < longest ? longest : first;
}

void Lender::slept_in_vain(uint64_t us, const char* waiting_for)
{
    quiet_quanta_++;
    quiet_us_ += us;
    if (quiet_us_ > peers_asleep_us) {
        quiet_us_ = 0;
        rank_->check_peers(waiting_for);
    }
}

// ---- rare: the start, other jobs, why nothing was lent

void Lender::start(Rank& rank, unsigned core, observe::Seat& seat, bool help_own, uint64_t nap_us)
{
    const LendOptions& options = rank.options;
    Window& w = rank.window;
    rank_ = &rank;
    window_ = &w;
    index_ = core;
    home_ = &w.home(core);
    own_use_ = help_own ? arbiter::Use::worker : arbiter::Use::home;
    arbiter::Word<>(home_->use).start(home_->rank, own_use_);
    seat_ = &seat;
    Hardware::store_relaxed(seat.core, core);
    Hardware::store_relaxed(seat.call, observe::no_row);
    chooser_.start(w, core, options.score, help_own);
    bound_ = w.mask(core).count() == 1;
    named_ = busy_ = own_ = one_ = CpuSet(w.mask_size());
    pretended_cores_ = options.pretended_cores;
    least_nap_us_ = nap_us;
    // workers: their rank's home thread speaks for the process
    shown_in_ = help_own ? nullptr : options.book;
    book_ = pretended_cores_ ? nullptr : shown_in_;
    find_sharers();
    look_at_neighbours(false);
}

// Finds out with whom this thread shares its cores, and what follows from that.
void Lender::find_sharers()
{
    const Window& w = *window_;
    const CpuMask mine = w.mask(index_);
    CpuSet cpus(mine);
    unsigned sharers = 1, sharers_here = 1;
    const auto share = [&](CpuMask other) {
        const unsigned both = other.common(mine);
        if (both == 0)
            return nothing;
        cpus.add(other);
        sharers++;
        sharers_here += both == other.count();
        return both == other.count() ? all_of_its : some;
    };
    shares_.assign(w.cores(), nothing);
    for (unsigned c = 0; c < w.cores(); c++)
        if (c != index_)
            shares_[c] = share(w.mask(c));
    neighbours_shares_.clear();
    for (const book::Neighbour& n : neighbours_)
        neighbours_shares_.push_back(share(n.mask));
    own_cores_ = pretended_cores_ ? pretended_cores_ : mine.count();
    const unsigned real = cpus.mask().count();
    sharers_cores_ = pretended_cores_ ? pretended_cores_ : real;
    ours_alone_ = sharers <= sharers_cores_ && sharers_here <= own_cores_;
    // Sleepers that wake to look at MPI themselves must not use up the cores that they gave up. Where ranks share cores
    // they would have to wait for their turn anyhow; but an event that does not ring must not be late by more than some
    // milliseconds.
    const unsigned crowd = real && sharers > real ? (sharers + real - 1) / real : 1;
    nap_us_ = std::min(least_nap_us_ * crowd, std::max(least_nap_us_, longest_crowded_nap_us));
    nap_at_once_ = crowd > 1;
}

void Lender::look_at_neighbours(bool whether_alive)
{
    if (!book_)
        return;
    if (WS_UNLIKELY(whether_alive))
        book_->drop_dead(neighbours_);
    const Flag changes = book_->changes();
    if (WS_LIKELY(changes == book_changes_))
        return;
    book_changes_ = changes; // noted before the look: what changes after this counts as another change
    neighbours_ = book_->neighbours(window_->mask(index_));
    had_neighbours_ |= !neighbours_.empty();
    find_sharers();
}

bool Lender::is_busy(const Home& c) const
{
    return (Hardware::load_relaxed(c.occupancy) == rank_computing && !rank_->looked_just_now(c)) ||
           Hardware::load_relaxed(c.state) == core_lent;
}

bool Lender::core_is_free() const
{
    if (WS_UNLIKELY(is_taken()))
        return false;
    // in tests loops must be run by others, however slowly
    if (ours_alone_ || rank_->loops.steal_all || rank_->loops.check)
        return true;
    Window& w = *window_;
    unsigned busy = 0, busy_here = 0; // on any of the cores; on none but ours
    for (unsigned c = 0; c < w.cores(); c++)
        if (shares_[c] && is_busy(w.home(c))) {
            busy++;
            busy_here += shares_[c] == all_of_its;
        }
    for (size_t n = 0; n < neighbours_.size(); n++)
        if (neighbours_[n].is_busy()) {
            busy++;
            busy_here += neighbours_shares_[n] == all_of_its;
        }
    return busy < sharers_cores_ && busy_here < own_cores_;
}

void Lender::refuse(Refusal why, uint64_t now)
{
    if (why == refusal_)
        return;
    if (refusal_ != Refusal::kinds)
        bump(counters().refused_ticks[unsigned(refusal_)], now - refused_at_);
    if (why != Refusal::kinds)
        bump(counters().refused[unsigned(why)]);
    if (why == Refusal::too_little)
        hand_over_.refused();
    refusal_ = why;
    refused_at_ = now;
}

Refusal Lender::why_none() const
{
    const Refusal why = chooser_.why_none();
    if (why != Refusal::nothing_shared)
        return why;
    for (unsigned r = 0; r < window_->ranks(); r++)
        if (r != index_ && Hardware::load_relaxed(window_->home(r).occupancy) == rank_computing)
            return why;
    return Refusal::all_wait;
}

} // namespace ws::lend
