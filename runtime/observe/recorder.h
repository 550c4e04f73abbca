// SPDX-License-Identifier: MIT
//
// Records what the threads of a rank do, for the timeline, in memory of a fixed size. A thread writes into a log of its
// own, without atomic operations; the logs are read when all is over (mpi/trace). Off, it costs a look at one flag.
#pragma once

#include "observe/board.h"
#include "base/os.h"
#include <vector>

namespace ws::observe {

enum class EventKind : uint16_t {
    mpi = 1, // home, other threads: an outermost MPI call; id: row of the board's calls
    lent,    // home, worker: its core, from the lease to its return; id: world rank of the tenant
    asleep,  // home, worker: without work; a: 1 if somebody ended it
    // guest: iterations of this rank on the core of world rank `id`; a: row of the loop; b: latency of the steal in
    // ticks, or 0 if the guest had stayed on the core since an earlier visit
    visit,
    chunk,   // any: id: row of the loop; a, b: first iteration and the one behind the last, counted from 0
    // owner: id: row of the loop; a: iterations; b: 1 if it was shared, 2 if it ran whole and has no chunks here
    region,
    phase,   // home: a phase of the program; id: row of the board's phases; a: its level, or named_phase
    parallel, // home: a parallel region of OpenMP whose threads a policy chose; a: how many; b: of them on lent cores
    rows,    // home: XMPI moves rows; a: of all processes; b: bytes that this one sends and receives
    // home, other threads: tasks go to world rank `id`, or came from it; a: how many; b: 2 * n to go, 2 * n + 1 to
    // come, where n is the number of the letter that they are in, of its sender
    tasks,
};

// Times in ticks. In the order of their ends.
struct Event {
    uint64_t begin, end;
    EventKind kind;
    uint16_t spare;
    uint32_t id;
    uint64_t a, b;
};

// A thread's events. Memory is taken as it is filled.
struct EventLog {
    SeatKind kind;     // none: another thread of the program
    unsigned core;     // row of the node's core table that it runs on; home's for other threads of the program
    Event* events;
    uint64_t capacity;
    uint64_t written;  // all that there were; those beyond `capacity` replaced the oldest, or were dropped
    bool keep_oldest;
    bool grows = false; // `capacity` may still become more

    uint64_t dropped() const { return written > capacity ? written - capacity : 0; }
    uint64_t kept() const { return written < capacity ? written : capacity; }
    // The i-th of the kept ones.
    const Event& kept_event(uint64_t i) const
    {
        return events[keep_oldest || written <= capacity ? i : (written + i) % capacity];
    }
};

extern bool recording;

// Called before any thread records. Half of `bytes` is for the home thread and the workers in equal parts, a quarter
// for the guests in equal parts, and a quarter for other threads of the program, as they need it. These are shown on
// the core of their rank, `node_rank`.
void start_recording(uint64_t bytes, unsigned own_threads, unsigned guests, unsigned node_rank, bool keep_oldest);
// Gives the calling thread's log this kind and core. Without this call it counts as another thread of the program.
void record_as(SeatKind kind, unsigned core);
void record(EventKind kind, uint64_t begin, uint64_t end, uint32_t id, uint64_t a = 0, uint64_t b = 0);

// All logs, when no thread records any more.
const std::vector<EventLog*>& event_logs();
// No thread may record after this.
void stop_recording();

} // namespace ws::observe
