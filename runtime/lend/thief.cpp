// SPDX-License-Identifier: MIT
//
// The steal path, top to bottom: blocked() -> choose() -> arm -> (MPI polls once more) -> claim and lend -> sleep.
// Everything here runs on the thread that owns the rank's core, inside an MPI call that made no progress.
#include "lend/lend.h"

#include "loop/chaos.h"
#include "loop/region.h"
#include "window/os.h"

namespace ws {

LendCounters lend_counters;

namespace detail {
Window* window;
LendTimes times;
} // namespace detail

namespace {

WS_THREAD_LOCAL bool home_thread; // only the thread that called MPI_Init stands for the core

bool active;
bool is_blocked;          // this wait is longer than the spin
bool has_lease;           // our core was lent and its return is not yet accounted
uint64_t wait_began;      // ticks
uint64_t looked_at_peers; // ticks
unsigned quiet_quanta;    // quanta slept through since the last look at the peers
bool core_is_ours_alone;  // no other rank may run on our cores
bool core_is_bound;       // our mask holds one CPU
unsigned sharers_cores;   // cores of the ranks that share with us, ours included

constexpr unsigned none = ~0u;

Core& own_core() { return detail::window->mine().core; }

bool overlaps(const Core& a, const Core& b)
{
    cpu_set_t both;
    CPU_AND(&both, &a.mask, &b.mask);
    return CPU_COUNT(&both) != 0;
}

// With more ranks than cores a blocked rank's core is not idle: another home rank computes there. The core counts as
// free while fewer ranks and guests are at work than there are cores for them.
bool core_is_free()
{
    if (core_is_ours_alone)
        return true;
    Window& w = *detail::window;
    unsigned busy = 0;
    for (unsigned r = 0; r < w.ranks(); r++) {
        const Core& c = w.row(r).core;
        if (r != w.me() && overlaps(c, own_core()))
            busy += Hardware::load_relaxed(c.occupancy) == rank_computing || Hardware::load_relaxed(c.state) == core_lent;
    }
    return busy < sharers_cores;
}

// A published region with work left, the one with most of it; tells every other owner that somebody waits.
// Reads only, but for the first time it finds a rank without its flag: owners' lines stay theirs.
unsigned choose(Hungry hunger, Descriptor::Look& best)
{
    Window& w = *detail::window;
    unsigned victim = none;
    double most = 0;
    for (unsigned k = 1; k < w.ranks(); k++) {
        unsigned r = w.me() + k < w.ranks() ? w.me() + k : w.me() + k - w.ranks();
        Row& row = w.row(r);
        GuestSlot& slot = w.guest(r, w.me());
        Flag state = Hardware::load_acquire(slot.state); // ready: the guest listens. Pairs with guest_main()
        if (state == guest_ready) {
            Descriptor::Look look = row.loop.look();
            if (look.open) {
                double work = double(look.remaining) * double(look.unit_ticks + 1);
                if (work > most) {
                    most = work;
                    victim = r;
                    best = look;
                }
                continue;
            }
        } else if (state == guest_refused || state == guest_away)
            continue;
        else if (state == guest_none) {
            Hardware::store_relaxed(slot.state, guest_wanted);
            Hardware::store_release(row.hunger.wanted, 1); // the owner scans its slots after it has read this
        }
        if (Hardware::load_relaxed(row.hunger.hungry) < hunger)
            Hardware::store_release(row.hunger.hungry, hunger); // after wanted
    }
    return victim;
}

// The core is back: by itself, or because we recalled it.
void account_return(Core& core, uint64_t now)
{
    has_lease = false;
    lend_counters.lent_ticks += now - core.lent_at;
    lend_counters.recalls += Hardware::load_relaxed(core.recall) != 0;
    Hardware::store_relaxed(core.tenant, detail::window->me());
}

// Sleeps while the guest has the core, a quantum at most: then MPI is polled once, for what cannot ring.
void sleep_while_lent(Core& core)
{
    futex_wait(&core.state, core_lent, detail::times.quantum_us);
    if (Hardware::load_acquire(core.state) != core_lent) { // pairs with the guest's store
        account_return(core, ticks());
        quiet_quanta = 0;
    } else if (++quiet_quanta * detail::times.quantum_us > 100000) {
        quiet_quanta = 0;
        check_peers("its core, which is lent");
    }
}

// Ranks that are not bound may sit on one CPU, and the kernel leaves them there: a thief sleeps too often to look like
// load. Its core would be the owner's. So it steps aside, to a CPU of its mask that no rank of the node says it is on,
// and takes its old mask again. Rare: it then stays where it is.
void step_aside(Core& core, unsigned victim)
{
    Window& w = *detail::window;
    int cpu = sched_getcpu();
    Hardware::store_relaxed(core.running_on, Flag(cpu));
    if (Flag(cpu) != Hardware::load_relaxed(w.row(victim).core.running_on) || core_is_bound)
        return;
    cpu_set_t free, one, mask;
    if (sched_getaffinity(0, sizeof mask, &mask) < 0)
        return;
    free = mask;
    for (unsigned r = 0; r < w.ranks(); r++) {
        Flag c = Hardware::load_relaxed(w.row(r).core.running_on);
        if (c < CPU_SETSIZE)
            CPU_CLR(c, &free);
    }
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &free)) {
            CPU_ZERO(&one);
            CPU_SET(c, &one);
            if (sched_setaffinity(0, sizeof one, &one) == 0) {
                sched_setaffinity(0, sizeof mask, &mask);
                Hardware::store_relaxed(core.running_on, Flag(c));
                lend_counters.moves++;
            }
            return;
        }
}

void lend(Core& core, unsigned victim, const Descriptor::Look& look)
{
    Window& w = *detail::window;
    Sizing sizing = Sizing::unpack(look.sizing);
    Chunk lease;
    chaos.delay();
    Claim result = w.row(victim).loop.claim_and_join(
        [&](uint64_t remaining, unsigned joiners) { return sizing.units(remaining, joiners + 2, w.ranks()); }, lease);
    if (result != Claim::taken) {
        lend_counters.lost += result == Claim::lost;
        return;
    }
    core.lease = lease;
    core.lent_at = ticks();
    has_lease = true;
    Hardware::store_relaxed(core.tenant, victim);
    Hardware::store_full(core.state, core_lent);
    chaos.delay();
    GuestSlot& slot = w.guest(victim, w.me());
    Hardware::fetch_add_full(slot.knock, 1); // the lease is written; pairs with the guest's load of knock
    futex_wake(&slot.knock);
    lend_counters.lends++;
    sleep_while_lent(core);
}

} // namespace

bool owner_is_blocked()
{
    return Hardware::load_relaxed(own_core().occupancy) == rank_blocked; // relaxed: a hint
}

void lend_start(Window& window, const LendTimes& times)
{
    detail::window = &window;
    detail::times = times;
    home_thread = true;
    core_is_bound = CPU_COUNT(&own_core().mask) == 1;
    cpu_set_t cores = own_core().mask;
    unsigned sharers = 1;
    for (unsigned r = 0; r < window.ranks(); r++)
        if (r != window.me() && overlaps(window.row(r).core, own_core())) {
            CPU_OR(&cores, &cores, &window.row(r).core.mask);
            sharers++;
        }
    sharers_cores = unsigned(CPU_COUNT(&cores));
    core_is_ours_alone = sharers <= sharers_cores;
    probe_peers();
    active = true;
}

void lend_stop()
{
    active = false;
    Core& core = own_core();
    if (!has_lease)
        return;
    Hardware::store_relaxed(core.recall, 1);
    while (has_lease)
        sleep_while_lent(core);
}

void blocked(unsigned polls)
{
    if (WS_UNLIKELY(!active || !home_thread || thread_in_region())) {
        // Another thread's wait, or a body that waits: its core is not this rank's to give. Let others run.
        if (thread_in_region() && !home_thread)
            guest_blocked(polls);
        else if (polls > 1000)
            sched_yield();
        return;
    }
    Core& core = own_core();
    uint64_t now = ticks();
    if (polls == 0)
        wait_began = now;
    if (WS_UNLIKELY(has_lease)) { // woken at the end of a quantum, or a new wait while a long chunk still runs
        sleep_while_lent(core);
        return;
    }
    if (now - wait_began < detail::times.spin_ticks) {
        cpu_relax();
        return;
    }
    if (!is_blocked) {
        is_blocked = true;
        looked_at_peers = now;
        Hardware::store_relaxed(core.occupancy, rank_blocked);
    }

    if (now - looked_at_peers > detail::times.peers_ticks) {
        looked_at_peers = now;
        check_peers("an MPI call");
    }
    Descriptor::Look look{};
    unsigned victim =
        choose(now - wait_began < detail::times.patience_ticks ? newly_hungry : long_hungry, look);
    if (victim == none) {
        sched_yield();
        return;
    }
    if (!core_is_free()) {
        lend_counters.refusals++;
        sched_yield();
        return;
    }
    if (Hardware::load_relaxed(core.state) == core_kept) {
        Hardware::store_relaxed(core.recall, 0);
        // Full, then MPI polls once more: a message posted before this store is found by that poll, one posted after
        // it rings. A sender whose store still sits in its store buffer escapes both; it costs a quantum, no more.
        Hardware::store_full(core.state, core_armed);
        step_aside(core, victim);
        return;
    }
    if (Hardware::load_relaxed(core.recall)) { // something has arrived in between
        Hardware::store_relaxed(core.state, core_kept);
        return;
    }
    lend(core, victim, look);
}

void unblocked()
{
    if (!active || !home_thread || thread_in_region())
        return;
    Core& core = own_core();
    if (has_lease) {
        if (Hardware::load_acquire(core.state) == core_lent) // we go on beside the guest, which leaves after its chunk
            Hardware::store_relaxed(core.recall, 1);
        else
            account_return(core, ticks());
    } else if (Hardware::load_relaxed(core.state) == core_armed)
        Hardware::store_relaxed(core.state, core_kept);
    if (is_blocked) {
        is_blocked = false;
        Hardware::store_relaxed(core.occupancy, rank_computing);
        lend_counters.blocked_ticks += ticks() - wait_began;
    }
}

void ring(unsigned node_rank)
{
    Core& core = detail::window->row(node_rank).core;
    if (WS_LIKELY(Hardware::load_relaxed(core.state) == core_kept)) // relaxed: see blocked()
        return;
    if (!Hardware::load_relaxed(core.recall)) {
        Hardware::store_relaxed(core.recall, 1);
        Hardware::fetch_add_full(core.rings, 1);
    }
}

} // namespace ws
