// SPDX-License-Identifier: MIT
//
// The life of a region at its owner: who may own one, open, publish, close. Handing out its chunks is in chunks.cpp.
#include "loop/open_region.h"

#include "loop/left.h"
#include "loop/signals.h"
#include "loop/team.h"
#include "measure/meter.h"
#include "observe/recorder.h"
#include "base/atomics.h"
#include "base/times.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

namespace ws::loop {

using observe::LoopRow;
using observe::add;
using window::asleep_hungry;
using window::not_hungry;
using base::ticks;

namespace {
Slots only_slots;
LoopHost only_host(only_slots);
} // namespace
Chaos chaos;
__thread Participant self = participant_of(only_host);

void join(LoopHost& host) { self.host = &host; }

namespace {

// ---- owners

pthread_key_t slot_key; // its destructor gives the slot of a thread that ends back
pthread_once_t slot_key_made = PTHREAD_ONCE_INIT;

void take_slot(Participant& p, unsigned slot)
{
    Region& r = p.host->slots->regions[slot];
    r.descriptor = &p.host->row->loops[slot];
    p.region = &r;
    p.owner = true;
}

void give_slot_back(void* slot)
{
    self.owner = false;
    volatile Flag& slots = host().slots->taken;
    Flag bit = Flag(1) << (size_t(slot) - 1), taken;
    do
        taken = Hardware::load_relaxed(slots);
    while (!Hardware::cas_full(slots, taken, taken & ~bit)); // full: the region's end comes before
}

__attribute__((noinline)) bool take_free_slot(Participant& p)
{
    volatile Flag& slots = p.host->slots->taken;
    for (;;) {
        Flag taken = Hardware::load_acquire(slots); // pairs with give_slot_back
        unsigned slot = unsigned(__builtin_ctz(~taken));
        if (slot >= window::max_slots)
            return false; // as many loops as can be shared at once: this one runs plain
        if (!Hardware::cas_full(slots, taken, taken | Flag(1) << slot))
            continue;
        pthread_once(&slot_key_made, [] { pthread_key_create(&slot_key, give_slot_back); });
        pthread_setspecific(slot_key, reinterpret_cast<void*>(size_t(slot) + 1));
        take_slot(p, slot);
        watch_thread(false);
        return true;
    }
}

} // namespace

bool become_owner(Participant& p, uintptr_t frame)
{
    if (p.in_region) {
        if (WS_UNLIKELY(frame >= p.frame))
            left_by_jump(p, "a ws loop begins");
        return false;
    }
    return p.host->any_thread && take_free_slot(p);
}

void set_owner_thread()
{
    Hardware::store_release(host().slots->taken, 1);
    take_slot(self, 0);
    watch_thread(false);
}

namespace {
window::Row nobody; // never hungry
}

void stop_sharing()
{
    // Other threads may be in the middle of a loop. From here on they publish nothing, and what is published ends.
    LoopHost& h = host();
    h.any_thread = false;
    for (uint64_t& t : h.publish_ticks)
        poke(t, ~uint64_t(0));
    self.owner = false;
    Hardware::store_full(h.slots->stopped, 1); // full, before the look at `publishing`; pairs with publish_if_wanted()
    wait_until("loops of its other threads", [&] { return Hardware::load_acquire(h.slots->publishing) == 0; });
    base::store_release(h.row, &nobody);
}

void let_share(bool on)
{
    LoopHost& h = host();
    if (bool(h.shares) == on)
        return;
    // While nothing is shared, no flag of hunger makes a loop be cut into chunks.
    static uint64_t before[window::hungry_levels];
    for (unsigned i = 0; i < window::hungry_levels; i++) {
        if (!on)
            before[i] = h.publish_ticks[i];
        if (!h.share_all)
            poke(h.publish_ticks[i], on ? before[i] : ~uint64_t(0));
    }
    Hardware::store_relaxed(h.shares, on); // relaxed: loops of other threads may be shared once more
}

void stop_sharing_in_child()
{
    Participant& p = self;
    if (p.in_region && p.mode == Mode::guest && observe::own_seat)
        take_cpus_of(p.region->state.thread);
    // A guest's or a worker's part, or the owner's in a region with guests.
    if (p.in_region && (!p.owner || p.ending == Ending::published))
        p.ending = Ending::in_parent;
    if (p.in_region && p.owner)
        p.region->may_share = false;
    p.owner = false;
    p.host->any_thread = p.host->share_all = false;
    if (p.host->row)
        p.host->row = &nobody;
}

namespace {
[[noreturn]] __attribute__((cold, noinline)) void bad_chunk(const ws_site* site, const char* clause, long chunk)
{
    std::fprintf(stderr, "workshare: error: %s: chunk size %ld in '%s' is not positive\n", site->where, chunk, clause);
    std::exit(1);
}

} // namespace

void refuse_site(const ws_site* site, long chunk, long steal_chunk)
{
    if ((site->kinds >> 24 & 255) != WS_ABI) {
        std::fprintf(
            stderr,
            "workshare: error: %s was compiled for version %d of libws, and this is version %d; compile it again\n",
            site->where, int(site->kinds >> 24 & 255), WS_ABI);
        std::exit(1);
    }
    if (is_bad_chunk(site, chunk, WS_SITE_CHUNK))
        bad_chunk(site, "schedule", chunk);
    bad_chunk(site, "steal_schedule", steal_chunk);
}

namespace {

enum RegionFlags { was_cut = 0, was_shared = 1, ran_whole = 2 };
void record_region(ws_site* site, uint64_t from, uint64_t to, uint64_t iterations, RegionFlags how)
{
    observe::record(observe::EventKind::region, from, to, uint32_t(&row_of(site) - &host().board->loop(0)), iterations,
                    how);
}

} // namespace

// ---- publishing

namespace {

Flag slot_bit(const Participant& p) { return Flag(1) << (p.region - p.host->slots->regions); }
bool is_home(const Participant& p) { return p.region == p.host->slots->regions; } // it called MPI_Init

bool begin_publishing(Participant& p)
{
    if (is_home(p))
        return true;
    Slots& slots = *p.host->slots;
    Hardware::or_full(slots.publishing, slot_bit(p)); // full, before the look at `stopped`; pairs with stop_sharing()
    return !Hardware::load_acquire(slots.stopped);
}

void end_publishing(Participant& p)
{
    if (!is_home(p))
        Hardware::and_full(p.host->slots->publishing, ~slot_bit(p)); // full: all use of the window comes before
}

// Whether somebody really waits: the flag of hunger was just found raised, but may be old. Lowers it then.
bool still_hungry()
{
    if (host().lending->somebody_waits())
        return true;
    Hardware::store_relaxed(host().row->hunger.hungry, not_hungry);
    return false;
}

void publish(Participant& p)
{
    Region& r = *p.region;
    make_wanted_guests();
    Sizing first = r.thief;
    const double cost = unit_ticks(p);
    fix_least(p);
    first.least = r.thief.least = p.pace.sizing().least;
    if (first.kind == WS_AUTO) // a thief starts with half of what the owner takes, because it pays for the hand-over
        first.chunk = p.pace.sizing().kind == WS_AUTO && p.pace.sizing().chunk > 1 ? p.pace.sizing().chunk / 2 : 1;
    r.stolen = r.stolen_ticks = 0;
    Hardware::store_relaxed(r.stayed, 0);
    r.crowded_units = r.crowded_ticks = 0;
    r.was_alone = p.lo > 0;
    r.state.note();
    Hardware::store_relaxed(*p.host->running_on, Flag(sched_getcpu()));
    set_ws_alone(false); // before the guests come: publish() is the release
    p.host->let_threads_in(1);
    chaos.delay();
    // In a test every region is worth help: a cost of 0, not known, is never refused.
    r.descriptor->publish(p.lo,
                          {r.units, first.pack(), p.host->share_all ? 0 : uint64_t(cost), Descriptor::max_joiners,
                           r.own_threads - 1, r.two_ends});
    p.mode = Mode::shared;
    p.ending = Ending::published;
    p.crowded = false;
    // After the descriptor: who sees the bit finds the region. A hint; or, because other owners have bits in this word.
    Hardware::or_full(*p.host->open, slot_bit(p));
    const double work = double(r.units - p.lo) * cost;
    r.ring_at = work > double(p.host->publish_ticks[asleep_hungry]) || p.host->share_all
                    ? 0
                    : r.opened_at + p.host->publish_ticks[asleep_hungry];
    ring_sleepers(p, r.opened_at);
}

} // namespace

bool publish_if_wanted(Participant& p, bool unasked)
{
    if (begin_publishing(p) && (unasked || still_hungry())) {
        publish(p);
        return true;
    }
    end_publishing(p);
    return false;
}

// Waking a sleeper costs a system call: it is done only for a region that has lasted longer than the break-even time,
// or surely will.
void ring_sleepers(Participant& p, uint64_t now)
{
    Region& r = *p.region;
    // Relaxed: a hint. Workers that are lent to other ranks are called back.
    if (now < r.ring_at || (Hardware::load_relaxed(*p.host->sleepers) == 0 && !p.host->has_workers))
        return;
    r.ring_at = now + 8 * p.host->chunk_ticks; // others may fall asleep in the meantime
    host().lending->wake();
}

// ---- opening and closing

namespace {

// Returns whether a rank has begun to wait while an unpublished execution of `took` ticks ran.
bool was_wanted(const Participant& p, double took)
{
    const Flag hungry = Hardware::load_relaxed(p.host->row->hunger.hungry); // relaxed: a hint
    return hungry && took > double(p.host->publish_ticks[hungry]);
}

// Whether guests are to take chunks from the end of the region: where no order and no sizes are asked for, and what an
// iteration costs is much the same everywhere. (Else the costly ones are to be handed out first.)
bool takes_two_ends(const Participant& p, const ws_site* site, const Learned& l)
{
    const bool fixed = (site->kinds & (WS_SITE_STEAL | WS_SITE_STEAL_CHUNK)) ||
                       ws_schedule(site->kinds & 255) != WS_AUTO ||
                       (site->kinds >> 8 & 255) != WS_AUTO;
    return (site->kinds & WS_SITE_ANY_ORDER) && !fixed && !p.host->share_all &&
           (has_even_ends(l) || (chaos && chaos.random(2)));
}

// Until a helper arrives, chunks may be this many times longer than usual.
constexpr double few_chunks_longer = 4;

// The parts of open_region(). They are inlined: measured by benchmarks/region_cost.

// The units of a region.
struct RegionUnits {
    uint64_t iterations, count; // of each; how many

    // As a clause has it that gives `given` iterations a chunk, 0: none. `user`: what schedule(runtime) means.
    Sizing sizing(ws_schedule kind, long given, const RuntimeSchedule& user) const
    {
        return kind == WS_RUNTIME ? Sizing::resolve(user.kind, in_units(user.chunk))
                                  : Sizing::resolve(kind, in_units(given));
    }

private:
    uint64_t in_units(long c) const { return c ? (uint64_t(c) - 1) / iterations + 1 : 0; }
};

// A unit is one iteration unless the descriptor's word could not count them.
inline RegionUnits units_of(uint64_t iterations, bool two_ends)
{
    const uint64_t most = two_ends ? Descriptor::max_units_of_two_ends : Descriptor::max_units;
    const uint64_t unit = iterations <= most ? 1 : iterations / most + 1;
    return {unit, (iterations - 1) / unit + 1};
}

// The ticks that a chunk should take in a region of `estimate` ticks. A short region needs shorter chunks: a thief that
// comes in the middle waits for one to end. But where none comes they cost a look at the clock each.
inline double chunk_target(const LoopHost& h, double estimate)
{
    const double target = double(h.chunk_ticks);
    return estimate > 0 ? std::min(target, std::max(estimate, target) / 6) : target;
}

// Begins the owner's own part. `cost`: ticks that a unit is thought to take, 0 = not known.
inline void begin_alone(Participant& p, Sizing own, double target, double cost)
{
    if (own.kind == WS_AUTO && cost > 0 && target < double(p.host->chunk_ticks)) {
        own.chunk = uint64_t(target / cost); // the region is too short to find the size by doubling
        own.chunk += own.chunk == 0;
    }
    p.lo = 0;
    p.chunks = 0;
    p.took_last = false;
    p.mode = Mode::alone;
    p.ending = Ending::unshared;
    p.pace.begin(own, p.region->opened_at);
    if (own.kind != WS_AUTO)
        fix_least(p);
    set_ws_alone(alone());
}

// Publishes the region that was just opened, if somebody waits or surely will. Its units are thought to take `cost`
// ticks each and `estimate` in all.
inline void publish_at_begin(Participant& p, Learned& l, ws_schedule own_kind, double cost, double estimate)
{
    Region& r = *p.region;
    Flag hungry = Hardware::load_relaxed(p.host->row->hunger.hungry);
    // Iterations longer than a chunk: a thief that comes in the middle of the first one would have to wait for its end.
    // So where thieves helped the last time, the region is published at once, unasked. So it is where they helped much,
    // as they will come again, and where the owner has other threads, which wait.
    const double helped = helped_last(l);
    const bool coarse = (cost > double(p.host->chunk_ticks) && r.units > 2 && helped > 0) || p.member;
    const bool again = helped > much_help && estimate > double(p.host->publish_ticks[window::newly_hungry]);
    const bool unasked = coarse || again;
    if (r.may_share && (unasked || (hungry && estimate > double(p.host->publish_ticks[hungry])))) {
        if (!coarse && own_kind == WS_AUTO) // each chunk is timed, and short beside the time alone
            r.alone_first = begins_alone(l, estimate);
        if (r.alone_first)
            return;
        // The costly half first, where it is known and nothing depends on the order: what is left at the end is then
        // cheap, and easily shared.
        r.backwards = has_free_order(r.site, *p.host) && own_kind == WS_AUTO && r.thief.kind == WS_AUTO &&
                      !r.two_ends && tilt_of(l) > even_most;
        if (!publish_if_wanted(p, unasked))
            r.backwards = false;
    }
}

} // namespace

void open_region(Participant& p, void (*fn)(void*), void* data, const LoopBounds& bounds, ws_site* site, long chunk,
                 long steal_chunk)
{
    check_site(site, chunk, steal_chunk);
    Learned& l = learned(site);
    const bool two_ends = !p.member && takes_two_ends(p, site, l);
    const RegionUnits units = units_of(bounds.iterations, two_ends);
    Sizing own = units.sizing(ws_schedule(site->kinds & 255), chunk, p.host->schedule);
    // Thieves follow the owner's clause unless they have their own.
    const ws_schedule steal_kind = ws_schedule(site->kinds >> 8 & 255);
    const Sizing thief = steal_kind != WS_AUTO || (site->kinds & (WS_SITE_STEAL | WS_SITE_STEAL_CHUNK))
                             ? units.sizing(steal_kind, steal_chunk, p.host->steal_schedule)
                             : own;
    row_of(site); // made before the cost is known: open_whole() relies on that
    const double cost = peek(l.unit_ticks) * double(units.iterations), estimate = double(units.count) * cost;
    const double target = chunk_target(*p.host, estimate);
    Region& r = *p.region;
    r.fn = fn;
    r.data = data;
    r.bounds = bounds;
    r.unit = units.iterations;
    r.units = units.count;
    r.site = site;
    r.thief = thief;
    r.chunk_ticks = uint64_t(target);
    r.opened_at = ticks();
    // In a child of fork() the thread is no owner any more.
    r.may_share = may_share(l) && p.owner && Hardware::load_relaxed(p.host->shares);
    r.own_threads = p.member ? p.member->threads : 1;
    r.backwards = false;
    r.two_ends = two_ends;
    r.cost_before = 0;
    r.alone_first = 0;
    const bool for_test = WS_UNLIKELY(p.host->share_all) && p.host->checks->open(r, own);
    // If guests did little the last time, a guest will most likely come at the end. Until then few chunks suffice.
    const bool few_chunks = own.kind == WS_AUTO && cost > 0 && helped_last(l) < much_help;
    r.most_alone = few_chunks ? uint64_t(few_chunks_longer * double(p.host->chunk_ticks) / cost) : 0;
    begin_alone(p, own, target, cost);
    if (WS_UNLIKELY(p.host->share_all)) {
        r.may_share = false; // a region that is not shared from its begin on has one unit only
        if (for_test && !publish_if_wanted(p, true))
            r.backwards = false;
        return;
    }
    publish_at_begin(p, l, own.kind, cost, estimate);
}

namespace {

// Whether others had a core that the region's threads wanted. As this is seen late, a disturbance shortly before
// counts.
bool disturbed(const Region& r, uint64_t now)
{
    const uint64_t late = uint64_t(2 * base::times::kept_off_us * host().ticks_per_us);
    return host().meter->disturbed_since(std::min(r.opened_at, now - late));
}

// Adds how much later the rank would be without guests. Guests have computed for `helped` ticks, they and the owner
// together for `computed`, in a region that lasted `wall`.
void add_lag(const Region& r, uint64_t helped, uint64_t computed, uint64_t wall, Crowding crowding, bool disturbed,
             uint64_t now)
{
    LoopHost& h = host();
    double won = double(computed) - double(wall);
    if (r.own_threads == 1) { // of a team's threads only one is counted here
        const double each = double(computed) / double(r.bounds.iterations);
        const double overlap = std::min(1.0, 2 * double(helped) / double(computed));
        const double slowdown =
            std::min(remember_helped(r.site, each, crowding, disturbed, overlap), double(h.participants));
        won = truly_won(r.site, double(computed), overlap, double(wall), slowdown);
    }
    const Hardware::Word was = Hardware::load_relaxed(*h.lag);
    const Hardware::Word lag = won > 0 ? was + Hardware::Word(won) : was;
    Hardware::store_relaxed(*h.lag, lag);
    base::store_relaxed(h.board->lag_ticks, window::lag_now(lag, now));
}

// Waits for the guests; returns when the region is closed, in ticks.
uint64_t close_published(Participant& p)
{
    LoopHost& h = *p.host;
    Region& r = *p.region;
    Descriptor& d = *r.descriptor;
    Hardware::and_full(*p.host->open, ~slot_bit(p));
    uint64_t waited = 0; // ticks
    do {
        if (d.joiners() != 0) {
            uint64_t t0 = ticks();
            wait_until("guests that finish", [&] { return d.joiners() == 0; });
            waited += ticks() - t0;
        }
        chaos.delay();
    } while (!d.close());
    p.host->let_threads_in(0);
    uint64_t stolen = base::load_relaxed(r.stolen); // ordered by joiners() above
    const Crowding crowding = {r.cost_before, r.crowded_units ? double(r.crowded_ticks) / double(r.crowded_units) : 0,
                               r.was_alone};
    const uint64_t now = ticks();
    if (WS_UNLIKELY(h.check))
        h.checks->note_published(r, stolen);
    if (waited) {
        add(row_of(r.site).close_wait_ticks, waited);
        add(h.board->sums.close_wait_ticks, waited);
        if (is_home(p))
            h.meter->waited_within(waited);
    }
    const uint64_t helped = base::load_relaxed(r.stolen_ticks), wall = now - r.opened_at;
    if (helped && is_home(p))
        h.meter->bring_up(now);
    const bool by_others = disturbed(r, now);
    remember_shared(r.site, r.bounds.iterations, stolen, wall, crowding, by_others,
                    Hardware::load_relaxed(r.stayed) ? &r.chain : nullptr); // ordered by joiners()
    add(h.board->sums.executions_shared, 1);
    add(h.board->sums.executions_helped, stolen != 0);
    if (helped)
        add_lag(r, helped, helped + wall - std::min(waited, wall), wall, crowding, by_others, now);
    // Thieves that still wait raise the flag again. If guests were at work to the end, thieves certainly wait: then it
    // stays raised.
    if (!waited)
        Hardware::store_relaxed(p.host->row->hunger.hungry,
                                Hardware::load_relaxed(*p.host->sleepers) ? asleep_hungry : not_hungry);
    end_publishing(p);
    return now;
}

// Compares the cost of both ends: the owner has seen only the start of the range, guests its end.
void compare_ends(const Participant& p, const Region& r)
{
    const double own = p.pace.ticks_per_unit(), stolen = double(r.stolen) / double(r.unit); // ordered by joiners()
    if (own == 0 || stolen <= 0.1 * double(r.units))
        return;
    const double ratio = double(r.stolen_ticks) / stolen / own;
    remember_tilt(r.site, ratio > cold_most || ratio < 1 / cold_most ? ratio : 1);
}

} // namespace

void close_region(Participant& p, ws_site* site)
{
    Ending ending = p.ending;
    p.ending = Ending::nothing;
    Learned& l = learned(site);
    if (ending == Ending::measure) {
        const uint64_t now = ticks(), took = now - p.opened_at;
        LoopRow& row = row_of(site);
        add(row.timed_executions, 1);
        add(row.timed_iterations, p.units);
        add(row.timed_ticks, took);
        count_execution(row, took);
        if (WS_UNLIKELY(observe::recording))
            record_region(site, p.opened_at, now, p.units, ran_whole);
        double cost = double(took) / double(p.units);
        remember_cost(l, cost);
        remember_alone(l, cost);
        if (peek(l.calm) && was_wanted(p, double(took)))
            remember_calm(l, true);
        return;
    }
    if (WS_UNLIKELY(ending == Ending::in_parent))
        left_in_child(site);
    Region& r = *p.region;
    const uint64_t now = ending == Ending::published ? close_published(p) : ticks();
    const bool wanted = ending == Ending::published || was_wanted(p, double(now - r.opened_at));
    remember_calm(l, wanted);
    if (ending == Ending::unshared && r.bounds.iterations && !disturbed(r, now)) {
        remember_alone(l, double(now - r.opened_at) / double(r.bounds.iterations));
        if (wanted && r.may_share)
            remember_in_vain(site, now - r.opened_at);
    }
    LoopRow& row = row_of(site);
    add(row.cut_executions, 1);
    add(row.cut_iterations, r.bounds.iterations);
    add(row.cut_ticks, now - r.opened_at);
    count_execution(row, now - r.opened_at);
    add(row.kept_chunks, p.chunks);
    remember_longest(row, p.pace.longest());
    if (WS_UNLIKELY(observe::recording))
        record_region(site, r.opened_at, now, r.bounds.iterations, ending == Ending::published ? was_shared : was_cut);
    if (p.pace.measured_units())
        remember_cost(l, p.pace.ticks_per_unit() / double(r.unit));
    if (double tilt = p.pace.tilt())
        remember_tilt(site, r.backwards ? 1 / tilt : tilt);
    else if (r.two_ends && ending == Ending::published)
        compare_ends(p, r);
    else if (double rough = p.pace.rough_tilt())
        remember_tilt(site, r.backwards ? 1 / rough : rough, true);
}

// ---- turns

bool open_turns(Participant& p, void (*fn)(void*), void* data, uint64_t turns, ws_site* site)
{
    forget_costs(site);
    open_region(p, fn, data, {0, 1, turns, turns}, site, 0, 0);
    if (p.mode == Mode::alone && p.region->may_share)
        publish_if_wanted(p, false);
    p.idle_ticks = 0;
    if (p.mode != Mode::shared) {
        p.mode = Mode::done;
        p.ending = Ending::nothing;
        set_ws_alone(false);
        return false;
    }
    p.in_region = true;
    p.frame = ~uintptr_t(0); // the owner's functions return while it is open
    p.site = site;
    return true;
}

// Full: other owners have bits in this word.
void offer_turns(const Participant& p, bool offered)
{
    offered ? Hardware::or_full(*p.host->open, slot_bit(p)) : Hardware::and_full(*p.host->open, ~slot_bit(p));
}

void take_all_turns(Participant& p)
{
    Chunk rest;
    p.region->descriptor->claim([](uint64_t remaining, unsigned) { return remaining; }, rest);
}

void close_turns(Participant& p)
{
    Region& r = *p.region;
    // Those that guests had, and one for the owner: the others were never meant to be taken.
    r.bounds.iterations = base::load_relaxed(r.stolen) + 1;
    p.chunks = 1;
    if (p.idle_ticks) {
        add(row_of(r.site).close_wait_ticks, p.idle_ticks);
        add(p.host->board->sums.close_wait_ticks, p.idle_ticks);
        if (is_home(p))
            p.host->meter->waited_within(p.idle_ticks);
    }
    p.site = nullptr;
    p.mode = Mode::done;
    p.in_region = false;
    close_region(p, r.site);
}

namespace {

// Runs a region whole, in whatever the thread is in now. Inlined: without -workshare it is what each loop costs.
__attribute__((always_inline)) inline void run_here(Participant& p, void (*fn)(void*), void* data, long start, long end,
                                                    ws_site* site)
{
    Mode mode = p.mode;
    uint64_t lo = p.lo, hi = p.hi;
    ws_site* outer_site = p.site;
    p.site = site; // names the loop in messages: see abi/exception.cpp
    p.mode = Mode::whole;
    p.lo = uint64_t(start);
    p.hi = uint64_t(end);
    // Inside a region (nested, or on a guest) the outer one's answer stands.
    const bool outermost = !p.in_region;
    const char was_alone = ws_alone;
    if (outermost && alone())
        set_ws_alone(true);
    const uint64_t began = WS_UNLIKELY(observe::recording) ? ticks() : 0;
    fn(data);
    if (WS_UNLIKELY(observe::recording) && outermost)
        record_region(site, began, ticks(), 0, ran_whole); // 0: only the body knows how many iterations there are
    if (outermost)
        set_ws_alone(was_alone);
    p.mode = mode;
    p.lo = lo;
    p.hi = hi;
    p.site = outer_site;
}

} // namespace

void run_plain(Participant& p, void (*fn)(void*), void* data, long start, long end, ws_site* site, long chunk,
               long steal_chunk)
{
    check_site(site, chunk, steal_chunk);
    if (p.host->row)
        add(p.host->board->process.executions_plain, 1);
    if (WS_UNLIKELY(p.host->check))
        p.host->checks->note_plain(site);
    run_here(p, fn, data, start, end, site);
}

void run_unshared(Participant& p, void (*fn)(void*), void* data, long start, long end, ws_site* site, long chunk,
                  long steal_chunk)
{
    check_site(site, chunk, steal_chunk);
    observe::bump(row_of(site).whole_executions);
    if (WS_UNLIKELY(p.host->check))
        p.host->checks->note_refused(site);
    run_here(p, fn, data, start, end, site);
}

} // namespace ws::loop
