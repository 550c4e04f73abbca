// SPDX-License-Identifier: MIT
#include "openmp/team.h"

#include "loop/participant.h"
#include "openmp/code.h"
#include "openmp/fiber.h"
#include "openmp/meet.h"
#include "window/times.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace ws::openmp {

using directive::Question;
using directive::openmp_asked;
using loop::Participant;
using loop::self;
using window::ticks;

__thread Unit* current __attribute__((tls_model("initial-exec")));

namespace {

// A question of the thread that `current` is about, before it is answered.
void asked(Question question, void* caller)
{
    Unit& unit = *current;
    if (question == Question::setting) {
        meet_other("it sets what its own regions have");
        return;
    }
    if (unit.watch) {
        unit.watch->note_question(question, caller);
        return;
    }
    VirtualTeam& team = *unit.team;
    Participant& p = self;
    if (team.units <= team.told || harmless_question(caller).is) {
        p.number = unit.units.lo;
        p.numbers = unit.units.of;
    } else {
        Watch::note_late(team.site, use::numbers); // from the next execution on no more than it may know of
        if (directive::openmp_unseen())
            give_up(team.site, "it asks for thread numbers");
        p.numbers = team.told;
        if (question != Question::threads)
            p.number = team.slot(unit);
    }
}

} // namespace

Current::Current(Unit* unit)
    : was_(current), asked_(openmp_asked), number_(self.number), numbers_(self.numbers), level_(self.level),
      depth_(self.depth)
{
    current = unit;
    openmp_asked = unit ? asked : nullptr;
    if (!unit || unit->watch)
        self.numbers = 0;
}
Current::~Current()
{
    current = was_;
    openmp_asked = asked_;
    Participant& p = self;
    p.number = number_;
    p.numbers = numbers_;
    p.level = level_;
    p.depth = depth_;
}

// ---- watched

namespace {
// The code before a region's first call, if it is nothing but what the compiler put there.
constexpr uintptr_t near_begin = 448;
bool follows(const void* from, const void* to, uintptr_t at_most)
{
    return uintptr_t(to) - uintptr_t(from) <= at_most;
}
} // namespace

void Watch::note_late(RegionSite& site, Flag use)
{
    if ((Hardware::load_relaxed(site.uses) & use) != use)
        Hardware::or_full(site.uses, use); // full: what was noted before comes before
}

void Watch::note(Flag use) { note_late(site, use); }

void Watch::note_barrier(Unit& unit, const void* caller)
{
    unit.barriers++;
    note(use::barrier);
    const Phase* const next = phase_after(site, caller);
    if (!next || !next->may_stop)
        note_unknown("a barrier beside errno");
}

void Watch::note_unknown(const char* name, Flag also)
{
    site.why = name;
    note(use::unknown | also);
}

void Watch::note_deal(Flag use, void* caller)
{
    const Flag before = Hardware::load_relaxed(site.uses);
    if (!(before & (use::pair | use::loop | use::numbers)) && !follows(site.code, caller, near_begin) &&
        !region.loop && !region.sections)
        use |= use::far;
    const double setup = double(ticks() - current->began); // of the thread that was disturbed least
    if (site.setup == 0 || setup < site.setup)
        window::store_relaxed(site.setup, setup);
    note(use);
}

void Watch::note_question(Question question, void* caller)
{
    if (const HarmlessQuestion known = harmless_question(caller); known.is) {
        if (known.deals)
            note_deal(use::pair, caller);
        return;
    }
    note(question == Question::threads ? use::numbers | use::counts : use::numbers);
}

void Watch::end(Unit& unit)
{
    Hardware::store_relaxed(barriers, unit.barriers); // all have as many
}

void run_watched(void* argument)
{
    Watch& watch = *static_cast<Watch*>(argument);
    Unit unit = {};
    unit.watch = &watch;
    unit.began = ticks();
    {
        const Current here(&unit);
        watch.region.fn(watch.region.data);
    }
    watch.end(unit);
}

// ---- shared

struct VirtualTeam::Cold {
    explicit Cold(const VirtualTeam& of)
        : on_demand(of.units, of.at_once, of.minds_order() ? &of.site.slopes : nullptr)
    {
    }
    OnDemandLoops on_demand;
    std::mutex lock;
    std::condition_variable ended, released;
    std::vector<pthread_t> threads;
    uint64_t held = 0, phases = 0;  // virtual threads in hold(), and how often all have been let go on
    std::vector<std::unique_ptr<char[]>> commons;
    std::vector<uint64_t> over; // of each loop whose iterations have an order: those before this one
    std::condition_variable turned;
};

struct BegunThread {
    VirtualTeam* team;
    unsigned lo, hi;
};

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

namespace {

// The lowest `count` bits.
uint64_t bits_below(unsigned count) { return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1; }

// Takes the lowest run of neighbouring bits out of the word, which has some, and calls f(first, count).
template <class F> void take_run(uint64_t& bits, F f)
{
    const unsigned first = unsigned(__builtin_ctzll(bits));
    const uint64_t rest = ~(bits >> first);
    const unsigned count = rest ? unsigned(__builtin_ctzll(rest)) : 64;
    bits &= ~(bits_below(count) << first);
    f(first, count);
}

[[noreturn]] void refuse(const RegionSite& site, const char* what)
{
    std::fprintf(stderr, "workshare: %s: %s: run without -workshare-openmp\n", site.site.where, what);
    std::exit(1);
}

} // namespace

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

// ---- all at once

VirtualTeam::Cold& VirtualTeam::cold()
{
    Cold* c = window::load_acquire(cold_);
    if (c)
        return *c;
    Cold* const made = new Cold(*this);
    if (window::exchange_if_acq_rel(cold_, c, made))
        return *made;
    delete made;
    return *c;
}

void* VirtualTeam::thread(void* argument)
{
    const BegunThread it = *static_cast<BegunThread*>(argument);
    delete static_cast<BegunThread*>(argument);
    Fiber* spare = nullptr;
    it.team->play({it.lo, it.hi, it.team->units}, spare, directive::openmp_level(), nullptr);
    if (spare)
        Fiber::give_back(spare);
    return nullptr;
}

// beginning_ is held.
void VirtualTeam::begin_thread(unsigned lo, unsigned hi)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    cpu_set_t cpus;
    if (pthread_getaffinity_np(owner_, sizeof cpus, &cpus) == 0) // the caller may be a guest, on a lent core
        pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
    pthread_t thread;
    const int error = pthread_create(&thread, &attributes, VirtualTeam::thread, new BegunThread{this, lo, hi});
    pthread_attr_destroy(&attributes);
    if (error)
        refuse(site, "the system gives no thread for a parallel region whose threads wait for each other");
    cold().threads.push_back(thread);
}

// Each of these, which are claimed, on its own.
void VirtualTeam::begin_threads(unsigned word, uint64_t claimed)
{
    const std::lock_guard<std::mutex> lock(beginning_);
    for (unsigned bit = 0; bit < 64; bit++)
        if (claimed >> bit & 1)
            begin_thread(word * 64 + bit, word * 64 + bit + 1);
}

// Those that have not begun this phase get threads. beginning_ is held.
void VirtualTeam::begin_rest()
{
    const bool ranges = has_ranges();
    for (unsigned word = 0; word * 64 < units; word++) {
        uint64_t claimed = claim(word, bits_below(std::min(units - word * 64, 64u)));
        while (claimed)
            take_run(claimed, [&](unsigned first, unsigned count) {
                const unsigned each = ranges ? count : 1;
                for (unsigned bit = first; bit < first + count; bit += each)
                    begin_thread(word * 64 + bit, word * 64 + bit + each);
            });
    }
}

void VirtualTeam::join_threads()
{
    for (;;) { // one that is joined may have begun others
        pthread_t one;
        {
            const std::lock_guard<std::mutex> lock(beginning_);
            if (cold().threads.empty())
                return;
            one = cold().threads.back();
            cold().threads.pop_back();
        }
        pthread_join(one, nullptr);
    }
}

void VirtualTeam::begin_all(const char* why)
{
    if (whole_)
        return;
    const std::lock_guard<std::mutex> lock(beginning_);
    if (Hardware::load_acquire(all_begun_))
        return;
    give_up(site, why);
    Hardware::store_full(all_begun_, 1); // full, before the claims: who ends from here on says so
    begin_rest();
}

// c.lock is held. Where all others have stopped at a barrier those in hold() go on, and the others on threads.
void VirtualTeam::release_if_stopped(Cold& c)
{
    if (!c.held || c.held + ended() < units)
        return;
    const std::lock_guard<std::mutex> begins(beginning_);
    const unsigned waiting = stopped();
    uint64_t again[words];
    for (unsigned word = 0; word < words; word++) {
        again[word] = Hardware::load_relaxed(those_[word].stopped);
        Hardware::store_relaxed(those_[word].stopped, 0);
    }
    set_ended(units - waiting - c.held);
    Hardware::store_full(phase_, Hardware::load_relaxed(phase_) + 1);
    for (unsigned word = 0; word < words; word++) // who claims one of them sees the phase; pairs with claim()
        Hardware::store_release(those_[word].begun, ~again[word]);
    begin_rest();
    c.held = 0;
    c.phases++;
    c.released.notify_all();
}

// A barrier where others may stop, and this one must not: it waits on its thread.
void VirtualTeam::hold(Unit& unit, const char* why)
{
    begin_all(why);
    Cold& c = cold();
    std::unique_lock<std::mutex> lock(c.lock);
    const uint64_t met = c.phases;
    c.held += unit.units.hi - unit.units.lo;
    release_if_stopped(c);
    c.released.wait(lock, [&] { return c.phases != met; });
}

bool VirtualTeam::takes_single(Unit& unit)
{
    const Flag n = unit.singles++; // those before it are taken, if only by the unit itself
    // relaxed: what is done in it others see after a barrier, or in a way of their own
    return Hardware::load_relaxed(singles_) == n && Hardware::cas_full(singles_, n, n + 1);
}

void* VirtualTeam::common(Unit& unit, size_t bytes)
{
    Cold& c = cold();
    const std::lock_guard<std::mutex> lock(c.lock);
    const unsigned n = unit.commons++;
    if (c.commons.size() <= n)
        c.commons.resize(n + 1);
    if (!c.commons[n])
        c.commons[n].reset(new char[bytes]());
    return c.commons[n].get();
}

void VirtualTeam::meet_other(const char* name)
{
    // Tasks run at once where a thread has no team, and what is left works without one.
    for (const char* needs_team : {"__kmpc_dist", "__kmpc_team_"})
        if (std::strncmp(name, needs_team, std::strlen(needs_team)) == 0) {
            refuse(site, (std::string("it calls ") + name + ", which it did not when it was first run").c_str());
        }
    give_up(site, name);
}

// f(cold, lock), with a place for that loop in cold.over.
template <class F> void VirtualTeam::with_turns(unsigned loop, F f)
{
    Cold& c = cold();
    std::unique_lock<std::mutex> lock(c.lock);
    if (c.over.size() <= loop)
        c.over.resize(loop + 1);
    f(c, lock);
}

void VirtualTeam::begin_in_turn(Unit& unit, uint64_t n, uint64_t chunk)
{
    unit.way = Unit::Way::in_turn;
    unit.turn.begun = false;
    unit.turn.n = n;
    unit.turn.rounds = pieces_of_loop(n, chunk, unit.units);
}

bool VirtualTeam::next_in_turn(Unit& unit, Part& piece)
{
    Unit::Turn& t = unit.turn;
    const unsigned loop = t.loop;
    if (t.begun) {
        with_turns(loop, [&](Cold& c, auto&) { c.over[loop] = t.piece.to; });
        cold().turned.notify_all();
        t.rounds.first += t.rounds.stride;
    }
    if (t.rounds.first >= t.n) {
        unit.way = Unit::Way::pieces;
        t.begun = false;
        t.loop++;
        return false;
    }
    piece = t.piece = {t.rounds.first, std::min(t.rounds.first + t.rounds.size, t.n)};
    t.begun = true;
    if (unit.fiber && units > 1) {
        begin_all("a loop whose iterations have an order");
        with_turns(loop, [&](Cold& c, auto& lock) {
            c.turned.wait(lock, [&] { return c.over[loop] == t.piece.from; });
        });
    }
    return true;
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

unsigned VirtualTeam::slot(Unit& unit)
{
    if (unit.slot)
        return unit.slot - 1;
    const unsigned most = std::min(told, 32u);
    const uint64_t began = ticks();
    for (;;) {
        const Flag taken = Hardware::load_relaxed(slots_);
        for (unsigned i = 0; i < most; i++)
            if (!(taken >> i & 1) && Hardware::cas_full(slots_, taken, taken | Flag(1) << i)) { // pairs with call()
                unit.slot = i + 1;
                return i;
            }
        // Those that have stopped keep theirs; others may hold what one of them waits for.
        if (stopped() || double(ticks() - began) > window::times::number_wait_us * loop::host().ticks_per_us)
            refuse(site, "more of its threads wait for each other than it was told of, and ask for their numbers");
        sched_yield();
    }
}

} // namespace ws::openmp
