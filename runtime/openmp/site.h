// SPDX-License-Identifier: MIT
//
// A parallel region in the program, known by its function: what its executions have shown, and whether it is shared.
// The first ones run under OpenMP itself, as many threads as a shared one has, and are watched: which of the library's
// functions the region calls. Only a region all of whose calls are known to be right for virtual threads is shared.
#pragma once

#include "directive/abi.h"
#include "directive/openmp_threads.h"
#include "openmp/on_demand.h"
#include "window/atomics.h"

#include <cstdint>
#include <string>

namespace ws::openmp {

using window::Flag;
using window::Hardware;

// What a region has been seen to do.
namespace use {
constexpr Flag
    pair = 1,     // asks for both numbers, as GCC's code does to deal a static loop
    loop = 2,     // has the library deal a loop
    far = 4,      // does so only after other work
    numbers = 8,  // asks for thread numbers in another way: the program may keep them
    barrier = 16, // its threads wait for each other, and not just at its end
    nested = 32,  // opens another region
    single = 64,  // has one thread do something
    unknown = 128, // calls what is not known to be right
    counts = 256, // asks itself how many threads there are
    tasks = 512;  // has the library deal work that is not shared: tasks, loops whose iterations have an order
}

enum class State : Flag { watched, shared, own };

struct alignas(64) RegionSite {
    ws_site site; // as the loop over its virtual threads
    const void* function;
    const void* code;         // of the function
    volatile Flag state;
    volatile Flag uses;
    volatile Flag executions; // that were watched
    const char* volatile why; // it is OpenMP's
    bool may_be_lent;    // where it is OpenMP's, nobody minds how many threads it has
    const char* volatile passed; // why an execution was, without any look at it
    volatile bool spins; // its threads wait for each other by spinning
    bool free;     // nobody can tell how many virtual threads there are: any number will do
    bool ranges;   // and one call can be several of them
    volatile bool stops; // they wait for each other: in phases
    bool keeps_thread;   // code with barriers refers to errno, which belongs to a thread
    bool first_time;     // it was shared before it was ever run: `longest` is a guess
    unsigned units;
    double setup;  // ticks that each spends before its part of the work
    double longest; // ticks that an execution took; where it is OpenMP's: about so many, in one thread
    Slopes slopes; // of its loops whose chunks go to whoever asks
    volatile Flag short_ones; // executions by OpenMP for which nobody was asked for a core, or seldom
    struct Phase* volatile phases[128]; // after a barrier, found by where that is

    State now() const { return State(Hardware::load_acquire(state)); } // pairs with settle() and give_up()
};

// Any thread. Null: no memory, or more regions than are kept.
RegionSite* find_site(const void* function);

// After a watched execution that took so many ticks, and met so many barriers: decides whether the site is shared from
// now on.
void settle(RegionSite& site, double ticks, unsigned barriers);
// After the first execution of one that was shared at once, which took so many ticks.
void settle_first(RegionSite& site, double ticks);
// After an execution of one whose virtual threads stop, that had `units` of them and so many phases: the next ones have
// fewer where phases are short. A watched execution shows them longer, as its threads are woken at each barrier.
void settle_phases(RegionSite& site, unsigned units, double ticks, unsigned phases);
// From now on it is OpenMP's.
void give_up(RegionSite& site, const char* why);
// What became of this process's regions, for the verdict: how many are shared, and why others are not; empty where the
// mode is off.
std::string tell_regions();
// What follows the barrier that returns to this address.
struct Phase {
    ws_site site; // as the loop over the virtual threads
    const void* barrier;
    bool may_stop; // who stops there may go on on another thread
};
// Null: no memory, or more than are kept.
Phase* phase_after(RegionSite& site, const void* barrier);
// How many virtual threads the next execution has, of which the program knows of no more than `told`; exactly so many
// if it has said so itself.
unsigned units_of(RegionSite& site, unsigned told, bool said);

} // namespace ws::openmp
