// SPDX-License-Identifier: MIT
//
// Virtual threads that wait for each other: each gets a thread of its own. And what else few regions need.
#include "openmp/team_cold.h"

#include "loop/participant.h"
#include "openmp/fiber.h"
#include "window/times.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ws::openmp {

using window::ticks;

void refuse(const RegionSite& site, const char* what)
{
    std::fprintf(stderr, "workshare: %s: %s: run without -workshare-openmp\n", site.site.where, what);
    std::exit(1);
}

struct BegunThread {
    VirtualTeam* team;
    unsigned lo, hi;
};

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
