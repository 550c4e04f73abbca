// SPDX-License-Identifier: MIT
//
// The rank's own thread, in an MPI call that makes no progress: spin, look for a victim, lend; with none, yield, then sleep.
// What happens to a core that is lent or asleep is in lender.cpp.
#include "lend/lender.h"

#include "directive/openmp.h"
#include "loop/region.h"
#include "window/os.h"

namespace ws {

namespace detail {
Window* window;
LendTimes times;
const int *sends_open, *sends_to;
volatile Flag guests_refused, guests_barred;
} // namespace detail

namespace {

WS_THREAD_LOCAL bool home_thread; // only the thread that called MPI_Init stands for the core

bool active;
bool is_blocked;          // this wait is longer than the spin
const unsigned* mpi_events;
unsigned seen_events;
bool waits_are_long;      // the last one was: the next will most likely be, and need not be spun on
uint64_t wait_began;      // ticks
uint64_t idle_since;      // ticks: nothing to help with since
uint64_t looked_at_peers; // ticks
Lender home;
LendCounters total;

bool stands_for_the_core() { return WS_LIKELY(active && home_thread && !thread_in_region()); }

// One poll of MPI handles a few events, which need not be those that this rank waits for; the doorbell's ring for the next ones
// may be over. So whoever armed goes on polling until a poll has handled nothing at all.
bool last_poll_was_dry()
{
    const unsigned now = __atomic_load_n(mpi_events, __ATOMIC_RELAXED); // other threads poll too: a hint
    const bool dry = now == seen_events;
    seen_events = now;
    return dry;
}

void arm()
{
    home.arm();
    seen_events = __atomic_load_n(mpi_events, __ATOMIC_RELAXED);
}

// Blocked, with nothing to help with or no right to: spins on, yields, then sleeps on the doorbell.
void idle(uint64_t now)
{
    if (home.core_is_ours_alone() && now - wait_began < detail::times.patience_ticks)
        cpu_relax(); // a system call here would delay the end of a short wait
    else if (!home.must_not_spin() && now - idle_since < detail::times.yield_ticks)
        sched_yield();
    else if (!home.is_armed())
        arm();
    else if (!home.disarm_if_rung() && last_poll_was_dry())
        home.sleep();
}

} // namespace

bool owner_is_blocked()
{
    return Hardware::load_relaxed(detail::window->own_core().occupancy) == rank_blocked; // relaxed: a hint
}

void lend_start(Window& window, const LendOptions& options)
{
    detail::window = &window;
    detail::times = options.times;
    detail::sends_open = options.sends_open;
    detail::sends_to = options.sends_to;
    mpi_events = options.events;
    home_thread = true;
    home.start(window.me(), options, loop_host.any_thread, options.times.quantum_us);
    probe_peers();
    active = true;
    detail::start_workers(options);
}

void lend_stop()
{
    active = false;
    home.resume();
    while (home.has_lease())
        home.sleep_while_lent();
    total = home.counters();
    detail::stop_workers(total);
    total.guests_refused = Hardware::load_relaxed(detail::guests_refused);
    total.guests_barred = Hardware::load_relaxed(detail::guests_barred);
}

LendCounters lend_totals() { return total; }

void blocked(unsigned polls)
{
    if (!stands_for_the_core()) {
        // Another thread's wait, or a body that waits: its core is not this rank's to give. Let others run.
        if (thread_in_region() && !home_thread)
            guest_blocked(polls);
        else if (polls > 1000)
            sched_yield();
        return;
    }
    // Every fourth turn is enough to look for work, and the others notice sooner what MPI waits for.
    if (polls % 4 != 0 && !home.is_armed() && !home.has_lease())
        return;
    const uint64_t now = ticks();
    if (polls == 0)
        wait_began = idle_since = now;
    if (WS_UNLIKELY(home.has_lease())) { // woken at the end of a quantum, or a new wait while a long chunk still runs
        home.sleep_while_lent();
        return;
    }
    if (now - wait_began < detail::times.spin_ticks && !waits_are_long) {
        cpu_relax();
        return;
    }
    if (!is_blocked) {
        is_blocked = true;
        looked_at_peers = now;
        Hardware::store_relaxed(home.core().occupancy, rank_blocked);
        end_openmp_wait(); // our workers too have time for others now
        if (*detail::sends_open > 0) { // who receives them rings from here on
            const int to = *detail::sends_to;
            Hardware::store_relaxed(home.core().awaits, to < 0 ? awaits_several : Flag(to) + 1);
            Hardware::fetch_add_full(detail::window->node().senders_waiting, 1);
        }
    }
    if (now - looked_at_peers > detail::times.peers_ticks) {
        looked_at_peers = now;
        check_peers("an MPI call");
    }
    const Hungry hunger = now - wait_began < detail::times.patience_ticks ? newly_hungry
                          : now - idle_since < detail::times.yield_ticks  ? long_hungry
                                                                          : asleep_hungry;
    const Target target = home.choose(hunger, false);
    if (!target)
        idle(now);
    else if (!home.core_is_free()) {
        home.counters().refusals++;
        idle(now);
    } else if (!home.is_armed()) {
        arm();
        home.step_aside(target.rank);
    } else if (!home.disarm_if_rung() && last_poll_was_dry()) { // else something has arrived in between
        home.lend(target);
        idle_since = ticks();
    }
}

void unblocked()
{
    if (!stands_for_the_core())
        return;
    if (home.has_lease())
        home.resume();
    else if (home.is_armed())
        home.disarm();
    if (is_blocked) {
        is_blocked = false;
        Hardware::store_relaxed(home.core().occupancy, rank_computing);
        if (Hardware::load_relaxed(home.core().awaits) != awaits_nobody) {
            Hardware::store_relaxed(home.core().awaits, awaits_nobody);
            Hardware::fetch_add_full(detail::window->node().senders_waiting, Flag(-1));
        }
        const uint64_t took = ticks() - wait_began;
        home.counters().blocked_ticks += took;
        waits_are_long = took > detail::times.patience_ticks;
    }
}

// MPI_Test and its like found nothing. The program goes on at once, so it is one short chunk, and no waiting for more.
void polled()
{
    if (!stands_for_the_core())
        return;
    Hardware::store_relaxed(home.core().looked_at, ticks());
    home.resume(); // of a chunk that outlasted its call
    if (home.has_lease())
        return;
    if (const Target target = home.choose(newly_hungry, false))
        if (home.core_is_free())
            home.lend(target, true);
}

} // namespace ws
