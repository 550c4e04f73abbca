// SPDX-License-Identifier: MIT
//
// The path of every virtual thread: claimed, begun, run on a stack, stopped at a barrier, and on in the next phase.
// What few regions need is in team_cold.cpp.
#include "openmp/team.h"

#include "loop/participant.h"
#include "openmp/fiber.h"
#include "openmp/team_cold.h"
#include "window/times.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace ws::openmp {

using loop::Participant;
using loop::self;
using window::ticks;

VirtualTeam::VirtualTeam(RegionSite& the_site, const RegionCall& the_region, unsigned of, unsigned the_told,
                         unsigned wait)
    : site(the_site), region(the_region), units(of), told(the_told), at_once(wait), owner_(pthread_self())
{
}

VirtualTeam::~VirtualTeam()
{
    if (Hardware::load_acquire(registered_)) {
        watch_no_more(*this);
        if (site.first_time)
            settle_first(site, double(ticks() - opened_at));
        site.longest = std::max(site.longest, double(ticks() - opened_at));
        if (site.stops)
            settle_phases(site, units, double(ticks() - opened_at), Hardware::load_relaxed(phase_) + 1);
    }
    if (window::load_acquire(cold_)) {
        join_threads();
        delete cold_;
    }
}

// Marks of the wanted ones those that have not begun, and returns them.
uint64_t VirtualTeam::claim(unsigned word, uint64_t wanted)
{
    for (;;) {
        const Hardware::Word begun = Hardware::load_relaxed(those_[word].begun);
        if ((begun & wanted) == wanted)
            return 0;
        // full: begin_rest() sees it, or it the claim
        if (Hardware::cas_full(those_[word].begun, begun, begun | wanted))
            return wanted & ~begun;
    }
}

void VirtualTeam::begin(Unit& unit, const Units& of_it, Fiber* fiber)
{
    unit = {};
    unit.team = this;
    unit.fiber = fiber;
    unit.units = of_it;
    if (region.loop) {
        const RegionCall::Loop& l = *region.loop;
        const uint64_t n = loop::count_signed(l.start, l.end, l.incr);
        const uint64_t chunk = uint64_t(l.chunk > 0 ? l.chunk : 0);
        unit.lo = uint64_t(l.start);
        unit.hi = uint64_t(l.end);
        unit.incr = uint64_t(l.incr);
        begin_loop(unit, n, chunk, l.deal);
    }
    unit.sections = region.sections;
    unit.section = Unit::before_first;
}

void VirtualTeam::end(Unit& unit)
{
    if (WS_UNLIKELY(unit.slot != 0))
        Hardware::and_full(slots_, ~(Flag(1) << (unit.slot - 1))); // full: its use comes before; pairs with slot()
    if (WS_UNLIKELY(unit.on_demand != nullptr))
        cold().on_demand.pass(*unit.on_demand->loop());
}

namespace {
// The calling thread is that virtual thread from now on; until the end of a Current. `level`: openmp_level().
void be(const Unit& unit, int level)
{
    Participant& p = self;
    p.number = unit.units.lo;
    p.numbers = unit.units.of;
    p.level = level;
    p.depth = 1; // regions within others are not shared
}
} // namespace

// What a participant's chunk [lo, hi) of virtual threads is to its thread, and in the first phase to the stack on which
// they run one after the other: each is claimed just before it begins, as begin_rest() may be faster.
struct Series {
    VirtualTeam& team;
    unsigned at, hi;    // not looked at yet
    const bool ranges;  // neighbours begin together
    const int level;
    uint64_t claimed = 0; // ranges: of the word before `at`, those that are to begin
    Units next = {};      // claimed; empty: it has begun

    bool has_next() const { return next.lo != next.hi; }
    // Finds `next`. False: there is no more.
    bool find();
    bool begins_in(unsigned phase) const { return Hardware::load_relaxed(team.phase_) == phase; }

private:
    bool find_range();
};

bool Series::find()
{
    if (ranges)
        return find_range();
    for (; at < hi; at++)
        if (team.claim(at / 64, uint64_t(1) << at % 64)) {
            next = {at, at + 1, team.units};
            at++;
            return true;
        }
    return false;
}

bool Series::find_range()
{
    while (!claimed) {
        if (at >= hi)
            return false;
        const unsigned word = at / 64, from = at % 64, to = std::min(hi - word * 64, 64u);
        claimed = team.claim(word, bits_below(to) & ~bits_below(from));
        at = word * 64 + to;
        // the claim comes before; pairs with release_if_stopped()
        if (WS_UNLIKELY(!begins_in(0))) {
            team.begin_threads(word, claimed);
            claimed = 0;
        }
    }
    const unsigned begin = (at - 1) / 64 * 64;
    take_run(claimed, [&](unsigned first, unsigned count) {
        next = {begin + first, begin + first + count, team.units};
    });
    return true;
}

// So many have stopped or ended. One that has stopped may go on, on another thread, at once.
void VirtualTeam::count_ended(unsigned lo, unsigned count)
{
    Hardware::fetch_add_full(those_[lo / 64].ended, count); // full, before the look; pairs with begin_all()
    if (WS_UNLIKELY(Hardware::load_acquire(all_begun_))) {
        Cold& c = cold();
        const std::lock_guard<std::mutex> lock(c.lock);
        release_if_stopped(c);
        c.ended.notify_all();
    }
}

// On a stack of their own. One that has stopped ends perhaps on another thread, and begins no other; so nothing is kept
// from before a call but what lies on this stack.
void VirtualTeam::run_units(void* argument)
{
    Fiber& fiber = *static_cast<Fiber*>(argument);
    for (;;) {
        VirtualTeam& team = *fiber.unit.team;
        team.region.fn(team.region.data);
        team.end(fiber.unit);
        team.count_ended(fiber.unit.units.lo, fiber.stands_for);
        Series* const series = fiber.series;
        if (!series || !series->find() || WS_UNLIKELY(!series->begins_in(0))) // others of it go on: see run()
            return;
        team.begin(fiber.unit, series->next, &fiber);
        fiber.stands_for = series->next.hi - series->next.lo;
        series->next = {};
        be(fiber.unit, series->level);
    }
}

void VirtualTeam::call_all(int level)
{
    Unit unit;
    begin(unit, {0, 1, 1}, nullptr);
    const Current here(&unit);
    be(unit, level);
    region.fn(region.data);
    end(unit);
}

// Begins those, and what the series has after them, or goes on with one that has stopped, until one stops or all have
// ended. `spare`: a stack that is free; it may leave one.
void VirtualTeam::play(const Units& those, Fiber*& spare, int level, Series* series)
{
    Fiber* fiber;
    if (Hardware::load_relaxed(phase_) == 0) { // relaxed: stays while one runs
        fiber = spare ? spare : Fiber::take();
        spare = nullptr;
        if (!fiber)
            refuse(site, "there is no memory for the stack of a virtual thread");
        begin(fiber->unit, those, fiber);
        fiber->stands_for = those.hi - those.lo;
        fiber->series = series;
        fiber->begin(run_units, fiber);
    } else
        fiber = waiting_[those.lo];
    bool over;
    {
        const Current here(&fiber->unit);
        be(fiber->unit, level);
        over = fiber->resume();
    }
    if (!over) {
        fiber->series = nullptr;
        const unsigned stopped = fiber->unit.units.lo; // perhaps not the first of its series
        const unsigned count = std::exchange(fiber->stands_for, 1u);
        waiting_[stopped] = fiber;
        // full: before it counts as ended
        Hardware::fetch_add_full(those_[stopped / 64].stopped, Hardware::Word(1) << stopped % 64);
        count_ended(stopped, count);
    } else if (spare)
        Fiber::give_back(fiber);
    else
        spare = fiber;
}

void VirtualTeam::run(unsigned lo, unsigned hi, Fiber*& spare, int level)
{
    if (!Hardware::load_relaxed(registered_) && Hardware::fetch_add_full(registered_, 1) == 0) {
        opened_at = ticks();
        watch_over(*this);
    }
    Series series = {*this, lo, hi, has_ranges(), level};
    while (series.has_next() || series.find()) {
        const Units those = series.next;
        series.next = {};
        play(those, spare, level, &series);
    }
}

// One call is several virtual threads.
bool VirtualTeam::has_ranges() const { return site.ranges && !at_once && Hardware::load_relaxed(phase_) == 0; }

// A short region that nobody helps with is one virtual thread, where nobody can tell.
bool VirtualTeam::may_be_whole() const
{
    return site.free && !at_once && Hardware::load_relaxed(phase_) == 0 &&
           (!site.stops || site.longest < double(loop::host().short_ticks));
}

void VirtualTeam::take_part(void* argument)
{
    VirtualTeam& team = *static_cast<VirtualTeam*>(argument);
    Fiber* spare = nullptr;
    const int level = directive::openmp_level();
    for (long lo, hi; loop::next_chunk(&lo, &hi);) {
        if (lo == 0 && hi == long(team.units) && team.may_be_whole()) {
            team.whole_ = true;
            team.call_all(level);
        } else
            team.run(unsigned(lo), unsigned(hi), spare, level);
    }
    if (spare)
        Fiber::give_back(spare);
}

// ---- phases

unsigned VirtualTeam::stopped() const
{
    unsigned all = 0;
    for (const Sixty4& some : those_)
        all += unsigned(__builtin_popcountll(Hardware::load_acquire(some.stopped)));
    return all;
}

ws_site* VirtualTeam::next_phase()
{
    if (whole_)
        return nullptr;
    for (;;) {
        wait_for_threads();
        const unsigned waiting = stopped();
        if (waiting == 0)
            return nullptr;
        const std::lock_guard<std::mutex> lock(beginning_);
        for (Sixty4& some : those_) {
            Hardware::store_relaxed(some.begun, ~Hardware::load_relaxed(some.stopped));
            Hardware::store_relaxed(some.stopped, 0);
        }
        set_ended(units - waiting);
        Hardware::store_full(phase_, Hardware::load_relaxed(phase_) + 1);
        if (!Hardware::load_relaxed(all_begun_)) // changes under the lock
            return &window::load_relaxed(next_)->site;
        begin_rest();
    }
}

void VirtualTeam::wait_for_threads()
{
    if (ended() == units)
        return;
    {
        Cold& c = cold();
        std::unique_lock<std::mutex> lock(c.lock);
        c.ended.wait(lock, [&] { return ended() == units; });
    }
    join_threads();
}

void VirtualTeam::barrier(Unit& unit, const void* caller)
{
    if (!unit.fiber || units == 1) // nobody else is to come
        return;
    Phase* const next = phase_after(site, caller);
    if (!next || !next->may_stop) {
        hold(unit, "its threads wait for each other");
        return;
    }
    site.stops = true; // if it is the first one
    site.ranges = false;
    if (WS_UNLIKELY(unit.nest_locks != 0)) { // they are its thread's
        hold(unit, "a lock that may be set several times is held over a barrier");
        return;
    }
    window::store_relaxed(next_, next);
    unit.fiber->stop();
}

// ---- what is dealt inside

bool VirtualTeam::takes_single(Unit& unit)
{
    const Flag n = unit.singles++; // those before it are taken, if only by the unit itself
    // relaxed: what is done in it others see after a barrier, or in a way of their own
    return Hardware::load_relaxed(singles_) == n && Hardware::cas_full(singles_, n, n + 1);
}

bool VirtualTeam::minds_order() const
{
    return at_once < units && site.longest > window::times::order_pays_us * loop::host().ticks_per_us;
}

void VirtualTeam::begin_on_demand(Unit& unit, uint64_t n, uint64_t chunk, directive::Deal deal)
{
    unit.way = Unit::Way::on_demand;
    unit.n = n;
    OnDemandLoops& all = cold().on_demand;
    OnDemandLoop& loop = all.after(unit.on_demand ? unit.on_demand->loop() : nullptr);
    if (!unit.on_demand) {
        unit.on_demand = &unit.fiber->on_demand; // where threads may wait for each other each has one
        window::store_release(on_demand_, &all); // pairs with on_demand_progress()
    }
    // Where threads were seen to wait for each other they find chunks in the library's order.
    const double slope = Hardware::load_relaxed(all_begun_) ? 0 : all.slope(loop);
    unit.on_demand->begin(loop, n, chunk, deal, units, at_once, slope, all.measures());
}

bool VirtualTeam::next_on_demand(Unit& unit, Part& piece)
{
    if (unit.on_demand->next(piece))
        return true;
    unit.way = Unit::Way::pieces;
    unit.has_part = false;
    return false;
}

} // namespace ws::openmp
