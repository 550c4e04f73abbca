// SPDX-License-Identifier: MIT
#include "mpi/mpi_t.h"

#include "mpi/job.h"
#include "observe/board.h"
#include "window/spin_lock.h"

#include <algorithm>

namespace ws {

namespace {

SpinLock looking; // at the window, which goes while other threads may ask
bool window_there;

uint64_t ns(uint64_t ticks) { return uint64_t(double(ticks) / board->ticks_per_us * 1000); }

uint64_t since(uint64_t begin, uint64_t now) { return begin && now > begin ? now - begin : 0; }

// Of the home thread and the workers, which lend.
template <class Counter> uint64_t of_lenders(Counter counter)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i <= board->own_workers; i++)
        sum += counter(board->seat(i));
    return sum;
}

// Of the guests and the workers, which run iterations on other cores.
template <class Counter> uint64_t of_visitors(Counter counter)
{
    uint64_t sum = 0;
    for (unsigned i = 1; i < board->seats; i++)
        sum += counter(board->seat(i));
    return sum;
}

template <class Counter> uint64_t of_loops(Counter counter)
{
    uint64_t sum = counter(board->loop(loop_rows - 1));
    for (unsigned i = 0; i < loop_rows - 1 && board->loop(i).name[0]; i++)
        sum += counter(board->loop(i));
    return sum;
}

unsigned ranks_blocked()
{
    unsigned blocked = 0;
    looking.lock();
    for (unsigned r = 0; window_there && r < job.window.ranks(); r++)
        blocked += Hardware::load_relaxed(job.window.core(r).occupancy) == rank_blocked;
    looking.unlock();
    return blocked;
}

int state()
{
    const Seat& home = board->seat(0);
    if (SeatKind(Hardware::load_relaxed(home.kind)) == SeatKind::none)
        return MPIR_WORKSHARE_STATE_OFF;
    switch (Seated(Hardware::load_relaxed(home.state))) {
    case Seated::blocked: return MPIR_WORKSHARE_STATE_BLOCKED;
    case Seated::lent: return MPIR_WORKSHARE_STATE_LENT;
    case Seated::asleep: return MPIR_WORKSHARE_STATE_ASLEEP;
    default: return MPIR_WORKSHARE_STATE_COMPUTING;
    }
}

// A time with the part of it that is under way, which is counted at its end: both at once may be seen for a moment, or neither. A
// timer does not go back.
uint64_t timer(int which, uint64_t ticks)
{
    static uint64_t shown[MPIR_WORKSHARE_PVAR_KINDS];
    const uint64_t value = ns(ticks);
    uint64_t before = __atomic_load_n(&shown[which], __ATOMIC_RELAXED);
    while (before < value && !__atomic_compare_exchange_n(&shown[which], &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return std::max(before, value);
}

template <Seated state> uint64_t so_far(const Seat& seat, uint64_t now)
{
    return Seated(Hardware::load_relaxed(seat.state)) == state ? since(seat.since, now) : 0;
}

unsigned long long counter(int which)
{
    const uint64_t now = ticks();
    switch (which) {
    case MPIR_WORKSHARE_PVAR_STATE: return unsigned(state());
    case MPIR_WORKSHARE_PVAR_RANKS_BLOCKED: return ranks_blocked();
    case MPIR_WORKSHARE_PVAR_GUESTS:
        return of_visitors([](const Seat& s) { return Seated(Hardware::load_relaxed(s.state)) == Seated::visiting; });
    case MPIR_WORKSHARE_PVAR_REGIONS: return of_loops([](const LoopRow& l) { return l.whole_regions + l.cut_regions; });
    case MPIR_WORKSHARE_PVAR_REGIONS_CUT: return of_loops([](const LoopRow& l) { return l.cut_regions; });
    case MPIR_WORKSHARE_PVAR_REGIONS_SHARED: return of_loops([](const LoopRow& l) { return l.shared_regions; });
    case MPIR_WORKSHARE_PVAR_REGIONS_JOINED: return of_loops([](const LoopRow& l) { return l.joined_regions; });
    case MPIR_WORKSHARE_PVAR_CHUNKS_KEPT: return of_loops([](const LoopRow& l) { return l.whole_regions + l.kept_chunks; });
    case MPIR_WORKSHARE_PVAR_CHUNKS_STOLEN: return of_visitors([](const Seat& s) { return s.visit.chunks; });
    case MPIR_WORKSHARE_PVAR_ITERATIONS_STOLEN: return of_visitors([](const Seat& s) { return s.visit.iterations; });
    case MPIR_WORKSHARE_PVAR_LENDS: return of_lenders([](const Seat& s) { return s.lend.lends; });
    case MPIR_WORKSHARE_PVAR_RECALLS: return of_lenders([](const Seat& s) { return s.lend.recalls; });
    case MPIR_WORKSHARE_PVAR_CLAIMS_LOST: return of_lenders([](const Seat& s) { return s.lend.lost; });
    case MPIR_WORKSHARE_PVAR_REFUSALS: return of_lenders([](const Seat& s) { return s.lend.refusals; });
    case MPIR_WORKSHARE_PVAR_SLEEPS: return of_lenders([](const Seat& s) { return s.lend.sleeps; });
    case MPIR_WORKSHARE_PVAR_TIME_BLOCKED: {
        const Seat& home = board->seat(0);
        return timer(which, home.lend.blocked_ticks + since(home.waits_since, now));
    }
    case MPIR_WORKSHARE_PVAR_TIME_LENT:
        return timer(which, of_lenders([&](const Seat& s) { return s.lend.lent_ticks + so_far<Seated::lent>(s, now); }));
    case MPIR_WORKSHARE_PVAR_TIME_ASLEEP:
        return timer(which, of_lenders([&](const Seat& s) { return s.lend.sleep_ticks + so_far<Seated::asleep>(s, now); }));
    case MPIR_WORKSHARE_PVAR_TIME_BORROWED:
        return timer(which, of_visitors([&](const Seat& s) { return s.visit.busy_ticks + so_far<Seated::visiting>(s, now); }));
    }
    return 0;
}

int set_option(int which, unsigned value)
{
    Options& o = job.options;
    switch (which) {
    case MPIR_WORKSHARE_CVAR_QUANTUM: o.quantum_us = value; break;
    case MPIR_WORKSHARE_CVAR_SPIN: o.spin_us = value; break;
    case MPIR_WORKSHARE_CVAR_LINGER: o.linger_us = value; break;
    case MPIR_WORKSHARE_CVAR_CHUNK_TIME: o.chunk_us = value; break;
    default: return 1; // has been acted upon
    }
    if (job.inactive)
        return 0;
    __atomic_store_n(&loop_host.chunk_ticks, job.clock.from_us(o.chunk_us), __ATOMIC_RELAXED);
    lend_retime(lend_times(o, int(job.window.ranks()) == job.size));
    return 0;
}

} // namespace

LendTimes lend_times(const Options& options, bool all_ring)
{
    LendTimes t = {};
    t.spin_ticks = job.clock.from_us(options.spin_us);
    t.patience_ticks = job.clock.from_us(20);
    t.linger_ticks = job.clock.from_us(options.linger_us);
    t.yield_ticks = job.clock.from_us(4000); // a wake-up, 5 to 30 us, is within 0.5 % or so of that
    t.peers_ticks = job.clock.from_us(1e6);
    t.short_ticks = job.clock.from_us(10);
    // With all ranks on this node whatever a rank waits for rings, and looking oneself is a precaution against one race in the
    // first moment: it can be had for less of the guest's time (a look costs 30 us on a virtual machine).
    t.quantum_us = options.quantum_us * (all_ring ? 8u : 1u);
    t.longest_quantum_us = options.quantum_us * (all_ring ? 32u : 1u);
    return t;
}

void mpi_t_begin()
{
    window_there = !job.inactive;
    job.hooks->counter = counter;
    job.hooks->set_option = set_option;
}

void mpi_t_end()
{
    looking.lock();
    window_there = false;
    looking.unlock();
}

} // namespace ws
