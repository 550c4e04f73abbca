// SPDX-License-Identifier: MIT
//
// The rank's own thread, in an MPI call that makes no progress: spin, look for a victim, lend; with none, give policies
// their time, yield, then sleep.
// What happens to a core that is lent or asleep is in lender.cpp.
#include "lend/lender.h"

#include "directive/openmp.h"
#include "lend/body_stack.h"
#include "loop/region.h"
#include "measure/meter.h"
#include "observe/calls.h"
#include "observe/recorder.h"
#include "window/atomics.h"
#include "window/os.h"
#include <algorithm>

namespace ws::lend {

using loop::loop_host;
using observe::CallRow;
using observe::Refusal;
using observe::Seat;
using observe::SeatKind;
using observe::Seated;
using observe::board;
using observe::bump;
using observe::no_row;
using observe::own_seat;
using observe::show;
using window::Window;
using window::awaits_nobody;
using window::cpu_relax;
using window::newly_hungry;
using window::rank_blocked;
using window::ticks;

namespace detail {
Window* window;
LendTimes times;
const int *sends_open, *sends_to;
} // namespace detail

namespace {

WS_THREAD_LOCAL bool home_thread; // only the thread that called MPI_Init stands for the core

bool active;
bool is_blocked;          // this wait is longer than the spin
const unsigned* mpi_events;
unsigned seen_events;
bool waits_are_long;      // the last wait was long: the next will most likely be, so it is not worth spinning first
uint64_t wait_began;      // ticks
uint64_t waited_until;    // ticks: of a wait that may turn out short; 0: in none
bool was_taken;           // in this wait: by a parallel region of another rank
uint64_t idle_since;      // ticks: since when there is nothing to help with, nor anything to do for MPI
uint64_t served_at;       // ticks: MPI handled something in this wait that did not end it; 0: nothing
unsigned served_events;   // of mpi_events then
uint64_t looked_at_peers; // ticks
const char* (*own_call)(); // MPICH's, or null
Flag wait_call;             // row of the call that it waits in
uint64_t lent_before, slept_before; // lent_ticks and sleep_ticks when the wait began
bool helps_nobody;          // by its VictimPolicy
Lender lender;

class Nobody final : public SpareTime {
    void step(uint64_t) override {}
};
Nobody nobody;
SpareTime* spare = &nobody;

bool stands_for_the_core() { return WS_LIKELY(active && home_thread && !loop::thread_in_region()); }

// One poll of MPI handles a few events, which need not be those that this rank waits for; the doorbell
// may have rung for the next ones before this rank armed. So a rank that has armed goes on polling until a poll has
// handled nothing at all.
bool last_poll_was_dry()
{
    const unsigned now = window::load_relaxed(*mpi_events); // other threads poll too: a hint
    const bool dry = now == seen_events;
    seen_events = now;
    return dry;
}

// A rank that others put to, get from or lock has to answer them while it waits, and most likely again at once.
void look_at_served(uint64_t now)
{
    const unsigned events = window::load_relaxed(*mpi_events);
    if (WS_LIKELY(events == served_events))
        return;
    served_events = events;
    served_at = idle_since = now;
}

void arm()
{
    lender.arm();
    seen_events = window::load_relaxed(*mpi_events);
}

// This wait is longer than the spin, or begins with the core still lent.
void begin_wait(uint64_t now)
{
    is_blocked = true;
    looked_at_peers = now;
    served_at = 0;
    served_events = window::load_relaxed(*mpi_events);
    Seat& seat = lender.seat();
    wait_call = own_call ? observe::call_row(own_call()) : no_row;
    lent_before = seat.lend.lent_ticks;
    slept_before = seat.lend.naps_ticks;
    measure::meter.wait_begins(wait_began);
    Hardware::store_relaxed(seat.call, wait_call);
    window::store_relaxed(seat.waits_since, wait_began);
    show(seat, Seated::blocked, wait_began);
    volatile Hardware::Word& lag = detail::window->lag(detail::window->me());
    if (const Hardware::Word was = Hardware::load_relaxed(lag))
        Hardware::store_relaxed(lag, (was + wait_began) | window::lag_of_waiter);
    Hardware::store_relaxed(lender.home().occupancy, rank_blocked);
    if (!lender.has_lease())
        lender.show_busy(false);
    lender.look_at_neighbours(false);
    directive::end_openmp_wait(); // now our workers, too, have time for others
    if (*detail::sends_open > 0) { // from here on the ranks that receive them ring
        const int to = *detail::sends_to;
        Hardware::store_relaxed(lender.home().awaits, to < 0 ? window::awaits_several : Flag(to) + 1);
        Hardware::fetch_add_full(detail::window->node().senders_waiting, 1);
    }
}

// How much later this rank would be without stealing. It would have come to this wait later, and would have waited less
// by as much; but it would not have left the wait before the rank that it waited for, which is the one that would be
// latest. Short waits, where a look at all ranks would cost too much, only reduce this lag.
void carry_lag(uint64_t now, uint64_t waited)
{
    Window& w = *detail::window;
    const Hardware::Word was = Hardware::load_relaxed(w.lag(w.me()));
    Hardware::Word lag = window::lag_now(was, now);
    // A line of eight ranks' words may take 100 ns to come.
    const double look = std::max(double(detail::times.patience_ticks), 0.5 * w.ranks() * loop_host.ticks_per_us);
    for (unsigned r = 0; r < w.ranks() && double(waited) > look; r++) // relaxed: an estimate
        lag = std::max(lag, window::lag_now(Hardware::load_relaxed(w.lag(r)), now));
    if (lag == was)
        return;
    Hardware::store_relaxed(w.lag(w.me()), lag);
    window::store_relaxed(board->lag_ticks, lag);
}

// Returns what the wait took, in ticks.
uint64_t end_wait()
{
    Seat& seat = lender.seat();
    const uint64_t now = ticks(), took = now - wait_began;
    lender.refuse(Refusal::kinds, now);
    bump(seat.lend.blocked_ticks, took);
    measure::meter.wait_ends(now, seat.lend.lent_ticks - lent_before + seat.lend.naps_ticks - slept_before);
    carry_lag(now, took);
    window::store_relaxed(seat.waits_since, 0);
    if (wait_call != no_row) {
        CallRow& row = board->call(wait_call);
        bump(row.waits);
        bump(row.blocked_ticks, took);
        bump(row.lent_ticks, seat.lend.lent_ticks - lent_before);
    }
    show(seat, Seated::computing, now);
    return took;
}

// Gives a policy a step, if one is due or if a policy wants whatever time this rank has. One step only, so that MPI
// polls in between.
bool gave_step(uint64_t now, bool idle)
{
    if (WS_LIKELY(now < spare->due_at && !(spare->when_idle && idle)))
        return false;
    spare->step(now);
    return true;
}

// How long a sleep may be so that no step comes late.
uint64_t us_until_due(uint64_t now)
{
    if (spare->due_at == SpareTime::never)
        return Lender::any;
    return spare->due_at > now ? uint64_t(double(spare->due_at - now) / loop_host.ticks_per_us) + 1 : 1;
}

// Blocked, and nothing to help with, or no right to help: gives policies a step; else spins on, then yields, then
// sleeps on the doorbell.
void idle(uint64_t now)
{
    if (spare->when_idle && lender.core_is_free() && gave_step(now, true))
        return;
    // Threads of parallel regions came to the core: they will come again, and find it busy if this one still yields.
    const bool taken = was_taken = was_taken || lender.is_taken();
    if (!taken && lender.core_is_ours_alone() && now - std::max(wait_began, served_at) < detail::times.patience_ticks)
        cpu_relax(); // a system call here would delay the end of a short wait, or an answer
    else if (!taken && !lender.must_not_spin() && now - idle_since < detail::times.yield_ticks)
        sched_yield();
    else if (!lender.is_armed())
        arm();
    else if (!lender.disarm_if_rung() && last_poll_was_dry())
        lender.sleep(us_until_due(now));
}

} // namespace

bool had_neighbours() { return lender.had_neighbours(); }

bool owner_is_blocked()
{
    return Hardware::load_relaxed(detail::window->own_home().occupancy) == rank_blocked; // relaxed: a hint
}

void lend_retime(const LendTimes& times)
{
    LendTimes& t = detail::times;
    window::store_relaxed(t.spin_ticks, times.spin_ticks);
    window::store_relaxed(t.linger_ticks, times.linger_ticks);
    window::store_relaxed(t.quantum_us, times.quantum_us);
    window::store_relaxed(t.longest_quantum_us, times.longest_quantum_us);
}

void lend_start(Window& window, const LendOptions& options)
{
    detail::window = &window;
    detail::times = options.times;
    detail::sends_open = options.sends_open;
    detail::sends_to = options.sends_to;
    mpi_events = options.events;
    if (options.spare_time)
        spare = options.spare_time;
    own_call = options.call_name;
    helps_nobody = !options.victims->score;
    home_thread = true;
    own_seat = &board->seat(0);
    Hardware::store_relaxed(own_seat->kind, Flag(SeatKind::home));
    show(*own_seat, Seated::computing, ticks());
    observe::record_as(SeatKind::home, window.me());
    lender.start(window.me(), *own_seat, options, loop_host.any_thread, options.times.quantum_us);
    set_body_stack(options.stack_bytes);
    probe_peers();
    active = true;
    detail::start_workers(options);
}

void lend_stop()
{
    active = false;
    spare = &nobody;
    lender.resume();
    while (lender.has_lease())
        lender.sleep_while_lent();
    show(lender.seat(), Seated::computing, ticks());
    detail::stop_workers();
}

void blocked(unsigned polls)
{
    if (!stands_for_the_core()) {
        // Another thread waits, or a loop's body does: its core must not be lent. Let others run.
        if (loop::thread_in_region() && !home_thread)
            guest_blocked(polls);
        else if (polls > 1000)
            sched_yield();
        return;
    }
    // Looking for work at every fourth turn is enough; in the others MPI polls, and so notices sooner what it waits
    // for.
    if (polls % 4 != 0 && !lender.is_armed() && !lender.has_lease())
        return;
    const uint64_t now = ticks();
    if (polls == 0) {
        wait_began = idle_since = now;
        was_taken = false;
    }
    waited_until = now;
    if (WS_UNLIKELY(lender.has_lease())) { // woken at the end of a quantum, or a new wait while a long chunk still runs
        if (!is_blocked)
            begin_wait(now);
        gave_step(now, false); // beside the guest
        lender.sleep_while_lent(us_until_due(now));
        return;
    }
    if (now - wait_began < detail::times.spin_ticks && !waits_are_long) {
        cpu_relax();
        return;
    }
    if (!is_blocked)
        begin_wait(now);
    look_at_served(now);
    if (now - looked_at_peers > detail::times.peers_ticks) {
        looked_at_peers = now;
        check_peers("an MPI call");
        lender.look_at_neighbours(true);
    }
    if (gave_step(now, helps_nobody))
        return;
    if (WS_UNLIKELY(helps_nobody)) {
        cpu_relax();
        return;
    }
    const window::Hungry hunger = now - wait_began < detail::times.patience_ticks ? newly_hungry
                          : now - idle_since < detail::times.yield_ticks  ? window::long_hungry
                                                                          : window::asleep_hungry;
    const Target target = lender.choose(hunger, false);
    if (!target) {
        Refusal why = lender.why_none();
        if (why == Refusal::no_guest && !lender.core_is_free()) // a guest would be of no use
            why = Refusal::core_taken;
        lender.refuse(why, now);
        idle(now);
    } else if (!lender.core_is_free()) {
        bump(lender.counters().refusals);
        lender.refuse(Refusal::core_taken, now);
        idle(now);
    } else if (!lender.is_armed()) {
        arm();
        lender.step_aside(target.rank);
    } else if (!lender.disarm_if_rung() && last_poll_was_dry()) { // otherwise something has arrived in between
        lender.lend(target);
        idle_since = ticks();
    }
}

void unblocked()
{
    if (!stands_for_the_core())
        return;
    if (lender.has_lease())
        lender.resume();
    else if (lender.is_armed())
        lender.disarm();
    if (is_blocked) {
        is_blocked = false;
        Hardware::store_relaxed(lender.home().occupancy, window::rank_computing);
        lender.show_busy(true);
        if (Hardware::load_relaxed(lender.home().awaits) != awaits_nobody) {
            Hardware::store_relaxed(lender.home().awaits, awaits_nobody);
            Hardware::fetch_add_full(detail::window->node().senders_waiting, Flag(-1));
        }
        waits_are_long = end_wait() > detail::times.patience_ticks;
    } else {
        if (waited_until) // the time that is known already: reading the clock now would delay the message
            measure::meter.waited_within(waited_until - wait_began);
        if (Hardware::load_relaxed(lender.seat().state) != Flag(Seated::computing))
            show(lender.seat(), Seated::computing, ticks()); // a short wait, with the core still lent
    }
    waited_until = 0;
}

// MPI_Test or the like found nothing. The program wants to go on at once, so the core is lent for one short chunk only.
void polled()
{
    if (!stands_for_the_core())
        return;
    Hardware::store_relaxed(lender.home().looked_at, ticks());
    observe::LendCounters& counters = lender.counters();
    const uint64_t before = counters.lent_ticks;
    lender.resume(); // after a chunk that lasted longer than the call it was lent in
    if (!lender.has_lease())
        if (const Target target = lender.choose(newly_hungry, false))
            if (lender.core_is_free() && lender.lend(target, true)) {
                show(lender.seat(), Seated::computing, ticks());
                lender.show_busy(true);
            }
    // of such calls only those that helped count as waiting
    if (const uint64_t lent = counters.lent_ticks - before) {
        bump(counters.blocked_ticks, lent);
        measure::meter.waited_within(lent);
        const Flag call = own_call ? observe::call_row(own_call()) : no_row;
        if (call != no_row) {
            CallRow& row = board->call(call);
            bump(row.waits);
            bump(row.blocked_ticks, lent);
            bump(row.lent_ticks, lent);
        }
    }
}

} // namespace ws::lend
