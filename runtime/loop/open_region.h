// SPDX-License-Identifier: MIT
//
// A region that is open in this process, and the steps of its life that the files of this folder share. Each owner
// thread has a slot, with a descriptor in the window; the regions lie in the process's own memory.
#pragma once

#include "loop/chaos.h"
#include "loop/checks.h"
#include "loop/left.h"
#include "loop/participant.h"
#include "loop/thread_state.h"
#include "base/times.h"

namespace ws::loop {

using base::Flag;

// How long an owner yields while it waits for its guests, and how often it then checks whether the others are alive.
// Counting yields is not enough: 20,000 take 10 ms on a free CPU, but minutes if another thread runs at each.
constexpr double close_yield_us = 50000, close_look_us = 200000;

// Written by the owner before it publishes; guests read it after they have joined.
struct alignas(64) Region {
    Descriptor* descriptor;
    void (*fn)(void*);
    void* data;
    LoopBounds bounds;
    uint64_t unit, units; // iterations per unit: 1 unless the loop outgrows the descriptor's word
    ws_site* site;
    Sizing thief;
    uint64_t chunk_ticks; // time a chunk should take
    uint64_t most_alone;  // units that the owner may take at a time until somebody comes, though they take longer
    uint64_t opened_at;   // ticks
    uint64_t alone_first; // ticks after its begin: it is published no earlier; see begins_alone()
    uint64_t ring_at;     // published: ticks before which sleepers are left alone
    bool may_share;       // this execution
    bool backwards;       // unit 0 holds the last iterations
    bool two_ends;        // guests take chunks from the end, the owner from the start
    ThreadState state;    // the owner's, when it published
    unsigned own_threads; // the owner's: 1, or its team
    Order chosen;         // share_all: how it began
    bool random_sizes;    // under WS_CHECK, where no clause fixes the sizes
    volatile Flag order;  // the order now: the owner goes back to the usual one when no helper comes. Guests read it
    volatile Flag begun;  // Order::halves: chunks that have begun
    // How the first guest's coming changed the cost of a unit to the owner (see Crowding): before it, and from then on.
    double cost_before;
    bool was_alone; // until it was published
    uint64_t crowded_units, crowded_ticks;
    Chain chain;          // not of this region, but of all that the slot has had
    // Guests write these.
    alignas(64) uint64_t stolen, stolen_ticks; // iterations run by guests; atomically added
    // Guests that have asked for their first chunk and not left. joiners() minus this is the number that may still be
    // copying firstprivate variables.
    volatile Flag guests_inside;
    volatile Flag stayed; // a guest has come from an earlier region, and no core was handed over for it
};

// A rank's regions, by slot, and which of its threads have one.
struct Slots {
    Region regions[window::max_slots];
    volatile Flag taken = 0; // a bit a slot; changed by CAS
    // Slots of the program's other threads that are about to publish a region or have not closed it yet; the thread
    // that calls MPI_Finalize waits for them, for the window goes away. Its own slot, 0, is not among them.
    volatile Flag publishing = 0;
    volatile Flag stopped = 0;
};
inline Region& region_in(unsigned slot) { return host().slots->regions[slot]; } // of the calling thread's rank

// Waits for `done()` while other threads or processes bring it about: spins, then yields, then naps, and now and then
// has the host look whether they are still alive.
template <class Done>
__attribute__((noinline)) void wait_until(const char* what, Done&& done)
{
    uint64_t since = 0, looked = 0; // ticks
    for (unsigned turn = 0; !done(); turn++) {
        if (turn < 2000) {
            base::cpu_relax();
            continue;
        }
        const uint64_t now = base::ticks();
        if (since == 0)
            since = looked = now;
        if (turn < 20000 && double(now - since) < close_yield_us * host().ticks_per_us)
            sched_yield();
        else {
            usleep(50); // others are in a chunk that takes milliseconds, or that waits itself
            if (double(now - looked) > close_look_us * host().ticks_per_us) {
                host().lending->long_wait(what);
                looked = now;
                if (self.region && double(now - since) > base::times::unfinished_s * 1e6 * host().ticks_per_us)
                    waits_for_guests(self.region->site, base::times::unfinished_s);
            }
        }
    }
}

// What a unit of the open region is thought to cost: as measured now, or as remembered from earlier executions.
inline double unit_ticks(const Participant& p)
{
    double now = p.pace.ticks_per_unit(), before = peek(learned(p.region->site).unit_ticks) * double(p.region->unit);
    return now > before ? now : before;
}

// How little this participant is to take at a time, now that more is known of what a unit takes. In tests each chunk is
// one of those that the user wanted.
inline void fix_least(Participant& p)
{
    const bool for_test = p.host->share_all && p.pace.sizing().kind != WS_AUTO;
    p.pace.set_least(for_test ? 0 : p.host->least_ticks, unit_ticks(p));
}

// An execution that lasted `took` ticks is over. Counts it in an observed run, where every execution is timed.
inline void count_execution(observe::LoopRow& row, uint64_t took)
{
    observe::Board& board = *host().board;
    if (WS_LIKELY(!Hardware::load_relaxed(board.observed)))
        return;
    observe::add(board.sums.executions, 1);
    observe::add(board.sums.loops_ticks, took);
    const Flag phase = 1 + Hardware::load_relaxed(board.phase), before = Hardware::load_relaxed(row.phase);
    if (before != phase && before != observe::in_several)
        Hardware::store_relaxed(row.phase, before ? observe::in_several : phase);
}

// To be called when the flag of hunger is raised, or without any flag (`unasked`): offers what is left of the owner's
// region to thieves. False if nobody waits any more (the flag is then lowered) or MPI_Finalize has begun.
bool publish_if_wanted(Participant& p, bool unasked);

// Makes guests for thieves that have none here yet: they may have come after the region was published.
inline void make_wanted_guests()
{
    window::Hunger& hunger = host().row->hunger;
    if (WS_UNLIKELY(Hardware::load_relaxed(hunger.wanted))) { // relaxed: a chunk later is soon enough
        Hardware::store_relaxed(hunger.wanted, 0);
        host().lending->make_guests();
    }
}

// Owner of a published region, at a chunk's end: wakes sleepers if there are any and the region is worth it.
void ring_sleepers(Participant& p, uint64_t now);

} // namespace ws::loop
