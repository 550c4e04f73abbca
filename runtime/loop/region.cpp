// SPDX-License-Identifier: MIT
//
// The cold half of a region: handing out chunks when there is more than one, publishing, opening, closing, guests.
#include "loop/participant.h"

#include "loop/chaos.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ws {

LoopHost loop_host;
LoopCounters loop_counters;
Chaos chaos;
__thread Participant self{};

namespace {

// The process's open region. Written by the owner before it publishes; guests read it after they have joined.
struct Region {
    void (*fn)(void*);
    void* data;
    LoopBounds bounds;
    uint64_t unit, units; // iterations per unit: 1 unless the loop outgrows the descriptor's word
    ws_site* site;
    Sizing thief;
    uint64_t chunk_ticks; // time a chunk should take
    uint64_t stolen; // iterations run by guests; atomically added
};
Region region;

// The sites that were ever published, linked by Learned::next_shared.
ws_site* shared_sites;

// Guests that have asked for their first chunk and not left. joiners() minus this is the number that may still be
// copying firstprivate variables.
volatile Flag guests_inside;

[[noreturn]] __attribute__((cold, noinline)) void bad_chunk(const ws_site* site, const char* clause, long chunk)
{
    std::fprintf(stderr, "workshare: %s: chunk size %ld in '%s' is not positive\n", site->where, chunk, clause);
    std::exit(1);
}

__attribute__((cold, noinline)) void check_site(const ws_site* site, long chunk, long steal_chunk)
{
    if ((site->kinds >> 24 & 255) != WS_ABI) {
        std::fprintf(stderr, "workshare: %s was compiled for version %d of libws, this is version %d: compile it again\n",
                     site->where, int(site->kinds >> 24 & 255), WS_ABI);
        std::exit(1);
    }
    if (chunk < 0 || (chunk == 0 && (site->kinds & WS_SITE_CHUNK)))
        bad_chunk(site, "schedule", chunk);
    if (steal_chunk < 0 || (steal_chunk == 0 && (site->kinds & WS_SITE_STEAL_CHUNK)))
        bad_chunk(site, "steal_schedule", steal_chunk);
}

// Waits for `done()` while other threads or processes bring it about: spins, then yields, and now and then has the
// host look whether they are still alive.
template <class Done>
__attribute__((noinline)) void wait_until(const char* what, Done&& done)
{
    for (unsigned turn = 0; !done(); turn++) {
        if (turn < 2000)
            cpu_relax();
        else {
            sched_yield();
            if (turn % 65536 == 0)
                loop_host.long_wait(what);
        }
    }
}

// ---- handing out chunks

bool hand_out(Chunk units, long* lo, long* hi)
{
    uint64_t first = units.lo * region.unit;
    uint64_t last = units.hi >= region.units ? region.bounds.iterations : units.hi * region.unit;
    const LoopBounds& b = region.bounds;
    *lo = long(b.start + first * b.incr);
    *hi = long(last == b.iterations ? b.end : b.start + last * b.incr);
    return true;
}

// The participant gets no more. lastprivate: whoever holds the last iteration writes the variable once this returns,
// so nobody may still be copying it in: wait for the guests between joining and their first chunk. None can join any
// more, for every unit is claimed.
bool no_more(Participant& p)
{
    p.mode = Mode::done;
    if (p.took_last)
        wait_until("guests that start", [] {
            return loop_host.descriptor->joiners() <= Hardware::load_acquire(guests_inside);
        });
    return false;
}

bool claim_next(Participant& p, long* lo, long* hi)
{
    Chunk c;
    const Sizing sizing = p.pace.sizing();
    const unsigned ranks = loop_host.ranks;
    chaos.delay();
    Claim result = loop_host.descriptor->claim(
        [&](uint64_t remaining, unsigned joiners) {
            return chaos ? 1 + chaos.random(remaining)
                         : sizing.units_from(region.units - remaining, remaining, joiners + 1, ranks);
        },
        c);
    if (result != Claim::taken)
        return no_more(p);
    p.took_last = c.hi == region.units;
    p.pace.start_chunk(c.size());
    if (p.mode == Mode::guest) {
        p.chunks++;
        p.units += c.size();
    }
    return hand_out(c, lo, hi);
}

void keep_pace(Participant& p)
{
    if (p.pace.wants_time())
        p.pace.finish_chunk(ticks(), region.chunk_ticks);
    else
        p.pace.skip_time();
}

// What a unit of the open region is thought to cost: as measured now, or as remembered from earlier executions.
double unit_ticks(const Participant& p)
{
    double now = p.pace.ticks_per_unit(), before = learned(region.site).unit_ticks * double(region.unit);
    return now > before ? now : before;
}

__attribute__((noinline)) void publish(Participant& p)
{
    if (Hardware::load_relaxed(loop_host.hunger->wanted)) {
        Hardware::store_relaxed(loop_host.hunger->wanted, 0);
        loop_host.make_guests();
    }
    Sizing first = region.thief;
    double cost = unit_ticks(p);
    if (cost > 0) {
        uint64_t least = uint64_t(double(loop_host.least_ticks) / cost);
        least = least < 1 ? 1 : least > Sizing::max_least ? Sizing::max_least : least;
        p.pace.set_least(least);
        first.least = region.thief.least = least;
    }
    if (first.kind == WS_AUTO) // a thief starts with half of what the owner takes: it pays the hand-over
        first.chunk = p.pace.sizing().kind == WS_AUTO && p.pace.sizing().chunk > 1 ? p.pace.sizing().chunk / 2 : 1;
    region.stolen = 0;
    Hardware::store_relaxed(*loop_host.running_on, Flag(sched_getcpu()));
    ws_alone = 0; // before the guests come: publish() is the release
    loop_host.let_threads_in(1);
    chaos.delay();
    loop_host.descriptor->publish(p.lo, {region.units, first.pack(), uint64_t(cost)});
    p.mode = Mode::shared;
    p.ending = Ending::published;
    loop_counters.regions_shared++;
}

bool alone_next(Participant& p, long* lo, long* hi)
{
    keep_pace(p);
    uint64_t remaining = region.units - p.lo;
    if (remaining == 0) {
        p.mode = Mode::done;
        return false;
    }
    double cost = unit_ticks(p);
    // Relaxed: a hint; publishing one chunk later does no harm. Pairs with the thieves' store in lend/thief.
    Flag hungry = Hardware::load_relaxed(loop_host.hunger->hungry);
    if (hungry && (cost == 0 || double(remaining) * cost > double(loop_host.publish_ticks[hungry]))) {
        publish(p);
        return claim_next(p, lo, hi);
    }
    const Sizing& sizing = p.pace.sizing();
    uint64_t n = sizing.units_from(p.lo, remaining, 1, loop_host.ranks);
    if (chaos)
        n = 1 + chaos.random(remaining);
    // The tail of a loop known to be short is not cut into crumbs that nobody would come for.
    else if (sizing.kind == WS_AUTO && learned(region.site).unit_ticks > 0 &&
             double(remaining) * cost < double(loop_host.publish_ticks[long_hungry]))
        n = remaining;
    Chunk c = {p.lo, n < remaining ? p.lo + n : region.units};
    p.lo = c.hi;
    p.pace.start_chunk(c.size());
    return hand_out(c, lo, hi);
}

bool guest_next(Participant& p, long* lo, long* hi)
{
    if (p.first) {
        p.first = false;
        // Full: the copies made so far come before. Pairs with no_more().
        Hardware::fetch_add_full(guests_inside, 1);
        if (p.claimed.size() == 0) { // clamped to nothing: a claim from 2^14 regions ago
            p.mode = Mode::done;
            return false;
        }
        p.pace.begin(region.thief, ticks());
        if (region.thief.kind == WS_AUTO) {
            Sizing own = region.thief;
            own.chunk = p.claimed.size();
            p.pace.begin(own, ticks());
        }
        p.pace.start_chunk(p.claimed.size());
        p.took_last = p.claimed.hi == region.units;
        p.chunks = 1;
        p.units = p.claimed.size();
        return hand_out(p.claimed, lo, hi);
    }
    keep_pace(p);
    if (Hardware::load_relaxed(*p.recall)) // relaxed: a chunk later is soon enough
        return no_more(p);
    return claim_next(p, lo, hi);
}

} // namespace

bool next_slow(Participant& p, long* lo, long* hi)
{
    switch (p.mode) {
    case Mode::alone:
        return alone_next(p, lo, hi);
    case Mode::shared:
        keep_pace(p);
        return claim_next(p, lo, hi);
    case Mode::guest:
        return guest_next(p, lo, hi);
    default:
        return false;
    }
}

// ---- opening and closing

void open_region(Participant& p, void (*fn)(void*), void* data, const LoopBounds& bounds, ws_site* site, long chunk,
                 long steal_chunk)
{
    check_site(site, chunk, steal_chunk);
    const uint64_t iterations = bounds.iterations;
    // A unit is one iteration unless the descriptor's word could not count them.
    uint64_t unit = iterations <= Descriptor::max_units ? 1 : iterations / Descriptor::max_units + 1;
    uint64_t units = (iterations - 1) / unit + 1;
    ws_schedule kind = ws_schedule(site->kinds & 255), steal_kind = ws_schedule(site->kinds >> 8 & 255);
    kind = kind == WS_RUNTIME ? WS_AUTO : kind;
    steal_kind = steal_kind == WS_RUNTIME ? WS_AUTO : steal_kind;
    auto in_units = [&](long c) { return c ? (uint64_t(c) - 1) / unit + 1 : 0; };
    Sizing own = Sizing::resolve(kind, in_units(chunk), units, loop_host.ranks);
    // Thieves follow the owner's clause unless they have their own.
    Sizing thief = steal_kind != WS_AUTO || (site->kinds & (WS_SITE_STEAL | WS_SITE_STEAL_CHUNK))
                       ? Sizing::resolve(steal_kind, in_units(steal_chunk), units, loop_host.ranks)
                       : own;
    double cost = learned(site).unit_ticks * double(unit), estimate = double(units) * cost;
    // A short region needs shorter chunks: a thief that comes in the middle waits for one to end.
    double target = double(loop_host.chunk_ticks);
    if (estimate > 0)
        target = std::min(target, std::max(estimate / 12, target / 10));
    region = {fn, data, bounds, unit, units, site, thief, uint64_t(target), 0};

    if (own.kind == WS_AUTO && cost > 0 && target < double(loop_host.chunk_ticks)) {
        own.chunk = uint64_t(target / cost); // too short to find the size by doubling
        own.chunk += own.chunk == 0;
    }
    p.lo = 0;
    p.took_last = false;
    p.mode = Mode::alone;
    p.ending = Ending::unshared;
    p.pace.begin(own, ticks());
    ws_alone = alone();
    Flag hungry = Hardware::load_relaxed(loop_host.hunger->hungry);
    if (hungry && estimate > double(loop_host.publish_ticks[hungry]))
        publish(p);
}

namespace {

// A loop that suddenly takes long must not go on unshared: believe a rise at once, a fall by halves.
void remember(Learned& l, double cost)
{
    l.unit_ticks = cost > l.unit_ticks ? cost : (cost + l.unit_ticks) / 2;
    l.countdown = measure_every;
}

void close_published()
{
    Descriptor& d = *loop_host.descriptor;
    bool waited = false;
    do {
        if (d.joiners() != 0) {
            waited = true;
            uint64_t t0 = ticks();
            wait_until("guests that finish", [&] { return d.joiners() == 0; });
            loop_counters.close_wait += ticks() - t0;
        }
        chaos.delay();
    } while (!d.close());
    loop_host.let_threads_in(0);
    uint64_t stolen = __atomic_load_n(&region.stolen, __ATOMIC_RELAXED); // ordered by joiners() above
    loop_counters.regions_joined += stolen != 0;
    Learned& l = learned(region.site);
    if (l.shared_regions++ == 0) {
        l.next_shared = shared_sites;
        shared_sites = region.site;
    }
    l.iterations += region.bounds.iterations;
    l.stolen += stolen;
    // Thieves that still wait say so again; while guests were at work to the end, they certainly do.
    if (!waited)
        Hardware::store_relaxed(loop_host.hunger->hungry, 0);
}

} // namespace

void close_region(Participant& p, ws_site* site)
{
    Ending ending = p.ending;
    p.ending = Ending::nothing;
    if (ending == Ending::measure) {
        remember(learned(site), double(ticks() - p.opened_at) / double(p.units));
        return;
    }
    if (ending == Ending::published)
        close_published();
    if (p.pace.measured_units())
        remember(learned(site), p.pace.ticks_per_unit() / double(region.unit));
}

void run_plain(Participant& p, void (*fn)(void*), void* data, long start, long end, ws_site* site, long chunk,
               long steal_chunk)
{
    check_site(site, chunk, steal_chunk);
    if (loop_host.descriptor)
        loop_counters.regions_off++; // a statistic: threads may lose counts to each other
    Mode mode = p.mode;
    uint64_t lo = p.lo, hi = p.hi;
    ws_site* outer_site = p.site;
    p.site = site; // names the loop in messages: see directive/exception.cpp
    p.mode = Mode::whole;
    p.lo = uint64_t(start);
    p.hi = uint64_t(end);
    // Inside a region (nested, or on a guest) the outer one's answer stands.
    const bool outermost = !p.in_region;
    const char was_alone = ws_alone;
    if (outermost && alone())
        ws_alone = 1;
    fn(data);
    if (outermost)
        ws_alone = was_alone;
    p.mode = mode;
    p.lo = lo;
    p.hi = hi;
    p.site = outer_site;
}

void for_each_shared_site(void (*visit)(const char* where, uint64_t regions, uint64_t iterations, uint64_t stolen))
{
    for (ws_site* s = shared_sites; s; s = learned(s).next_shared)
        visit(s->where, learned(s).shared_regions, learned(s).iterations, learned(s).stolen);
}

void set_owner_thread(bool owner) { self.owner = owner; }
bool thread_in_region() { return self.in_region; }

// ---- guests

void leave_after_chunk()
{
    static const volatile Flag always = 1;
    self.recall = &always;
}

uint64_t run_as_guest(Chunk claimed, const volatile Flag* recall)
{
    Participant& p = self;
    chaos.delay();
    p.claimed = loop_host.descriptor->clamp(claimed);
    p.mode = Mode::guest;
    p.in_region = true;
    p.first = true;
    p.took_last = false;
    p.recall = recall;
    p.site = region.site;
    p.chunks = p.units = 0;
    uint64_t begin = ticks();
    region.fn(region.data);
    uint64_t busy = ticks() - begin;
    uint64_t iterations = p.units * region.unit;
    __atomic_fetch_add(&loop_counters.guest_chunks, p.chunks, __ATOMIC_RELAXED); // statistics
    __atomic_fetch_add(&loop_counters.guest_iterations, iterations, __ATOMIC_RELAXED);
    __atomic_fetch_add(&loop_counters.guest_busy, busy, __ATOMIC_RELAXED);
    __atomic_fetch_add(&region.stolen, iterations, __ATOMIC_RELAXED); // ordered by leave()
    if (!p.first)
        Hardware::fetch_add_full(guests_inside, Flag(-1)); // before leaving: see no_more()
    chaos.delay();
    loop_host.descriptor->leave();
    return busy;
}

} // namespace ws
