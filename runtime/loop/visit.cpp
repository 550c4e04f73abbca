// SPDX-License-Identifier: MIT
//
// A guest's or a worker's part in a region of its process: from the lease that joined it to the leave.
#include "loop/left.h"
#include "loop/open_region.h"
#include "loop/signals.h"
#include "measure/meter.h"
#include "base/atomics.h"

#include <algorithm>

namespace ws::loop {

using observe::add;
using observe::own_seat;

GuestPart run_as_guest(const window::Lease& lease, const volatile Flag* recall, uint64_t way_home, bool stayed)
{
    Participant& p = self;
    Region& r = region_in(lease.slot);
    chaos.delay();
    // The thief joined for us, in its process, and knocked: by that we see what the owner published. ThreadSanitizer
    // looks at one process only, and does not know that; the acquire of this load (pairs with publish()) is for it.
    p.host->row->loops[lease.slot].joiners();
    p.claimed = r.descriptor->clamp(lease.chunk);
    // a claim of 2^13 regions ago: nothing of the body may run now, not even its prologue
    if (WS_UNLIKELY(p.claimed.size() == 0)) {
        const uint64_t ended = base::ticks();
        r.descriptor->leave();
        return {0, ended};
    }
    if (WS_UNLIKELY(p.claimed.hi > r.units))
        beyond_the_end(r.site);
    p.mode = Mode::guest;
    p.in_region = true;
    p.frame = own_frame();
    p.first = true;
    p.took_last = false;
    p.recall = recall;
    p.way_home = way_home;
    p.region = &r;
    p.site = r.site;
    p.chunks = p.units = p.idle_ticks = 0;
    uint64_t begin = base::ticks();
    if (own_seat) { // otherwise it is a thread of the program's own team, which is not lent
        p.host->meter->visit_begins(begin);
        Hardware::store_relaxed(own_seat->loop, Flag(peek(learned(r.site).row) - &p.host->board->loop(0)));
    }
    r.state.load();
    if (own_seat) // a thread of the program's own team keeps its mask
        take_signals(r.state.signals);
    r.fn(r.data);
    if (WS_UNLIKELY(p.ending == Ending::in_parent))
        left_in_child(r.site);
    r.state.leave();
    const uint64_t ended = base::ticks(), lasted = ended - begin, busy = lasted - std::min(p.idle_ticks, lasted);
    uint64_t iterations = p.units * r.unit;
    observe::LoopRow& row = *peek(learned(r.site).row);
    add(row.chunks_stolen, p.chunks);
    add(row.iterations_stolen, iterations);
    add(p.host->board->sums.iterations_stolen, iterations);
    add(row.borrowed_ticks, busy);
    remember_longest(row, p.pace.longest());
    if (own_seat) {
        base::store_relaxed(own_seat->since, 0); // first, so that who reads meanwhile does not count this part twice
        observe::bump(own_seat->visit.visits);
        observe::bump(own_seat->visit.borrowed_ticks, busy);
        add(p.host->board->sums.borrowed_ticks, busy);
        p.host->meter->visit_ends(ended, busy);
    }
    if (stayed)
        Hardware::store_relaxed(r.stayed, 1); // ordered by leave(), as the next two
    base::fetch_add_relaxed(r.stolen_ticks, busy); // ordered by leave()
    base::fetch_add_relaxed(r.stolen, iterations);
    if (!p.first)
        Hardware::fetch_add_full(r.guests_inside, Flag(-1)); // before leaving: see no_more()
    p.site = nullptr;
    p.mode = Mode::done;
    p.in_region = false;
    chaos.delay();
    r.descriptor->leave();
    return {p.chunks, ended};
}

void leave_after_chunk()
{
    static const volatile Flag always = 1;
    self.recall = &always;
}

void end_turns()
{
    if (self.mode == Mode::shared)
        take_all_turns(self);
    else if (self.mode == Mode::alone)
        self.lo = self.region->units;
}

} // namespace ws::loop
