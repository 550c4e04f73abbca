// SPDX-License-Identifier: MIT
//
// What a process of a -workshare job shows of itself while it runs: the one set of counters behind the verdict, the
// report, ws-top and MPI_T. A file without a name (memfd_create) that other processes of the same user find in
// /proc/PID/fd as "/memfd:workshare-board" and map read-only; it goes with the last that has it mapped, so nothing can
// be left behind.
//
//    Board | Seat[seats] | LoopRow[loop_rows] | CallRow[call_rows] | PhaseRow[phase_rows]
//
// Plain data, the same for all compilers of a machine; offsets from the start of the file stand in the head. Every word
// has one writer at a time and is written by plain moves, so a reader sees values that were true a moment ago, though
// not all of the same moment. Times are ticks of the processor's counter (base/os.h), which the cores of a node share:
// a reader on the node may compare them with its own. Counters only grow.
//
// Readers from other processes (tools/top) must check `magic`, `version` and `bytes` first.
#pragma once

#include "observe/counters.h"
#include "base/atomics.h"
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace ws::observe {

using base::Flag;
using base::Hardware;

constexpr char board_name[] = "workshare-board";
constexpr uint64_t board_magic = 0x6472616f42207357; // "Ws Board"
constexpr uint32_t board_version = 5;

// What a thread's core is used for, seen from that thread.
enum class Seated : Flag {
    nobody = 0,    // no thread has taken this seat
    computing = 1, // home: in the program, or in MPI not for long; worker: helps its own rank
    blocked = 2,   // home: in the MPI call `call`; worker: without work
    lent = 3,      // as blocked, and its core is used by rank `other`
    asleep = 4,    // as blocked, and it sleeps for lack of work
    visiting = 5,  // guest: runs iterations of this rank on the core of rank `other`
    away = 6,      // guest: without a core
};

// What a rank waits for outside of MPI: what the program says by ws_wait_begin(), a GPU, a file or a socket.
enum class Outside : unsigned { program, gpu, io, kinds };

enum class SeatKind : Flag { none = 0, home = 1, worker = 2, guest = 3 };

// Why a blocked thread did not steal when it looked. Counted once for each time that the answer changes in a wait.
enum class Refusal : unsigned {
    nothing_shared, // some rank of the node computed, but in no region that could be shared
    no_guest,       // the owner had not made a guest for this core yet
    core_taken,     // other ranks, or other jobs, compute on the core
    all_wait,       // every rank of the node was waiting
    lost_race,      // others claimed the rest first
    too_little,     // what was left takes less than a hand-over
    barred,         // the owner may not use this core, or was given no thread
    full,           // as many took part as can join a region: Descriptor::max_joiners
    kinds
};
constexpr unsigned refusal_kinds = unsigned(Refusal::kinds);

// Counters of a thread that lends (home, worker).
struct LendCounters {
    WS_RANK_COUNTERS(WS_WORD, WS_WORD, WS_NO, WS_NO, WS_NO, WS_NO)
    uint64_t refused[refusal_kinds];       // by reason, see Refusal
    uint64_t refused_ticks[refusal_kinds]; // from one look to the next, by what the first said
};

// For a thread that runs iterations of this rank on another core (guest, worker). The time is added when its part in a
// region is over; a reader adds the time since Seat::since.
struct VisitCounters {
    WS_RANK_COUNTERS(WS_NO, WS_NO, WS_WORD, WS_NO, WS_NO, WS_NO)
};

// Latencies by powers of two: bucket i counts those of [2^i, 2^(i+1)) ns, the first all below, the last all above.
constexpr unsigned latency_buckets = 32;

// A thread that this rank can have on a core. Writer: that thread.
struct alignas(64) Seat {
    volatile Flag kind;  // SeatKind
    volatile Flag core;  // row of the node's core table
    volatile Flag state; // Seated
    volatile Flag call;  // row of the MPI call that it waits in; no_row if unknown
    volatile Flag other; // MPI_COMM_WORLD rank, see Seated
    volatile Flag loop;  // guest: row of the loop that it works on
    volatile uint64_t since; // when the state began; of a visiting guest: its part in the present region, 0 between two
    // Home: when the present wait began, which blocked_ticks gets only at its end; 0: it is in none. A reader adds the
    // time since then, and in the states lent and asleep the time since `since`.
    volatile uint64_t waits_since;
    LendCounters lend;
    VisitCounters visit;
    // Guests and workers: from the claim by the thief to the guest's first iteration.
    uint64_t steal_latency[latency_buckets];
    // Homes and workers: from the guest's last iteration until the thief goes on.
    uint64_t return_latency[latency_buckets];
};
constexpr Flag no_row = ~Flag(0);

// A `ws for` of the source. Written by atomic additions, except the first line behind the name: owner threads add to
// it by plain moves, and may lose counts to each other where several run one loop at once, as they may lose the longest
// chunk.
struct alignas(64) LoopRow {
    char name[192]; // its end if it is longer; empty: no such row yet
    WS_LOOP_COUNTERS(WS_VOLATILE_WORD, WS_NO)
    volatile Flag phase; // 1 + the row of the phase in which it ran; 0: not known; in_several: in several. If observed
};
constexpr Flag in_several = ~Flag(0);
constexpr unsigned loop_rows = 1024; // the last stands for all loops that found no row

// An MPI function of the program. Writer: the home thread, except calls and time (any thread, atomic additions).
struct CallRow {
    char name[40];
    WS_CALL_COUNTERS(WS_VOLATILE_WORD)
};
constexpr unsigned call_rows = 256;

// A phase of the program: a path of names, of which this is the last. The first row is the run itself: the time in no
// phase. Writer: the home thread. Counters are the phase's own: what phases inside it count is in their rows.
struct alignas(64) PhaseRow {
    char name[112]; // its beginning if it is longer; of the first row empty
    volatile int32_t parent; // row, lower than this one's; of the first row no_parent
    volatile uint32_t spare;
    volatile int64_t level;  // of MPI_Pcontrol; named_phase if it is none
    WS_PHASE_COUNTERS(WS_VOLATILE_WORD, WS_NO)
    volatile int64_t lag_ticks; // see Board::lag_ticks; may be below 0
    volatile uint64_t refused[refusal_kinds], refused_ticks[refusal_kinds]; // as in LendCounters
};
constexpr unsigned phase_rows = 16384; // the last stands for all phases that found no row
constexpr int32_t no_parent = -1;
constexpr int64_t named_phase = INT64_MAX;
constexpr char other_phases[] = "(other phases)";

// Sums over rows, kept besides these, because a phase that begins cannot look at all rows. Added atomically, when a
// visit or an execution is over. Loops and executions: only if observed.
struct alignas(64) Sums {
    volatile uint64_t borrowed_ticks; // of visits
    volatile uint64_t close_wait_ticks, loops_ticks, executions, executions_shared, executions_helped,
        iterations_stolen; // of loops
};

// Counters of the whole process, added atomically.
struct ProcessCounters {
    WS_RANK_COUNTERS(WS_NO, WS_NO, WS_NO, WS_WORD, WS_NO, WS_NO) // mpi only in a run with report or trace
};

struct alignas(64) Board {
    uint64_t magic;
    uint32_t version;
    uint32_t head_bytes; // sizeof(Board)
    uint64_t bytes;      // of the whole file
    uint64_t job;        // the same in all processes of a job, hardly ever in two jobs
    int32_t pid, rank, size, node_rank, node_ranks;
    int32_t node;        // number of the node within the job, from 0
    uint32_t node_cores; // rows of the node's core table: the ranks' own cores first
    uint32_t own_workers, first_worker; // of this rank, and the row of their first core
    uint32_t node_cpus;  // that its node's ranks may use, all together; 0: not known
    double ticks_per_us;
    uint64_t attached_at;      // ticks
    int64_t attached_at_unix;  // ns since 1970, of the same moment
    volatile uint64_t ended_at; // ticks, when MPI_Finalize is nearly over; 0 before
    // how much later the rank would be without stealing, as estimated: docs/reference/report.md
    volatile uint64_t lag_ticks;
    volatile Flag observed;    // 1: with report or trace, so that all regions and MPI calls are timed
    volatile Flag inactive;    // the rank runs without stealing (mpi/job.h says why)
    volatile Flag phase;       // row of the present phase
    volatile Flag phases_made; // rows of phases that were taken, in their order
    volatile Flag rings; // not kept here: see Home::rings
    char host[64], program[256], options[256];
    uint32_t seats, seat_bytes, loop_row_count, loop_row_bytes, call_row_count, call_row_bytes, phase_row_count,
        phase_row_bytes;
    uint64_t seats_at, loops_at, calls_at, phases_at; // offsets

    ProcessCounters process;
    Sums sums;
    unsigned loops_made; // rows of loops that were taken: atomically added
    // The seat of the home thread is the first, then the workers', then one for a guest on each core of the node's
    // table.
    Seat& seat(unsigned i) { return reinterpret_cast<Seat*>(at(seats_at))[i]; }
    Seat& guest_seat(unsigned core) { return seat(1 + own_workers + core); }
    LoopRow& loop(unsigned i) { return reinterpret_cast<LoopRow*>(at(loops_at))[i]; }
    CallRow& call(unsigned i) { return reinterpret_cast<CallRow*>(at(calls_at))[i]; }
    PhaseRow& phase_row(unsigned i) { return reinterpret_cast<PhaseRow*>(at(phases_at))[i]; }

private:
    char* at(uint64_t offset) { return reinterpret_cast<char*>(this) + offset; }
};

// The calling thread's, if it lends or is a guest; else null.
extern __thread Seat* own_seat __attribute__((tls_model("initial-exec")));

// Makes the board for a rank with `own_workers` workers, on a node with `node_cores` cores in its table. The caller
// fills in the rest of the head, and then calls show_board(). If the system gives no shared memory, the board is
// private, and no other process can read it. Null if there is no memory at all.
Board* make_board(unsigned node_cores, unsigned own_workers);
void show_board(Board& board);

// In a child of fork(): puts other memory in the same place, so that what the child counts is not added to its
// parent's.
void keep_board_private(Board& board);

// The row of a loop that is run for the first time.
LoopRow& new_loop_row(Board& board, const char* name);

// Relaxed, as all of the board: a counter is true by itself.
inline void bump(volatile uint64_t& counter, uint64_t by = 1)
{
    base::store_relaxed(counter, base::load_relaxed(counter) + by);
}
inline void add(volatile uint64_t& counter, uint64_t by) { base::fetch_add_relaxed(counter, by); }

// The state of the calling thread's core begins at `now`.
inline void show(Seat& seat, Seated state, uint64_t now, Flag other = no_row)
{
    base::store_relaxed(seat.since, now);
    Hardware::store_relaxed(seat.other, other);
    Hardware::store_relaxed(seat.state, Flag(state));
}

// Counts a latency of `ticks`.
void count_latency(uint64_t (&histogram)[latency_buckets], uint64_t ticks, double ticks_per_us);

} // namespace ws::observe
