// SPDX-License-Identifier: MIT
//
// A virtual thread's flow of control: its stack, the identity that it borrows (identity.h), and its Unit. It can stop
// in the middle, and go on later on another thread of this process, as the same thread to all that the program can see.
//
// Begin, stop and go on take some 60 ns with the change of the identity, 25 ns without. The floating-point control
// words go along, as do all registers that a function keeps.
#pragma once

#include "loop/participant.h"
#include "openmp/shared/identity.h"
#include "openmp/shared/looks.h"
#include "openmp/shared/on_demand.h"
#include "openmp/shared/unit.h"

#include <cstdint>

namespace ws::openmp {

class Fiber {
public:
    // Number 0 has a stack alone, and the identity of the thread that opens the region, which is the only one to run
    // it. Null: no memory, or no thread.
    static Fiber* make(unsigned number);
    // One that has ended, or was never begun. Its memory and its thread are the system's again.
    static void end(Fiber* fiber);

    // The next resume() calls run(this).
    void begin(void (*run)(Fiber&));
    // Runs it on the calling thread until it stops or has ended, and returns how it came back.
    enum class Outcome : uint8_t { ended, stopped, set_aside };
    Outcome resume();
    // To be called by what it runs: `stopped` or `set_aside`.
    void stop(Outcome how);

    // Called by what it runs, on its identity. From here on the end of that thread within a region is noticed
    // (pthread_exit, pthread_cancel): the region would wait for it for ever.
    void watch_end();

    // Null: that of the thread which opens the region.
    Identity* identity() const { return identity_; }

    Unit unit;
    OnDemand on_demand; // what the unit's points to

private:
    Fiber() = default;
    struct Entry;
    void* context_; // of the fiber while it does not run, of who resumed it while it does
    void (*run_)(Fiber&);
    Outcome outcome_;
    Identity* identity_ = nullptr;
    bool has_begun_ = false, is_watched_ = false;
    loop::Participant own_; // of number 0, which shares its opener's identity
    uintptr_t lowest_, highest_, guard_;
};

// The virtual threads that the regions of one thread have: number n is the same one in each of its regions, so that its
// thread-private variables keep their values.
class FiberCrew {
public:
    // The calling thread's, or virtual thread's if that has an identity of its own. Null: no memory.
    static FiberCrew* own();
    // For regions that number 0 of its regions opens, which has no other identity than their opener.
    FiberCrew* inner();
    // Makes the missing ones of the first `count`, all or none of them; returns whether there are `count` now. If the
    // system refuses one, those made before it are ended, because OpenMP needs their threads and memory for the region.
    bool fill(unsigned count);
    Fiber& operator[](unsigned number) { return *fibers_[number]; }
    unsigned count() const { return count_; }
    // Ends all, and makes no others. While none of its regions is open.
    void give_up();

    // The watchdog's: the region that is open, and its look at it. A region that ends waits for the look.
    class VirtualTeam* volatile open = nullptr;
    volatile Flag looked_at = 0;
    volatile Hardware::Word regions = 0; // begun so far
    FiberCrew* next = nullptr;                // of all
    Looks looks;

    static constexpr unsigned most = 256;

private:
    Fiber* fibers_[most] = {};
    unsigned count_ = 0;
    bool refused_ = false;
    FiberCrew* free_ = nullptr; // whose threads have ended
    FiberCrew* inner_ = nullptr;
    static FiberCrew* make();
    friend void give_back(void*);
};

// All of them; they stay. Any thread.
FiberCrew* all_crews();

} // namespace ws::openmp
