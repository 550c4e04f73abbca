// SPDX-License-Identifier: MIT
//
// A region from its owner's side: open, hand out chunks, publish when a thief is hungry, close. The rest of the runtime
// reaches the loops only through this header.
//
// Without a hungry thief the owner runs privately: no atomic operation, one look at one flag per chunk; a region known
// to be short runs whole. Measured by benchmarks/region_cost.
#pragma once

#include "abi/abi.h"
#include "loop/descriptor.h"
#include "loop/schedule.h"
#include "observe/board.h"
#include "window/types.h"
#include <cstddef>
#include <cstdint>

namespace ws::measure {
class Meter;
}

namespace ws::loop {

using base::Flag;

struct Slots; // open_region.h

// A user's choice for schedule(runtime).
struct RuntimeSchedule {
    ws_schedule kind = WS_AUTO;
    long chunk = 0; // 0: none given
};

class Checks; // checks.h

// What the loops of a rank ask of who lends its core and takes others' (lend/rank.h).
class Lending {
public:
    virtual bool somebody_waits() const = 0; // asked, as the flag of hunger may still be raised for a wait that is over
    virtual void make_guests() = 0;          // creates the guests that thieves have asked for
    virtual void wake() = 0;                 // a region was published that is worth waking sleepers for
    virtual void long_wait(const char* what) = 0; // called now and then while waiting for another process
    // The calling thread waits for something outside of MPI: said by the program, or a call that takes long perhaps.
    // False: its core is not lent meanwhile. Otherwise the same thread says when that is over.
    virtual bool wait_begins(observe::Outside what, bool declared) = 0;
    virtual void wait_ends() = 0;

protected:
    ~Lending() = default;
};

// What the loops of a rank need of the runtime around them; filled by mpi/attach before the first region can open. A
// process has one, but in tests, which play several ranks: there a thread is of the rank that it has joined.
struct alignas(64) LoopHost {
    constexpr explicit LoopHost(Slots& slots) : slots(&slots) {}
    Slots* slots;                        // of the regions that it can have open
    // On this first cache line: what each region reads (open_whole()).
    window::Row* row = nullptr;          // this rank's; null: not attached
    uint64_t short_ticks = 0;            // run whole what lasts less
    // And this, in ticks, while it is not to be shared.
    double whole_at_pause() const { return 10 * double(short_ticks); }
    uint64_t publish_ticks[window::hungry_levels] = {}; // publish only what lasts longer, by Hunger::hungry
    volatile Flag* open = nullptr; // this rank's Window::open
    volatile Hardware::Word* lag = nullptr; // this rank's Window::lag
    volatile Flag* sleepers = nullptr; // the node's
    volatile Flag* running_on = nullptr; // told at publish: the owner's CPU
    unsigned participants = 1;   // cores of the node: who can take part in a region
    bool has_workers = false;
    volatile Flag shares = 1;    // regions may be published: let_share()
    bool any_thread = false;     // any thread may own regions, not only the one that called MPI_Init
    // To test loops and the runtime itself:
    Checks* checks = nullptr;    // there if any of the following is set
    bool share_all = false;      // every region of more than one unit is published, also unasked
    bool steal_all = false;      // and owners leave every chunk to thieves
    bool check = false;          // or take another order at each execution,
    uint64_t first_order = 0;    // beginning with this one of them
    double ticks_per_us = 1000;
    size_t stack_bytes = 0;      // of a stack that bodies run on (stack.h): what the user wants, or 0
    uint64_t chunk_ticks = 0;    // time a chunk should take
    uint64_t least_ticks = 0;       // a chunk of a published region should not take less
    uint64_t calm_ticks = 0;        // run whole what lasts less, where nobody has come for long: remember_calm()
    RuntimeSchedule schedule, steal_schedule; // what schedule(runtime) and steal_schedule(runtime) mean
    void (*let_others)() = nullptr;  // by a thread of a team that waits for the others; null: they run by themselves
    Lending* lending = nullptr;
    observe::Board* board = nullptr;
    measure::Meter* meter = nullptr;
    void (*let_threads_in)(int several) = nullptr; // MPI's, around a published region: guests may call MPI
    void (*end_job)() = nullptr; // does not return; after a message
    void (*leave_job)() = nullptr; // in a copy of this process: it is no rank
};

// Whether a participant may be given later iterations of a loop before earlier ones: nothing depends on which is the
// last, and no schedule is static, under which each thread's iterations rise, as OpenMP's do.
inline bool has_free_order(const ws_site* site, const LoopHost& host)
{
    const auto rises = [](uintptr_t written, const RuntimeSchedule& user) {
        return ((written & 255) == WS_RUNTIME ? user.kind : ws_schedule(written & 255)) == WS_STATIC;
    };
    return (site->kinds & WS_SITE_ANY_ORDER) && !rises(site->kinds, host.schedule) &&
           !rises(site->kinds >> 8, host.steal_schedule);
}

// The calling thread is one of this rank's from now on. Threads that never call it are of the process's only rank.
void join(LoopHost& host);

// The calling thread owns regions from now on, in slot 0. Once, after its host is filled.
void set_owner_thread();
// From now on no region is published. Returns when all that other threads have published are over. The calling thread
// must be in none.
void stop_sharing();

// Whether regions that begin from now on may be published; tests of loops publish them all the same. By the home
// thread, in no region.
void let_share(bool on);

// In a child of fork(): its loops are not shared. In a region that was shared when it was forked the calling thread can
// finish its iteration, but go no further.
void stop_sharing_in_child();

// True while the calling thread runs loop iterations: it must not lend its core.
bool thread_in_region();

// The calling guest's visit ends after the chunk that it runs now.
void leave_after_chunk();
// By the owner, in a loop whose iterations are turns: nobody is given another one.
void end_turns();

// A guest's or a worker's visit: runs the body of the region in the lease's slot, beginning with the claimed chunk,
// until the region has no chunk, *recall becomes nonzero or what is left takes less than `way_home` ticks: then the
// thief has its core back when the owner is done and wants to meet it in MPI. Leaves the region. `stayed`: it has
// lingered since an earlier region.
struct GuestPart {
    uint64_t chunks; // that it ran
    uint64_t ended;  // ticks before it left: after that the owner may go on, and with it the thief
};
GuestPart run_as_guest(const window::Lease& lease, const volatile Flag* recall, uint64_t way_home, bool stayed = false);

} // namespace ws::loop
