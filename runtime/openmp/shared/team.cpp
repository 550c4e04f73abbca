// SPDX-License-Identifier: MIT
//
// The path of every virtual thread: taken, run, stopped at a barrier, and on in the next round. A region whose loops
// are static, that nobody helps and that has no barrier, costs for each virtual thread two atomic operations and a
// switch there and back (benchmarks/region_cost).
#include "openmp/shared/team.h"

#include "openmp/library/threads.h"
#include "loop/participant.h"
#include "loop/site.h"
#include "openmp/library/allocator.h"

#include <algorithm>
#include <utility>

namespace ws::openmp {

using loop::Participant;
using loop::self;
using Outcome = Fiber::Outcome;

namespace {

static_assert(LongestFirst::most >= FiberCrew::most);

// A turn that is shorter ends soon, wherever it runs, and is not worth two looks at the clock.
constexpr double ordered_turn_us = 10;

WS_THREAD_LOCAL int own_tid; // the kernel's, of the calling thread

int thread_number()
{
    if (WS_UNLIKELY(own_tid == 0))
        own_tid = int(syscall(SYS_gettid));
    return own_tid;
}

} // namespace

VirtualTeam::VirtualTeam(RegionSite& the_site, const RegionCall& the_region, FiberCrew& crew, unsigned of, Unit* outer,
                         const Settings& settings)
    : site(the_site), region(the_region), units(of), crew_(crew), outer_(outer), is_private_(outer || self.in_region),
      settings_(settings), opener_(thread_pointer()), allocator_(default_allocator())
{
    for (unsigned number = 0; number < units; number++) {
        runners_[number] = fresh;
        crew_[number].unit.team = this;
        crew_[number].begin(begin_unit);
    }
    for (unsigned word = 0; word * 64 < units; word++) {
        const unsigned count = std::min(units - word * 64, 64u);
        runnable_[word] = count == 64 ? ~Hardware::Word(0) : (Hardware::Word(1) << count) - 1;
    }
    due_ = units;
    // Once may be chance: one that computed for long under a lock.
    if (WS_UNLIKELY(Hardware::load_relaxed(site.stuck) > 1))
        own_threads_ = 1;
    Hardware::store_relaxed(crew_.regions, Hardware::load_relaxed(crew_.regions) + 1);
    base::store_release(crew_.open, this);
}

VirtualTeam::~VirtualTeam()
{
    base::store_release(crew_.open, static_cast<VirtualTeam*>(nullptr));
    // Full, after the store: the watchdog sees that there is none, or this thread its look; pairs with look_at().
    while (WS_UNLIKELY(Hardware::fetch_add_full(crew_.looked_at, 0) != 0))
        sched_yield();
    delete cold_;
}

VirtualTeam::Cold& VirtualTeam::cold()
{
    Cold* const c = base::load_acquire(cold_);
    return c ? *c : *base::keep_first(cold_, new Cold(units));
}

// ---- a turn

// On the virtual thread's own stack and identity.
void VirtualTeam::begin_unit(Fiber& fiber)
{
    VirtualTeam& team = *fiber.unit.team;
    Unit& unit = fiber.unit;
    fiber.watch_end();
    if (team.region.loop) {
        const RegionCall::Loop& l = *team.region.loop;
        const uint64_t n = loop::count_signed(l.start, l.end, l.incr);
        unit.lo = uint64_t(l.start);
        unit.hi = uint64_t(l.end);
        unit.incr = uint64_t(l.incr);
        team.begin_loop(unit, n, uint64_t(l.chunk > 0 ? l.chunk : 0), l.distribution);
    }
    if (fiber.identity()) {
        be(unit);
        if (WS_UNLIKELY(team.allocator_ != 0))
            inherit_allocator(team.allocator_);
    }
    team.region.fn(team.region.data);
    if (WS_UNLIKELY(unit.on_demand != nullptr)) {
        Hardware::fetch_add_full(team.site.claims, unit.on_demand->claims()); // relaxed would do: it counts
        team.cold().on_demand.pass(*unit.on_demand->loop());
    }
    if (fiber.identity())
        current = nullptr; // its parked thread may end now
}

// Relaxed: a hint, but where all turns of a round have ended.
bool VirtualTeam::has_some(const Bits* bits)
{
    return std::any_of(bits, bits + words, [](const Bits& word) { return Hardware::load_relaxed(word) != 0; });
}

bool VirtualTeam::take(unsigned number)
{
    const Hardware::Word bit = Hardware::Word(1) << number % 64;
    Bits& word = runnable_[number / 64];
    for (;;) {
        const Hardware::Word now = Hardware::load_relaxed(word);
        if (!(now & bit))
            return false;
        if (Hardware::cas_full(word, now, now & ~bit)) // full: what it did before comes before; pairs with end_turn()
            return true;
    }
}

// The free one that took longest last time; 0 if that is unknown, or none of them is free.
unsigned VirtualTeam::take_longest()
{
    for (unsigned i = 0; i < units; i++) {
        const unsigned number = (*order_)[i];
        const Hardware::Word left = Hardware::load_relaxed(runnable_[number / 64]);
        if (number != 0 && left >> number % 64 & 1 && take(number))
            return number;
    }
    return 0;
}

// Takes that virtual thread, or any free one, except the opener's own. Returns its number; 0 if there is none.
unsigned VirtualTeam::take_any(unsigned number)
{
    if (order_ && order_->is_known(units))
        if (const unsigned longest = take_longest())
            return longest;
    if (number != 0 && take(number))
        return number;
    for (unsigned word = 0; word * 64 < units; word++)
        for (Hardware::Word left = Hardware::load_relaxed(runnable_[word]) & ~Hardware::Word(word == 0); left;
             left &= left - 1) {
            const unsigned other = word * 64 + unsigned(__builtin_ctzl(left));
            if (take(other))
                return other;
        }
    return 0;
}

void VirtualTeam::play(unsigned number, Participant* carrier)
{
    Fiber& fiber = crew_[number];
    Unit& unit = fiber.unit;
    if (base::load_relaxed(runners_[number]) == fresh) { // its first turn
        unit = {};
        unit.team = this;
        unit.fiber = &fiber;
        unit.units = {number, number + 1, units};
        unit.settings = settings_;
        Settings& its = unit.settings;
        its.outer = outer_ ? &outer_->settings : nullptr;
        its.number = number;
        its.size = units;
        its.depth++;
        its.active += units > 1;
        unit.reductions = region.reductions ? *region.reductions : nullptr;
        unit.sections = region.sections;
        unit.section = Unit::before_first;
    }
    unit.carrier = carrier;
    unit.carrier_pointer = outer_ ? outer_->carrier_pointer : thread_pointer();
    base::store_relaxed(runners_[number], thread_number());
    const uint64_t began = order_ ? base::ticks() : 0;
    Outcome how;
    for (unsigned turn = 0;; turn++) {
        const Flag seen = Hardware::load_relaxed(sleeps_); // relaxed: a change that is missed costs one sleep
        if (fiber.identity())
            how = fiber.resume();
        else {
            const Current here(&unit);
            how = fiber.resume();
        }
        if (WS_LIKELY(how != Outcome::set_aside || !Hardware::load_acquire(own_threads_)) || hands_over(number))
            break;
        wait_on_own_thread(turn, seen); // there are no rounds to wait for
    }
    if (order_)
        order_->took(number, base::ticks() - began);
    base::store_relaxed(runners_[number], 0);
    // Number 0 may run elsewhere on the identity that the calling thread has just taken up again.
    while (WS_UNLIKELY(Hardware::load_acquire(zero_elsewhere_)) && carrier && number != 0 &&
           unit.carrier_pointer == opener_)
        base::cpu_relax();
    end_turn(number, how);
}

// Whether a virtual thread that waits goes on on its own thread, by end_turn(). Its carrier must not keep it:
// the round ends when its carriers come back, and only then can the opener run number 0, for which it may wait.
bool VirtualTeam::hands_over(unsigned number)
{
    Fiber& fiber = crew_[number];
    if (number == 0 || thread_pointer() == fiber.identity()->pointer())
        return false;
    const std::lock_guard<base::SpinLock> guard(lock_); // give_threads() has ended
    return !(Hardware::load_relaxed(zero_elsewhere_) && fiber.unit.carrier && fiber.unit.carrier_pointer == opener_);
}

// Number 0 is its opener's, which is between two rounds.
bool VirtualTeam::takes_up_zero()
{
    const std::lock_guard<base::SpinLock> guard(lock_);
    if (!(Hardware::load_relaxed(aside_[0]) & 1))
        return false;
    base::and_relaxed(aside_[0], ~Hardware::Word(1));
    Hardware::store_relaxed(due_, Hardware::load_relaxed(due_) + 1);
    return true;
}

// More threads than cores that all spin, or yield, keep the one that they wait for off its core.
void VirtualTeam::wait_on_own_thread(unsigned turn, Flag seen)
{
    constexpr unsigned yields = 32, longest_us = 1000;
    if (turn < yields || Hardware::load_relaxed(zero_elsewhere_)) // whose errno may be this thread's meanwhile
        sched_yield();
    else
        base::futex_wait(&sleeps_, seen, std::min(longest_us, 10 * (turn - yields + 1)));
}

void VirtualTeam::wake_own_threads()
{
    Hardware::fetch_add_full(sleeps_, 1);
    base::futex_wake(&sleeps_, FiberCrew::most);
}

// Number 0, by the parked thread whose identity the opener has borrowed for another virtual thread, which waits.
void VirtualTeam::play_zero(void* argument)
{
    VirtualTeam& team = *static_cast<VirtualTeam*>(argument);
    run_as(team.opener_, [](void* its) { static_cast<VirtualTeam*>(its)->play(0, nullptr); }, &team);
    Hardware::store_release(team.zero_elsewhere_, 0); // pairs with play()
}

void VirtualTeam::end_turn(unsigned number, Outcome how)
{
    const Hardware::Word bit = Hardware::Word(1) << number % 64;
    if (how == Outcome::stopped)
        base::or_relaxed(waiting_[number / 64], bit); // relaxed: turns_ follows
    else if (WS_UNLIKELY(how == Outcome::set_aside)) {
        lock_.lock();
        if (Hardware::load_relaxed(own_threads_)) { // since its look in play()
            lock_.unlock();
            crew_[number].identity() ? crew_[number].identity()->wake(play_natively, &crew_[number])
                                     : play(number, crew_[number].unit.carrier);
            return;
        }
        base::or_relaxed(aside_[number / 64], bit);
        Hardware::fetch_add_full(turns_, 1);
        lock_.unlock();
        return;
    }
    // Full: its work comes before; pairs with run_round() and next_round().
    Hardware::fetch_add_full(turns_, 1);
    if (WS_UNLIKELY(Hardware::load_relaxed(own_threads_)))
        wake_own_threads();
}

// By a parked thread, under its own identity.
void VirtualTeam::play_natively(void* argument)
{
    Fiber& fiber = *static_cast<Fiber*>(argument);
    VirtualTeam& team = *fiber.unit.team;
    unsigned number = 0;
    while (&team.crew_[number] != &fiber)
        number++;
    team.play(number, nullptr);
}

// ---- rounds

// An iteration of the loop is the right to one turn. Whose, is said where it is used: one thread does not hold several
// virtual threads that others could run, and the opener begins with number 0, which is its alone.
void VirtualTeam::take_part(void* argument)
{
    VirtualTeam& team = *static_cast<VirtualTeam*>(argument);
    const bool opens = thread_pointer() == team.opener_;
    long lo = 0, hi = 0;
    if (opens)
        Hardware::store_relaxed(team.whole_, 0);
    // Tests leave all of a loop to others, and the call returns when that is done.
    if (WS_UNLIKELY(opens && loop::host().steal_all) && team.take(0))
        team.play(0, &self);
    bool more = loop::next_chunk(&lo, &hi); // before number 0: now the others can be taken by who helps
    if (opens) {
        Hardware::store_relaxed(team.whole_, Flag(more && lo == 0 && hi == long(team.units)));
        if (team.take(0)) {
            team.play(0, &self);
            lo++;
        }
    }
    for (; more; more = loop::next_chunk(&lo, &hi))
        for (; lo < hi; lo++)
            if (const unsigned number = team.take_any(unsigned(lo)))
                team.play(number, &self);
}

void VirtualTeam::run_round(ws_site* loop)
{
    if (WS_UNLIKELY(is_private_ || units == 1)) { // the calling thread's alone
        Hardware::store_relaxed(whole_, 1);
        for (unsigned number = 0; number < units; number++)
            if (take(number))
                play(number, outer_ ? outer_->carrier : &self);
        return;
    }
    const double turn_ticks = loop::peek(loop::learned(loop).unit_ticks);
    order_ = WS_UNLIKELY(units > 2 && turn_ticks > ordered_turn_us * loop::host().ticks_per_us) ? order_of(site, loop)
                                                                                                : nullptr;
    if (own_threads() > 1)
        run_by_own_threads(take_part, this, units, loop);
    else
        ws_parallel_loop(take_part, this, 0, long(units), 1, loop, 0, 0);
    if (order_)
        order_->sort(units);
    if (WS_UNLIKELY(Hardware::load_relaxed(puts_tasks_))) {
        Hardware::store_relaxed(puts_tasks_, 0);
        loop::remember_tasks(loop);
    }
}

void VirtualTeam::wake_all(unsigned word, Hardware::Word those)
{
    for (; those; those &= those - 1) {
        Fiber& fiber = crew_[word * 64 + unsigned(__builtin_ctzl(those))];
        fiber.identity()->wake(play_natively, &fiber);
    }
}

// All that can go on, on their own threads, and number 0 here.
void VirtualTeam::run_own_threads()
{
    const bool zero = take(0);
    for (unsigned word = 0; word < words; word++)
        for (;;) {
            const Hardware::Word now = Hardware::load_relaxed(runnable_[word]);
            if (now && !Hardware::cas_full(runnable_[word], now, 0)) // full: as take()
                continue;
            wake_all(word, now);
            break;
        }
    if (zero)
        play(0, &self);
}

// False: all have ended.
bool VirtualTeam::next_round(ws_site*& loop)
{
    std::unique_lock<base::SpinLock> guard(lock_, std::defer_lock);
    for (unsigned turn = 0;; turn++) { // those on their own threads
        const Flag seen = Hardware::load_acquire(sleeps_);
        if (Hardware::load_acquire(turns_) == Hardware::load_acquire(due_)) { // pairs with end_turn()
            guard.lock();
            if (WS_LIKELY(Hardware::load_relaxed(turns_) == Hardware::load_relaxed(due_)))
                break;
            guard.unlock(); // give_threads() has just let some go on
        } else if (Hardware::load_acquire(own_threads_) && takes_up_zero()) {
            play(0, &self);
            turn = 0;
        }
        if (turn < 100)
            base::cpu_relax();
        else
            base::futex_wait(&sleeps_, seen, 1000);
    }
    Bits* from = aside_;
    if (WS_LIKELY(!has_some(aside_))) {
        if (!has_some(waiting_))
            return false;
        from = waiting_;
        loop = base::load_relaxed(next_);
    } else {
        loop = &site.again;
        if (order_)
            order_->give_up(); // they wait for each other
    }
    unsigned due = 0;
    for (unsigned word = 0; word < words; word++) {
        const Hardware::Word those = Hardware::load_relaxed(from[word]);
        Hardware::store_relaxed(from[word], 0);
        Hardware::store_relaxed(runnable_[word], those); // who takes one is ordered by the loop's opening
        due += unsigned(__builtin_popcountl(those));
    }
    Hardware::store_relaxed(turns_, 0);
    Hardware::store_relaxed(due_, due);
    Hardware::store_relaxed(round_, Hardware::load_relaxed(round_) + 1);
    return true;
}

void VirtualTeam::run()
{
    ws_site* loop = &site.site;
    do {
        if (WS_UNLIKELY(Hardware::load_acquire(own_threads_)))
            run_own_threads();
        else
            run_round(loop);
    } while (next_round(loop));
    if (const Cold* const c = base::load_relaxed(cold_))
        Hardware::fetch_add_full(site.ticks, base::ticks() - c->began); // relaxed would do
}

// ---- what virtual threads call

void VirtualTeam::barrier(Unit& unit, const void* caller)
{
    if (!unit.fiber || units == 1) // nobody else is to come
        return;
    base::store_relaxed(next_, site_after(site, caller));
    unit.fiber->stop(Outcome::stopped);
}

void VirtualTeam::set_aside(Unit& unit)
{
    if (unit.fiber && units > 1)
        unit.fiber->stop(Outcome::set_aside);
    else
        sched_yield();
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
    const std::lock_guard<std::mutex> guard(c.lock);
    const unsigned n = unit.commons++;
    if (c.commons.size() <= n)
        c.commons.resize(n + 1);
    if (!c.commons[n])
        c.commons[n].reset(new char[bytes]());
    return c.commons[n].get();
}

void VirtualTeam::begin_in_turn(Unit& unit, uint64_t n, uint64_t chunk)
{
    unit.way = Unit::Way::in_turn;
    unit.turn.begun = false;
    unit.turn.n = n;
    unit.turn.rounds = pieces_of_loop(n, chunk, unit.units);
}

bool VirtualTeam::next_in_turn(Unit& unit, IterationRange& piece)
{
    Unit::OrderedLoop& t = unit.turn;
    Cold& c = cold();
    const auto over = [&]() -> uint64_t& { // c.lock is held
        if (c.over.size() <= t.loop)
            c.over.resize(t.loop + 1);
        return c.over[t.loop];
    };
    if (t.begun) {
        const std::lock_guard<std::mutex> guard(c.lock);
        over() = t.piece.to;
        t.rounds.first += t.rounds.stride;
    }
    if (t.begun && WS_UNLIKELY(Hardware::load_relaxed(own_threads_))) // relaxed: who is not woken looks again soon
        wake_own_threads();
    if (t.rounds.first >= t.n) {
        unit.way = Unit::Way::pieces;
        unit.has_part = false;
        t.begun = false;
        t.loop++;
        return false;
    }
    piece = t.piece = {t.rounds.first, std::min(t.rounds.first + t.rounds.size, t.n)};
    t.begun = true;
    for (;;) {
        {
            const std::lock_guard<std::mutex> guard(c.lock);
            if (over() == t.piece.from)
                return true;
        }
        set_aside(unit);
    }
}

void VirtualTeam::begin_on_demand(Unit& unit, uint64_t n, uint64_t chunk, Distribution distribution)
{
    unit.way = Unit::Way::on_demand;
    unit.n = n;
    OnDemandLoops& all = cold().on_demand;
    OnDemandLoop& loop = all.after(unit.on_demand ? unit.on_demand->loop() : nullptr);
    if (!unit.on_demand) {
        unit.on_demand = &unit.fiber->on_demand;
        unit.on_demand->begin_region();
    }
    unit.on_demand->begin(loop, n, chunk, distribution, unit.units.lo, units);
}

bool VirtualTeam::next_on_demand(Unit& unit, IterationRange& piece)
{
    OnDemand& mine = *unit.on_demand;
    const auto called_back = [&] {
        return unit.carrier && unit.carrier->mode == loop::Mode::guest && Hardware::load_relaxed(*unit.carrier->recall);
    };
    if (!Hardware::load_relaxed(whole_) &&
        ((mine.has_had_share() && has_some(runnable_)) || WS_UNLIKELY(called_back())) && mine.end_turn())
        set_aside(unit);
    if (mine.next(piece))
        return true;
    unit.way = Unit::Way::pieces;
    unit.has_part = false;
    return false;
}

// ---- for the watchdog

uint64_t VirtualTeam::progress() const
{
    const Cold* const c = base::load_acquire(cold_);
    return Hardware::load_relaxed(round_) * 1000003 + Hardware::load_relaxed(turns_) +
           ((c ? c->on_demand.progress() : 0) << 32);
}

bool VirtualTeam::has_idle() const
{
    return !Hardware::load_relaxed(own_threads_) && (has_some(runnable_) || has_some(aside_));
}

bool VirtualTeam::waits_in_mpi() const
{
    for (unsigned number = 0; number < units; number++)
        if (base::load_relaxed(runners_[number]) > 0 && Hardware::load_relaxed(crew_[number].unit.in_mpi))
            return true;
    return false;
}

unsigned VirtualTeam::runners(int* numbers, unsigned most) const
{
    unsigned count = 0;
    for (unsigned number = 0; number < units && count < most; number++)
        if (const int runner = base::load_relaxed(runners_[number]); runner > 0)
            numbers[count++] = runner;
    return count;
}

void VirtualTeam::give_threads(const char* why)
{
    const std::lock_guard<base::SpinLock> guard(lock_);
    if (Hardware::load_relaxed(own_threads_))
        return;
    site.waits = why;
    Hardware::fetch_add_full(site.stuck, 1);
    Hardware::store_full(own_threads_, 1); // full: who ends a turn from here on wakes the opener
    if (Hardware::load_relaxed(turns_) == Hardware::load_relaxed(due_))
        return; // the next round is theirs
    for (unsigned number = 1; number < units; number++) { // where the opener carries another one, which waits
        if (base::load_relaxed(runners_[number]) <= 0 || crew_[number].unit.carrier_pointer != opener_ ||
            !crew_[number].unit.carrier)
            continue;
        const bool aside = Hardware::load_relaxed(aside_[0]) & 1;
        if (!aside && !take(0))
            continue;
        if (aside) {
            base::and_relaxed(aside_[0], ~Hardware::Word(1));
            Hardware::store_relaxed(due_, Hardware::load_relaxed(due_) + 1);
        }
        Hardware::store_full(zero_elsewhere_, 1); // full: before it runs
        crew_[number].identity()->wake(play_zero, this);
        break;
    }
    for (unsigned word = 0; word < words; word++) {
        const Hardware::Word zero = word == 0; // number 0 is its opener's
        Hardware::Word now;
        do
            now = Hardware::load_relaxed(runnable_[word]);
        while (!Hardware::cas_full(runnable_[word], now, now & zero));
        wake_all(word, now & ~zero);
        const Hardware::Word aside = Hardware::load_relaxed(aside_[word]) & ~zero;
        base::and_relaxed(aside_[word], ~aside);
        Hardware::store_relaxed(due_, Hardware::load_relaxed(due_) + unsigned(__builtin_popcountl(aside)));
        wake_all(word, aside);
    }
}

void note_mpi_wait(bool waits)
{
    if (Unit* const unit = current)
        Hardware::store_relaxed(unit->in_mpi, Flag(waits));
}

} // namespace ws::openmp
