// SPDX-License-Identifier: MIT
//
// Everything that lies in the node's shared window, and nothing else.
//
//    Node | open[ranks] | lag[ranks] | Row[ranks] | LoadRow[ranks] (window/load_row.h) | Whereabouts[ranks] |
//    Home[cores] | masks[cores] (base/cpus.h) | GuestSlot[cores][ranks] | Lock[] (window/locks.h)
//
// A row belongs to one rank of the node, a row of the core table to one core: the cores 0 .. ranks-1 are those that the
// ranks' own threads compute on, the others are the workers'. Each field says who writes it; fields of different
// writers that are hot lie on different cache lines. All addresses are offsets: every process maps the window where it
// likes.
//
// Invariants while a region is published:
//    sum of the sizes of all claimed chunks + remaining == units of the region
//    joiners(region) == number of guests and workers that have joined and not left yet
#pragma once

#include "loop/descriptor.h"
#include "base/atomics.h"
#include "window/load_row.h"
#include "base/process.h"

namespace ws::window {

// What a rank's core is doing for the lending protocol. See docs/internals/protocol.md for the state diagram.
enum CoreState : base::Flag {
    core_kept = 0,  // the home rank uses it, or burns it waiting
    core_armed = 1, // the home rank is about to lend: senders ring from here on
    core_lent = 2,  // a guest of `tenant` uses it; the home thread sleeps on the state
    core_asleep = 3, // nobody uses it: the home thread found nothing to help with and sleeps on the state
};

// Home::recall by a sender whose CPU is known. Other processes write it, so a thread only compares it with its own CPU.
constexpr base::Flag rung_on = 2;

// Which sends a blocked rank waits for: sends to one rank (1 + its MPI_COMM_WORLD rank), or to several.
enum Awaits : base::Flag { awaits_nobody = 0, awaits_several = ~base::Flag(0) };

enum Occupancy : base::Flag {
    rank_computing = 0,
    rank_blocked = 1, // in an MPI call for longer than the spin
};

// Where a core sits, as hwloc numbers it; -1 where the machine does not say.
struct Place {
    int core, l2, l3, numa, package;
};

// What a thief brings to its guest: a chunk of the region in one of its victim's slots.
struct Lease {
    loop::Chunk chunk;
    base::Flag slot;
};

// A row of the core table: a core that one thread, the home thread, computes on: the rank's own, or a worker.
struct alignas(64) Home {
    // Line 1: lending. Read by every sender to this rank.
    // home: kept->armed->lent or asleep, back to kept; guest: lent->kept; who wakes: asleep->kept
    volatile base::Flag state;
    // the home rank, and its guests' owner when it closes: 1; senders (ring): rung_on + the CPU that they run on; home:
    // 0 before arming
    volatile base::Flag recall;
    volatile base::Flag tenant; // home, before lending: the node rank that uses the core; its own otherwise
    volatile base::Flag rings;  // senders: how often recall was set by a doorbell
    Lease lease;          // home, before lending: what the guest begins with
    uint64_t lent_at;     // home: ticks when it lent
    // guest, before it stores kept; worker, after chunks of its own rank: ticks. Relaxed: with what follows it
    volatile base::Hardware::Word returned_at;
    // other threads of the rank that sleep in MPI: how many, by themselves; and what they sleep on, raised by senders
    volatile base::Flag threads_asleep, thread_bell;

    // Line 2: read by ranks that share cores with this one.
    alignas(64) volatile base::Flag occupancy; // home
    volatile base::Flag awaits;                // home, while blocked: the rank that its sends wait for (see Awaits)
    // home: ticks of its last MPI_Test or the like in vain, under -workshare-poll
    volatile base::Hardware::Word looked_at;
    volatile base::Flag running_on;            // home: the CPU it last said it was on
    // home: how long a return takes, from the guest's store until the home thread goes on
    volatile base::Flag return_ticks;
    volatile base::Flag came_ticks; // guest: how long the way to it took, from lent_at on
    // the user of the core: arbiter/cores.h. Writers: processes that begin or end to use it, by compare-and-swap
    volatile base::Hardware::Word use;

    // Lines 3..: constant after attach.
    alignas(64) unsigned rank; // of the node, that it belongs to
    base::ProcessId process;
    int world_rank;
    Place place;
};

// How much a thief wants work. Waking a guest pays for a short region only if the guest stays for the next ones; and a
// thief that has waited for long will most likely go on waiting.
enum Hungry : base::Flag {
    not_hungry = 0,
    asleep_hungry = 1, // only sleepers: they must be woken, and then wake a guest
    newly_hungry = 2,  // blocked for a moment only
    long_hungry = 3,   // blocked for longer, or a worker or a lingering guest in the owner's own process
};
constexpr unsigned hungry_levels = 4;

struct alignas(64) Hunger {
    volatile base::Flag hungry; // thieves and guests: raise it; home: lowers it. The one flag that an owner looks at
    volatile base::Flag wanted; // thieves: 1 when a guest is missing, home: 0
};

// Regions that one rank can have open at once: one a thread.
constexpr unsigned max_slots = 8;

struct alignas(64) Row {
    loop::Descriptor loops[max_slots];
    Hunger hunger;
};

// Calls of Workshare's own that end when all processes of a communicator have made them. MPIX: all functions.
enum class Together : unsigned {
    tasks_create,
    tasks_run,
    tasks_free,
    get_wsize,
    monitor_end,
    partition_free,
    resize,
    set_comm,
    mpix
};
constexpr unsigned kinds_of_together = 9;

// What a rank says of where it is, for a rank that has waited for it for long. Relaxed: each word is true by itself.
struct alignas(64) Whereabouts {
    // threads that are in these calls: by themselves, by atomic additions
    volatile base::Flag inside[kinds_of_together];
    // home: the MPI function that it has waited in for some time, ended by a 0; 0 in front: in none
    volatile base::Hardware::Word call[4];
};

// The guest that runs in `owner`'s process on a core.
enum GuestState : base::Flag {
    guest_none = 0,
    guest_wanted = 1,   // the thief has asked
    guest_starting = 2, // its thread is made, once
    guest_ready = 3,    // it listens
    guest_refused = 4,  // the system gave no thread
    guest_away = 5,     // it waits in MPI, beside the thief whose core it has given back
};
struct GuestSlot {
    volatile base::Flag state; // thief: none->wanted; owner's process: the rest
    volatile base::Flag knock; // thief: +1 for each lease; the guest sleeps on it
};

constexpr unsigned max_policies = 8;

struct alignas(64) Node {
    uint32_t ranks;
    uint32_t cores;         // rows of the core table
    uint32_t cpus;          // in the union of all masks
    volatile base::Flag sleepers; // home threads: how many of them sleep (core_asleep)
    volatile base::Flag said_missing; // 1: a process has named the ranks that others wait for
    int32_t book_pid, book_fd; // where rank 0 has the node book (book/book.h), before the others ask; 0: nowhere
    // Home threads: how many cores have their `awaits` set. Read by who receives.
    alignas(64) volatile base::Flag senders_waiting;
    // Which rank decides for a policy on this node. Candidates: see arbiter/decider.h.
    alignas(64) volatile base::Hardware::Word deciders[max_policies];
};

// How much later a rank would be now without stealing, in ticks; or, while it waits, when it would have come to that
// wait, with a mark.
constexpr base::Hardware::Word lag_of_waiter = base::Hardware::Word(1) << 63;
inline base::Hardware::Word lag_now(base::Hardware::Word lag, uint64_t now)
{
    const base::Hardware::Word came = lag & ~lag_of_waiter;
    return !(lag & lag_of_waiter) ? lag : came > now ? came - now : 0;
}

constexpr unsigned max_node_cores = loop::Descriptor::max_joiners;

} // namespace ws::window
