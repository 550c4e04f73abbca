// SPDX-License-Identifier: MIT
//
// Everything that lies in the node's shared window, and nothing else.
//
//    Node | Row[ranks] | GuestSlot[ranks][ranks] | Lock[] (window/locks.h) | registry (Boost.Interprocess)
//
// A row belongs to one rank of the node. Each field says who writes it; fields of different writers that are hot lie on
// different cache lines. All addresses are offsets: every process maps the window where it likes.
//
// Invariants while a region is published:
//    sum of the sizes of all claimed chunks + remaining == units of the region
//    joiners(owner) == number of cores that are lent to the owner and whose guest has not left yet
#pragma once

#include "loop/descriptor.h"
#include "window/atomics.h"
#include <sched.h>
#include <sys/types.h>

namespace ws {

using Flag = Hardware::Flag;

// What a rank's core is doing for the lending protocol. See docs/protocol.md for the state diagram.
enum CoreState : Flag {
    core_kept = 0,  // the home rank uses it, or burns it waiting
    core_armed = 1, // the home rank is about to lend: senders ring from here on
    core_lent = 2,  // a guest of `tenant` uses it; the home rank sleeps on the state
};

enum Occupancy : Flag {
    rank_computing = 0,
    rank_blocked = 1, // in an MPI call for longer than the spin
};

// Where a core sits, as hwloc numbers it; -1 where the machine does not say.
struct Place {
    int core, l2, l3, numa, package;
};

// A row of the core table: the core that a rank computes on.
struct alignas(64) Core {
    // Line 1: lending. Read by every sender to this rank.
    volatile Flag state;  // home: kept->armed->lent, armed->kept; guest: lent->kept
    volatile Flag recall; // senders (ring) and home: 1; home: 0 before arming
    volatile Flag tenant; // home, before lending: the node rank that uses the core; itself otherwise
    volatile Flag rings;  // senders: how often recall was set by a doorbell
    Chunk lease;          // home, before lending: the chunk that the guest brings along
    uint64_t lent_at;     // home: ticks when it lent

    // Line 2: read by ranks that share cores with this one.
    alignas(64) volatile Flag occupancy; // home
    volatile Flag running_on;            // home: the CPU it last said it was on

    // Lines 3..: constant after attach.
    alignas(64) pid_t pid;
    int world_rank;
    cpu_set_t mask; // where a guest on this core may run
    Place place;
};

// How much a thief wants work: waking a guest pays for a short region only when it stays for the next ones, and who has
// waited long will most likely go on waiting.
enum Hungry : Flag {
    not_hungry = 0,
    newly_hungry = 1, // blocked since a moment
    long_hungry = 2,  // blocked for longer, or a guest that lingers in the owner's own process
};

struct alignas(64) Hunger {
    volatile Flag hungry; // thieves and guests: raise it; home: 0. The one flag that an owner looks at
    volatile Flag wanted; // thieves: 1 when a guest is missing, home: 0
};

struct alignas(64) Row {
    Descriptor loop;
    Hunger hunger;
    Core core;
};

// The guest that runs in `owner`'s process on `thief`'s core.
enum GuestState : Flag {
    guest_none = 0,
    guest_wanted = 1,   // the thief has asked
    guest_starting = 2, // its thread is made, once
    guest_ready = 3,    // it listens
    guest_refused = 4,  // the system gave no thread
    guest_away = 5,     // it waits in MPI, beside the thief whose core it has given back
};
struct GuestSlot {
    volatile Flag state; // thief: none->wanted; owner's process: the rest
    volatile Flag knock; // thief: +1 for each lease; the guest sleeps on it
};

struct alignas(64) Node {
    uint32_t ranks;
    uint32_t cores; // cores in the union of all ranks' masks
};

constexpr size_t registry_bytes = 64 * 1024;
constexpr unsigned max_node_ranks = Descriptor::max_joiners;

} // namespace ws
