// SPDX-License-Identifier: MIT
//
// A virtual thread's flow of control, with a stack of its own: it can stop in the middle, and go on later on another
// thread of this process. So code that runs on one must not keep what belongs to a thread over a stop (the address of
// errno, of a thread-local variable); site.cpp says whose regions do not.
//
// Begin, stop and go on cost some ten nanoseconds; the floating-point control words go along, as do all registers that
// a function keeps. The mask of signals stays the thread's.
#pragma once

#include "openmp/unit.h"

#include <cstdint>

namespace ws::openmp {

struct Series;

class Fiber {
public:
    // Null: no memory for its stack. Any thread. Stacks that were given back are used again.
    static Fiber* take();
    static void give_back(Fiber* fiber);

    // The next resume() begins this.
    void begin(void (*run)(void*), void* argument);
    // Runs it on the calling thread until it stops or ends. True: it has ended.
    bool resume();
    // To be called by what it runs.
    void stop();

    Unit unit;
    OnDemand on_demand; // what the unit's points to
    unsigned stands_for; // so many virtual threads of the phase: the unit's, and one from its first stop on
    Series* series;     // what it runs after the unit; null: nothing, as it has stopped, or is one that runs alone

private:
    Fiber() = default;
    static Fiber* make();
    struct Entry;
    void* context_; // of the fiber while it does not run, of who resumed it while it does
    void (*run_)(void*);
    void* argument_;
    bool ended_;
    uintptr_t lowest_, guard_; // its stack ends at this object
    Fiber* next_;              // free ones
};

} // namespace ws::openmp
