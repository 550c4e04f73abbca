// SPDX-License-Identifier: MIT
//
// The rank's own thread, in an MPI call that makes no progress: spin, look for a victim, lend; with none, give policies
// their time, yield, then sleep.
// What happens to a core that is lent or asleep is in lender.cpp.
#include "lend/home.h"

#include "openmp/library/regions.h"
#include "lend/rank.h"
#include "loop/left.h"
#include "loop/participant.h"
#include "measure/meter.h"
#include "observe/calls.h"
#include "observe/recorder.h"
#include "base/atomics.h"
#include "base/os.h"
#include "base/times.h"
#include <algorithm>
#include <cstring>

namespace ws::lend {

using observe::CallRow;
using observe::Refusal;
using observe::Seat;
using observe::SeatKind;
using observe::Seated;
using observe::bump;
using observe::no_row;
using observe::own_seat;
using observe::show;
using window::Window;
using window::awaits_nobody;
using base::cpu_relax;
using window::newly_hungry;
using window::rank_blocked;
using base::ticks;

namespace {

// A thread that called MPI_Init stands for a core; the program's others do not.
WS_THREAD_LOCAL bool home_thread;

class Nobody final : public SpareTime { // without policies
    void step(uint64_t) override {}
};
Nobody nobody;

} // namespace

// One poll of MPI handles a few events, which need not be those that this rank waits for; the doorbell
// may have rung for the next ones before this rank armed. So a rank that has armed goes on polling until a poll has
// handled nothing at all.
bool HomeThread::last_poll_was_dry()
{
    const unsigned now = base::load_relaxed(*rank_.options.events); // other threads poll too: a hint
    const bool dry = now == seen_events_;
    seen_events_ = now;
    return dry;
}

// Returns the row of the MPI function that the rank is in.
Flag HomeThread::own_call_row() const
{
    return rank_.options.call_name ? observe::call_row(rank_.options.call_name()) : no_row;
}

// A rank that others put to, get from or lock has to answer them while it waits, and most likely again at once.
// Returns whether it has answered since the last look.
bool HomeThread::look_at_served(uint64_t now)
{
    const unsigned events = base::load_relaxed(*rank_.options.events);
    if (WS_LIKELY(events == served_events_))
        return false;
    served_events_ = events;
    served_at_ = idle_since_ = now;
    return true;
}

bool HomeThread::has_just_served(uint64_t now) const
{
    return served_at_ != 0 && now - served_at_ < rank_.times.patience_ticks;
}

void HomeThread::arm()
{
    lender_.arm();
    seen_events_ = base::load_relaxed(*rank_.options.events);
}

// This wait is longer than the spin, or begins with the core still lent.
void HomeThread::begin_wait(uint64_t now)
{
    is_blocked_ = true;
    looked_at_peers_ = now;
    served_at_ = little_until_ = 0;
    served_events_ = base::load_relaxed(*rank_.options.events);
    Seat& seat = lender_.seat();
    wait_call_ = own_call_row();
    lent_before_ = seat.lend.lent_ticks;
    slept_before_ = seat.lend.naps_ticks;
    rank_.loops.meter->wait_begins(wait_began_);
    Hardware::store_relaxed(seat.call, wait_call_);
    base::store_relaxed(seat.waits_since, wait_began_);
    show(seat, Seated::blocked, wait_began_);
    volatile Hardware::Word& lag = rank_.window.lag(rank_.window.me());
    if (const Hardware::Word was = Hardware::load_relaxed(lag))
        Hardware::store_relaxed(lag, (was + wait_began_) | window::lag_of_waiter);
    if (WS_LIKELY(lends_)) { // else nobody, no parallel region of another rank either, may take the core
        Hardware::store_relaxed(lender_.home().occupancy, rank_blocked);
        if (!lender_.has_lease())
            lender_.show_busy(false);
    }
    lender_.look_at_neighbours(false);
    openmp::end_wait_for_regions(); // now our workers, too, have time for others
    if (*rank_.options.sends_open > 0) { // from here on the ranks that receive them ring
        const int to = *rank_.options.sends_to;
        Hardware::store_relaxed(lender_.home().awaits, to < 0 ? window::awaits_several : Flag(to) + 1);
        Hardware::fetch_add_full(rank_.window.node().senders_waiting, 1);
    }
}

// The MPI function that this rank waits in, or none.
void HomeThread::show_call(const char* name)
{
    window::Whereabouts& own = rank_.window.whereabouts(rank_.window.me());
    constexpr size_t words = sizeof own.call / sizeof own.call[0];
    Hardware::Word text[words] = {};
    if (name)
        std::strncpy(reinterpret_cast<char*>(text), name, sizeof text - 1);
    for (size_t i = 0; i < words; i++)
        Hardware::store_relaxed(own.call[i], text[i]);
    shows_call_ = name;
}

// This wait has lasted for a second or longer.
__attribute__((noinline)) void HomeThread::waits_long(uint64_t now)
{
    if (!shows_call_ && rank_.options.call_name)
        show_call(rank_.options.call_name());
    if (double(now - wait_began_) >= base::times::unfinished_s * 1e6 * rank_.loops.ticks_per_us)
        spare_->waits_long();
}

// How much later this rank would be without stealing. It would have come to this wait later, and would have waited less
// by as much; but it would not have left the wait before the rank that it waited for, which is the one that would be
// latest. Short waits, where a look at all ranks would cost too much, only reduce this lag.
void HomeThread::carry_lag(uint64_t now, uint64_t waited)
{
    Window& w = rank_.window;
    const Hardware::Word was = Hardware::load_relaxed(w.lag(w.me()));
    Hardware::Word lag = window::lag_now(was, now);
    // A line of eight ranks' words may take 100 ns to come.
    const double look = std::max(double(rank_.times.patience_ticks), 0.5 * w.ranks() * rank_.loops.ticks_per_us);
    for (unsigned r = 0; r < w.ranks() && double(waited) > look; r++) // relaxed: an estimate
        lag = std::max(lag, window::lag_now(Hardware::load_relaxed(w.lag(r)), now));
    if (lag == was)
        return;
    Hardware::store_relaxed(w.lag(w.me()), lag);
    base::store_relaxed(rank_.loops.board->lag_ticks, lag);
}

// Counts a wait of `took` ticks in this call, or in none. For `lent` of them the core was lent.
void HomeThread::count_wait(Flag call, uint64_t took, uint64_t lent)
{
    bump(lender_.counters().blocked_ticks, took);
    if (call == no_row)
        return;
    CallRow& row = rank_.loops.board->call(call);
    bump(row.waits);
    bump(row.blocked_ticks, took);
    bump(row.lent_ticks, lent);
}

// Returns what the wait took, in ticks.
uint64_t HomeThread::end_wait()
{
    Seat& seat = lender_.seat();
    const uint64_t now = ticks(), took = now - wait_began_;
    lender_.refuse(Refusal::kinds, now);
    count_wait(wait_call_, took, seat.lend.lent_ticks - lent_before_);
    rank_.loops.meter->wait_ends(now, seat.lend.lent_ticks - lent_before_ + seat.lend.naps_ticks - slept_before_);
    carry_lag(now, took);
    base::store_relaxed(seat.waits_since, 0);
    if (WS_UNLIKELY(shows_call_))
        show_call(nullptr);
    show(seat, Seated::computing, now);
    return took;
}

// Gives a policy a step, if one is due or if a policy wants whatever time this rank has. One step only, so that MPI
// polls in between.
bool HomeThread::gave_step(uint64_t now, bool idle)
{
    if (WS_LIKELY(now < spare_->due_at && !(spare_->when_idle && idle)))
        return false;
    spare_->step(now);
    return true;
}

void HomeThread::yield(uint64_t now)
{
    if (!yields_.are_due(now) && lender_.core_is_ours_alone()) {
        cpu_relax();
        return;
    }
    sched_yield();
    yields_.took(now, ticks(), rank_.times.patience_ticks);
}

// Blocked, and nothing to help with, or no right to help: gives policies a step; else spins on, then yields, then
// sleeps on the doorbell.
void HomeThread::idle(uint64_t now)
{
    if (spare_->when_idle && lender_.core_is_free() && gave_step(now, true))
        return;
    // Threads of parallel regions came to the core: they will come again, and find it busy if this one still yields.
    const bool taken = was_taken_ = was_taken_ || lender_.is_taken();
    if (!taken && lender_.core_is_ours_alone() && has_just_served(now))
        return; // even a pause would delay the next answer
    if (!taken && lender_.core_is_ours_alone() && now - wait_began_ < rank_.times.patience_ticks)
        cpu_relax(); // a system call here would delay the end of a short wait
    else if (!taken && !lender_.must_not_spin() && now - idle_since_ < rank_.times.yield_ticks &&
             !rank_.has_just_woken(now))
        yield(now);
    else if (!lender_.is_armed())
        arm();
    else if (!lender_.disarm_if_rung() && last_poll_was_dry())
        lender_.sleep(lender_.us_until(spare_->due_at, now));
}

void HomeThread::start()
{
    const LendOptions& options = rank_.options;
    spare_ = options.spare_time ? options.spare_time : &nobody;
    helps_nobody_ = !options.score;
    home_thread = true;
    loop::join(rank_.loops);
    const unsigned me = rank_.window.me();
    own_seat = &rank_.loops.board->seat(0);
    Hardware::store_relaxed(own_seat->kind, Flag(SeatKind::home));
    show(*own_seat, Seated::computing, ticks());
    observe::record_as(SeatKind::home, me);
    lender_.start(rank_, me, *own_seat, rank_.loops.any_thread, options.times.quantum_us);
    active_ = true;
}

void HomeThread::let_lend(bool on)
{
    lends_ = on;
    helps_nobody_ = !on || !rank_.options.score;
}

void HomeThread::stop()
{
    active_ = false;
    spare_ = &nobody;
    lender_.resume();
    while (lender_.has_lease())
        lender_.sleep_while_lent();
    show(lender_.seat(), Seated::computing, ticks());
}

// In a wait outside of MPI its stand-in has its seat, so it waits as another thread does.
bool HomeThread::is_another() const
{
    return !WS_LIKELY(active_ && home_thread && !loop::self.in_region && !rank_.stand_in().is_open());
}

bool HomeThread::may_be_stood_in_for() const
{
    return !is_another() && !(rank_.options.call_name && rank_.options.call_name());
}

__attribute__((noinline)) void HomeThread::another_blocked(unsigned polls)
{
    if (!home_thread && loop::thread_in_region())
        guest_blocked(polls);
    else if (active_ && !(home_thread && loop::self.in_region))
        others_.blocked(polls);
    else
        blocked_in_region(polls);
}

// The rank's own thread, in an iteration that calls MPI; or longjmp has left that, and nobody has noticed.
void HomeThread::blocked_in_region(unsigned polls)
{
    constexpr unsigned seconds = base::times::unfinished_s;
    if (polls == 0)
        region_wait_began_ = ticks();
    if (polls <= 1000)
        return;
    sched_yield(); // let others run
    if (said_of_wait_ || !active_ || double(ticks() - region_wait_began_) < seconds * 1e6 * rank_.loops.ticks_per_us)
        return;
    said_of_wait_ = true;
    loop::waits_in_iteration(rank_.window.own_home().world_rank, seconds);
}

// What comes while something is done here waits for MPI's next poll, so in most turns nothing is.
void HomeThread::blocked(unsigned polls)
{
    if (is_another()) {
        if (polls == 0 && home_thread && rank_.stand_in().is_open())
            rank_.stand_in().end_if_left();
        if (is_another()) {
            another_blocked(polls);
            return;
        }
    }
    if (WS_UNLIKELY((polls & look_mask_) == 0))
        turn(polls);
}

__attribute__((noinline)) void HomeThread::turn(unsigned polls)
{
    look(polls);
    if (lender_.is_armed() || lender_.has_lease())
        look_mask_ = every;
    else if (!is_blocked_)
        look_mask_ = eighth;
    else
        look_mask_ = has_just_served(waited_until_) ? thirty_second : fourth;
}

void HomeThread::look(unsigned polls)
{
    const uint64_t now = ticks();
    if (polls == 0) {
        wait_began_ = idle_since_ = now;
        was_taken_ = false;
    }
    waited_until_ = now;
    // woken at the end of a quantum, or a new wait while a long chunk still runs
    if (WS_UNLIKELY(lender_.has_lease())) {
        if (!is_blocked_)
            begin_wait(now);
        gave_step(now, false); // beside the guest
        lender_.sleep_while_lent(lender_.us_until(spare_->due_at, now));
        return;
    }
    if (now - wait_began_ < rank_.times.spin_ticks && !waits_are_long_)
        return;
    if (!is_blocked_)
        begin_wait(now);
    const bool served = look_at_served(now);
    if (now - looked_at_peers_ > rank_.times.peers_ticks) {
        looked_at_peers_ = now;
        rank_.check_peers("an MPI call");
        lender_.look_at_neighbours(true);
        waits_long(now);
    }
    if (gave_step(now, helps_nobody_) || (served && !lender_.is_armed()))
        return; // the next call may be there
    // An owner claims its last chunks on the cache line that a look reads: it is slower for each of them.
    if (WS_UNLIKELY(helps_nobody_) || now < little_until_) {
        idle(now);
        return;
    }
    const window::Hungry hunger = now - wait_began_ < rank_.times.patience_ticks ? newly_hungry
                          : now - idle_since_ < rank_.times.yield_ticks  ? window::long_hungry
                                                                          : window::asleep_hungry;
    const Target target = lender_.choose(hunger, false);
    if (!target) {
        Refusal why = lender_.why_none();
        if (why == Refusal::no_guest && !lender_.core_is_free()) // a guest would be of no use
            why = Refusal::core_taken;
        lender_.refuse(why, now);
        if (why == Refusal::too_little)
            little_until_ = now + lender_.little_left();
        idle(now);
    } else if (!lender_.core_is_free()) {
        bump(lender_.counters().refusals);
        lender_.refuse(Refusal::core_taken, now);
        idle(now);
    } else if (!lender_.is_armed()) {
        arm();
        lender_.step_aside(target.rank);
    } else if (!lender_.disarm_if_rung() && last_poll_was_dry()) { // otherwise something has arrived in between
        lender_.lend(target);
        idle_since_ = ticks();
    }
}

void HomeThread::unblocked()
{
    if (is_another()) {
        others_.unblocked();
        return;
    }
    if (lender_.has_lease())
        lender_.resume();
    else if (lender_.is_armed())
        lender_.disarm();
    if (is_blocked_) {
        is_blocked_ = false;
        if (WS_UNLIKELY(spare_->hears_end))
            spare_->wait_ends();
        Hardware::store_relaxed(lender_.home().occupancy, window::rank_computing);
        lender_.show_busy(true);
        if (Hardware::load_relaxed(lender_.home().awaits) != awaits_nobody) {
            Hardware::store_relaxed(lender_.home().awaits, awaits_nobody);
            Hardware::fetch_add_full(rank_.window.node().senders_waiting, Flag(-1));
        }
        waits_are_long_ = end_wait() > rank_.times.patience_ticks;
    } else {
        if (waited_until_) // the time that is known already: reading the clock now would delay the message
            rank_.loops.meter->waited_within(waited_until_ - wait_began_);
        if (Hardware::load_relaxed(lender_.seat().state) != Flag(Seated::computing))
            show(lender_.seat(), Seated::computing, ticks()); // a short wait, with the core still lent
    }
    waited_until_ = 0;
}

void HomeThread::has_waited(uint64_t began)
{
    if (is_another())
        return;
    const uint64_t took = ticks() - began;
    rank_.loops.meter->waited_within(took);
    if (took >= rank_.times.spin_ticks)
        count_wait(own_call_row(), took, 0);
}

// MPI_Test or the like found nothing. The program wants to go on at once, so the core is lent for one short chunk only.
void HomeThread::polled()
{
    if (is_another() || is_blocked_) // a policy's step looks for letters, not the program
        return;
    Hardware::store_relaxed(lender_.home().looked_at, ticks());
    observe::LendCounters& counters = lender_.counters();
    const uint64_t before = counters.lent_ticks;
    lender_.resume(); // after a chunk that lasted longer than the call it was lent in
    if (!lender_.has_lease() && lends_)
        if (const Target target = lender_.choose(newly_hungry, false))
            if (lender_.core_is_free() && lender_.lend(target, true)) {
                show(lender_.seat(), Seated::computing, ticks());
                lender_.show_busy(true);
            }
    // of such calls only those that helped count as waiting
    if (const uint64_t lent = counters.lent_ticks - before) {
        rank_.loops.meter->waited_within(lent);
        count_wait(own_call_row(), lent, lent);
    }
}

} // namespace ws::lend
