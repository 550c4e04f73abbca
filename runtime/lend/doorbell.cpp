// SPDX-License-Identifier: MIT
//
// Wakeups: senders wake the rank for which they have posted something, owners wake threads that sleep because they have
// no work.
#include "lend/rank.h"

#include "openmp/library/regions.h"
#include "base/os.h"

#include <algorithm>
#include <climits>
#include <sched.h>
#include <unistd.h>

namespace ws::lend {

using window::core_asleep;
using window::core_kept;
using window::core_lent;
using base::cpu_relax;
using base::Flag;
using base::Hardware;
using base::ticks;
using window::Home;
using window::rank_blocked;
using window::rank_computing;
using window::Window;

namespace {

// A thread that sleeps because it has no work; not one whose core is lent.
bool wake_up(Home& core)
{
    if (Hardware::load_relaxed(core.state) != core_asleep || !Hardware::cas_full(core.state, core_asleep, core_kept))
        return false;
    base::futex_wake(&core.state);
    return true;
}

// Waking a thread whose core others use wins nothing. May be out of date: a hint.
bool a_core_is_idle(const Window& w)
{
    unsigned busy = 0;
    for (unsigned c = 0; c < w.cores(); c++)
        busy += Hardware::load_relaxed(w.home(c).occupancy) == rank_computing ||
                Hardware::load_relaxed(w.home(c).state) == core_lent;
    return busy < w.node().cpus;
}

} // namespace

void Rank::taken()
{
    const Window& w = window;
    const Flag me = Flag(w.own_home().world_rank) + 1;
    const bool open = *options.sends_open > 0; // this poll may have sent more of them
    const int to = *options.sends_to;
    for (unsigned r = 0; r < w.ranks(); r++) {
        Home& core = w.home(r);
        const Flag awaits = Hardware::load_relaxed(core.awaits);
        if (awaits == me || awaits == window::awaits_several || (open && (to < 0 || to == core.world_rank)))
            posted_for(core);
    }
}

bool Rank::ring_absent(Home& core)
{
    if (WS_UNLIKELY(Hardware::load_relaxed(core.threads_asleep) != 0)) { // relaxed: see OtherThreads::blocked()
        Hardware::fetch_add_full(core.thread_bell, 1);
        base::futex_wake(&core.thread_bell, INT_MAX); // which of them it is for MPI alone knows
    }
    if (WS_LIKELY(Hardware::load_relaxed(core.state) == core_kept)) // relaxed: see Lender::arm()
        return false;
    if (!Hardware::load_relaxed(core.recall)) {
        Hardware::store_relaxed(core.recall, window::rung_on + Flag(std::max(sched_getcpu(), 0)));
        // Full, before the second look: a thread that was falling asleep has seen recall, or is seen here asleep. Pairs
        // with Lender::sleep().
        Hardware::fetch_add_full(core.rings, 1);
    }
    return wake_up(core);
}

void Rank::woke_one()
{
    Hardware::store_relaxed(woke_at_, ticks());
    // the woken thread looks for it there, too
    Hardware::store_relaxed(window.own_home().running_on, Flag(sched_getcpu()));
}

void Rank::let_woken_run()
{
    const Hardware::Word woke_at = Hardware::load_relaxed(woke_at_);
    if (WS_LIKELY(woke_at == 0))
        return;
    const uint64_t began = ticks();
    if (!has_just_woken(began)) {
        // Calls after this one need not read the clock. Another thread may just have woken a rank: then its time stays.
        // Relaxed would do.
        Hardware::cas_full(woke_at_, woke_at, 0);
        return;
    }
    const auto leaves_wait = [](const Home& home) { // relaxed: polled
        return Hardware::load_relaxed(home.occupancy) == rank_blocked && Hardware::load_relaxed(home.recall) &&
               Hardware::load_relaxed(home.state) == core_kept;
    };
    for (unsigned r = 0; r < window.ranks(); r++)
        while (r != window.me() && leaves_wait(window.home(r))) {
            const uint64_t waited = ticks() - began;
            if (waited > times.yield_ticks)
                return;
            if (waited < 3 * times.patience_ticks)
                cpu_relax();
            else
                usleep(1);
        }
}

bool Rank::somebody_waits() const
{
    for (unsigned c = 0; c < window.cores(); c++) // relaxed: a hint
        if (Hardware::load_relaxed(window.home(c).occupancy) == rank_blocked || looked_just_now(window.home(c)))
            return true;
    return false;
}

void Rank::wake()
{
    const Window& w = window;
    openmp::end_wait_for_regions();
    // Own workers that help elsewhere come back for their own rank's work.
    for (unsigned i = w.first_worker(); i < w.first_worker() + w.workers(); i++)
        if (Hardware::load_relaxed(w.home(i).state) == core_lent &&
            Hardware::load_relaxed(w.home(i).tenant) != w.me() && Hardware::load_relaxed(*loops.open))
            Hardware::store_relaxed(w.home(i).recall, 1);
    if (Hardware::load_relaxed(w.node().sleepers) == 0 || (!loops.share_all && !a_core_is_idle(w)))
        return;
    unsigned woken = 0;
    constexpr unsigned enough = 2; // they wake the next when they have found work
    for (unsigned i = w.first_worker(); i < w.first_worker() + w.workers() && woken < enough; i++)
        woken += wake_up(w.home(i));
    for (unsigned k = 1; k <= w.cores() && woken < enough; k++)
        woken += wake_up(w.home((w.me() + k) % w.cores()));
}

} // namespace ws::lend
