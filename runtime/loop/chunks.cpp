// SPDX-License-Identifier: MIT
//
// Handing out chunks where there is more than one: to an owner that is alone, to an owner that shares, to a guest.
#include "loop/open_region.h"

#include "loop/left.h"
#include "observe/recorder.h"

#include <algorithm>

namespace ws::loop {

using observe::own_seat;
using window::long_hungry;
using base::ticks;

namespace {

bool hand_out(Participant& p, const Region& r, Chunk units, long* lo, long* hi)
{
    if (WS_UNLIKELY(r.backwards))
        units = {r.units - units.hi, r.units - units.lo};
    uint64_t first = units.lo * r.unit;
    uint64_t last = units.hi >= r.units ? r.bounds.iterations : units.hi * r.unit;
    p.chunks++;
    if (WS_UNLIKELY(observe::recording)) {
        p.chunk_lo = first;
        p.chunk_hi = last;
        p.chunk_began = ticks();
    }
    const LoopBounds& b = r.bounds;
    *lo = long(b.start + first * b.incr);
    *hi = long(last == b.iterations ? b.end : b.start + last * b.incr);
    return true;
}

// The participant gets no more. lastprivate: the participant with the last iteration writes the variable once this
// returns, so no other may still be copying it in. So this waits for the guests between joining and their first chunk.
// No guest can join any more, because every unit is claimed.
bool no_more(Participant& p)
{
    p.mode = Mode::done;
    if (p.took_last)
        wait_until("guests that start", [&] {
            return p.region->descriptor->joiners() <= Hardware::load_acquire(p.region->guests_inside);
        });
    return false;
}

// Counted as they are taken, not at the end: a region may last long, and somebody may be looking (tools/top).
void count_units(Participant& p, uint64_t units)
{
    p.units += units;
    if (p.mode == Mode::guest && own_seat) {
        observe::bump(own_seat->visit.chunks);
        observe::bump(own_seat->visit.iterations, units * p.region->unit);
    }
}

// Whether that many units last long enough to be shared with thieves as hungry as this; true while a unit's cost is not
// known.
bool is_worth(const Participant& p, uint64_t units, Flag hungry)
{
    double cost = unit_ticks(p);
    return cost == 0 || double(units) * cost > double(p.host->publish_ticks[hungry]);
}

// An owner whose region no guest has joined takes at most one in `alone_part` of the units that are left at a time,
// because a guest that arrives waits for the end of that chunk.
constexpr uint64_t alone_part = 16;

// Nobody would come for the tail of a loop: its owner does not cut it into chunks.
bool is_tail(const Participant& p, uint64_t units, unsigned joiners)
{
    return joiners == 0 && p.mode == Mode::shared && p.pace.sizing().kind == WS_AUTO && !p.host->share_all &&
           !is_worth(p, units, long_hungry);
}

bool claim_next(Participant& p, long* lo, long* hi)
{
    Chunk c;
    Region& r = *p.region;
    const Sizing sizing = p.pace.sizing();
    const unsigned participants = p.host->participants;
    chaos.delay();
    if (WS_UNLIKELY(p.host->share_all) && p.mode == Mode::shared)
        p.host->checks->leave_to_helpers(r);
    const Descriptor::By by = p.mode == Mode::guest ? Descriptor::guest : Descriptor::owner;
    Claim result = r.descriptor->claim(
        [&](uint64_t remaining, unsigned joiners) {
            p.crowded = joiners != 0;
            return chaos ? 1 + chaos.random(remaining)
                   : WS_UNLIKELY(r.random_sizes)
                       ? p.host->checks->random_size(remaining)
                   : is_tail(p, remaining, joiners)
                       ? remaining
                   : r.two_ends && by == Descriptor::guest
                       ? sizing.units_until(c.hi, remaining, joiners + 1, participants)
                       : sizing.units_from(c.lo, remaining, joiners + 1, participants);
        },
        c, by);
    if (result != Claim::taken)
        return no_more(p);
    if (WS_UNLIKELY(c.hi > r.units))
        beyond_the_end(r.site);
    if (WS_UNLIKELY(p.host->check))
        p.host->checks->before_chunk(r);
    p.took_last = c.hi == r.units && !r.two_ends;
    p.pace.start_chunk(c.size(), 2 * c.lo >= r.units, p.crowded);
    count_units(p, c.size());
    return hand_out(p, r, c, lo, hi);
}

void keep_pace(Participant& p)
{
    if (p.pace.wants_time()) {
        p.pace.finish_chunk(ticks(), p.region->chunk_ticks);
        if (p.pace.sizing().kind != WS_AUTO)
            fix_least(p);
    } else
        p.pace.skip_time();
}

// The owner's chunk is over: what did it cost, with and without company?
void watch_crowding(Participant& p)
{
    Region& r = *p.region;
    if (!p.crowded) {
        if (!r.was_alone) // else it is known already, of a chunk whose atomic operations were plain ones
            r.cost_before = p.pace.last_cost();
    } else if (r.crowded_ticks < std::max(8 * r.chunk_ticks, r.alone_first)) {
        r.crowded_units += p.pace.last_units();
        r.crowded_ticks += uint64_t(p.pace.last_cost() * double(p.pace.last_units()));
    }
}

bool alone_next(Participant& p, long* lo, long* hi)
{
    keep_pace(p);
    Region& r = *p.region;
    uint64_t remaining = r.units - p.lo;
    if (remaining == 0) {
        p.mode = Mode::done;
        return false;
    }
    // Relaxed: a hint; publishing one chunk later does no harm. Pairs with the thieves' store in Chooser::choose().
    Flag hungry = Hardware::load_relaxed(p.host->row->hunger.hungry);
    if (WS_UNLIKELY(hungry) && r.may_share && p.pace.started() - r.opened_at >= r.alone_first &&
        is_worth(p, remaining, hungry)) {
        r.cost_before = r.alone_first ? double(p.pace.measured_ticks()) / double(p.pace.measured_units())
                                      : p.pace.last_cost();
        if (publish_if_wanted(p, false))
            return claim_next(p, lo, hi);
    }
    Sizing sizing = p.pace.sizing();
    sizing.chunk = std::max(sizing.chunk, std::min(remaining / alone_part, r.most_alone));
    uint64_t n = sizing.units_from(p.lo, remaining, 1, p.host->participants);
    if (chaos)
        n = 1 + chaos.random(remaining);
    // The tail of a loop known to be short is not cut into chunks so small that nobody would come for them.
    else if (sizing.kind == WS_AUTO && peek(learned(r.site).unit_ticks) > 0 && !is_worth(p, remaining, long_hungry))
        n = remaining;
    Chunk c = {p.lo, n < remaining ? p.lo + n : r.units};
    p.lo = c.hi;
    p.pace.start_chunk(c.size(), 2 * c.lo >= r.units);
    return hand_out(p, r, c, lo, hi);
}

uint32_t loop_of(const Participant& p) { return uint32_t(peek(learned(p.region->site).row) - &p.host->board->loop(0)); }

bool guest_next(Participant& p, long* lo, long* hi)
{
    Region& r = *p.region;
    if (p.first) {
        p.first = false;
        // Full: the copies made so far come before. Pairs with no_more().
        Hardware::fetch_add_full(r.guests_inside, 1);
        Sizing own = r.thief;
        if (own.kind == WS_AUTO)
            own.chunk = p.claimed.size();
        p.pace.begin(own, ticks());
        p.pace.start_chunk(p.claimed.size(), 2 * p.claimed.lo >= r.units);
        p.took_last = p.claimed.hi == r.units && !r.two_ends;
        count_units(p, p.claimed.size());
        if (WS_UNLIKELY(p.host->check))
            p.host->checks->before_chunk(r);
        return hand_out(p, r, p.claimed, lo, hi);
    }
    keep_pace(p);
    if (Hardware::load_relaxed(*p.recall)) // relaxed: a chunk later is soon enough
        return no_more(p);
    if (p.way_home && !p.host->share_all &&
        double(r.descriptor->look().remaining) * p.pace.ticks_per_unit() < double(p.way_home))
        return no_more(p);
    return claim_next(p, lo, hi);
}

} // namespace

bool next_slow(Participant& p, long* lo, long* hi)
{
    if (WS_UNLIKELY(observe::recording) && p.chunk_began) {
        observe::record(observe::EventKind::chunk, p.chunk_began, ticks(), loop_of(p), p.chunk_lo, p.chunk_hi);
        p.chunk_began = 0;
    }
    if (WS_UNLIKELY(p.ending == Ending::in_parent))
        left_in_child(p.site);
    switch (p.mode) {
    case Mode::alone:
        return alone_next(p, lo, hi);
    case Mode::shared:
        keep_pace(p);
        watch_crowding(p);
        make_wanted_guests();
        ring_sleepers(p, p.pace.started());
        return claim_next(p, lo, hi);
    case Mode::guest:
        return guest_next(p, lo, hi);
    case Mode::shuffled:
        return p.host->checks->shuffled_next(p, lo, hi);
    case Mode::team:
        return team_next(p, lo, hi);
    default:
        return false;
    }
}

bool thread_in_region() { return self.in_region; }

} // namespace ws::loop
