// SPDX-License-Identifier: MIT
//
// A region from its owner's side: open, hand out chunks, publish when a thief is hungry, close. The rest of the runtime
// reaches the loops only through this header.
//
// Without a hungry thief the owner runs privately: no atomic operation, one look at one flag per chunk; a region known
// to be short runs whole. Measured by benchmarks/region_cost.
#pragma once

#include "directive/abi.h"
#include "loop/descriptor.h"
#include "loop/schedule.h"
#include "window/types.h"
#include <cstdint>

namespace ws {

// Counts of one process; regions are the owner thread's alone, guests add theirs atomically.
struct LoopCounters {
    uint64_t regions;        // opened by the owner thread while attached
    uint64_t regions_off;    // run plain: on other threads, or nested
    uint64_t regions_shared; // published
    uint64_t regions_joined; // published and at least one guest ran a chunk
    uint64_t close_wait;     // ticks spent waiting for guests at the end
    uint64_t guest_chunks, guest_iterations, guest_busy; // atomically added by guests; busy in ticks
};

// What the loops need of the runtime around them; filled by mpi/attach before the first region can open.
struct LoopHost {
    Descriptor* descriptor = nullptr;
    Hunger* hunger = nullptr;
    volatile Flag* running_on = nullptr; // told at publish: the owner's CPU
    unsigned ranks = 1;          // of the node
    uint64_t chunk_ticks = 0;    // time a chunk should take
    uint64_t publish_ticks[3] = {}; // publish only what lasts longer, by Hunger::hungry
    uint64_t least_ticks = 0;       // a chunk of a published region should not take less
    uint64_t short_ticks = 0;    // run whole what lasts less
    void (*let_threads_in)(int several) = nullptr; // MPI's, around a published region: guests may call MPI
    void (*make_guests)() = nullptr;               // creates the guests that thieves have asked for
    void (*long_wait)(const char* what) = nullptr; // called now and then while waiting for another process
};

extern LoopHost loop_host;
extern LoopCounters loop_counters;

// What became of the loops that were ever published by this process; for the registry of names, at the end.
void for_each_shared_site(void (*visit)(const char* where, uint64_t regions, uint64_t iterations, uint64_t stolen));

// The calling thread may open regions that are shared; false takes that back.
void set_owner_thread(bool owner);

// True while the calling thread runs loop iterations: it must not lend its core.
bool thread_in_region();

// The calling guest's visit ends after the chunk that it runs now.
void leave_after_chunk();

// A guest's visit: runs the region's body, beginning with the claimed chunk, until the region has no chunk or *recall
// becomes nonzero. Leaves the region. Returns the ticks spent.
uint64_t run_as_guest(Chunk claimed, const volatile Flag* recall);

} // namespace ws
