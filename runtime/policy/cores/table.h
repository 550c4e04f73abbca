// SPDX-License-Identifier: MIT
//
// What the ranks of a node share for processor balancing, in memory of their own beside the window: a head, a row a
// rank, a row a processor, and three numbers a rank (former, first, last).
//
// A processor is a CPU that threads of OpenMP regions compute on. Each rank has one that it keeps, its home processor,
// where its own thread is; its word is that of the rank's core in the window, so that loops that are stolen and regions
// never use it at the same time. So it is with a processor on which the rank has a worker: its word is that of the
// worker's core. The owners of the others, and their uses, are in words of the same kind (arbiter/cores.h).
#pragma once

#include "arbiter/cores.h"
#include "policy/cores/assign.h"
#include "policy/cores/deal.h"
#include "node/memory.h"
#include "base/epoch_row.h"
#include "window/window.h"

#include <mpi.h>
#include <optional>
#include <vector>

namespace ws::policy::cores {

using base::Flag;
using base::Hardware;

constexpr unsigned no_rank = ~0u, no_core = ~0u;
constexpr unsigned turns_told = 6; // that the others see one by one
constexpr unsigned measured_words = 6 + 2 * turns_told;

struct alignas(64) Processor {
    volatile Hardware::Word word; // of one that has no core in the window
    // Constant after attach.
    int cpu;       // -1: pretended (WS_CORES)
    unsigned home; // whose home processor it is, or no_rank
    unsigned core; // its row in the window's core table, the rank's or a worker's, or no_core
    unsigned first; // who had it then
    window::Place place;
};

// Counters of a rank: regions with lent processors; processor ticks, and the part of them beside the owner; processors
// whose owner came back before the end, and those of them that were given back at once.
struct LentRow {
    volatile Hardware::Word regions, used, late, recalled, left;
};

// A member in reserve of a rank's open region (reserve.h).
struct alignas(64) ReserveSeat {
    volatile Flag state;
    volatile Flag thread;         // that member: the kernel's number, before the state says that there is one
    volatile Flag recalled;       // the side that ends a lease: those ended by their lenders
    volatile Hardware::Word used; // and ticks of the lent cores
    volatile Hardware::Word since; // the lender: when the present lease began
};
constexpr unsigned most_reserve = 8; // of a region

// A rank's. Measured: by its home thread, since the last change.
struct alignas(64) RankRow {
    // generation, periods, and of one its useful and waited ticks, all its ticks, and its MPI calls; then the useful
    // ticks of the last turns, the newest first, and all their ticks
    base::EpochRow<measured_words> measured;
    // the rank: generation, when its present turn began, and the useful ticks in its row of loads then
    base::EpochRow<3> turn;
    alignas(64) volatile Flag target; // decider: processors that it is to have in this generation
    volatile Flag most;            // the rank: threads that its regions want
    volatile Flag seen;            // the rank: a region of it has begun in libws
    volatile Flag threads;         // the rank: of its open region; 0: none is open
    volatile Flag patience_us;     // borrowers: how long it has to wait before its processors are lent
    // the rank: with processors of other ranks, and with cores of other jobs; ticks that those have used its own
    LentRow lent, foreign;
    volatile Hardware::Word used_by_others;
    volatile Hardware::Word beside, beside_ticks, beside_longest; // the rank: how often beside somebody's last chunk
    ReserveSeat reserve[most_reserve];
    volatile Hardware::Word limited; // regions for which the program asked for fewer threads than there were cores
};

struct alignas(64) Head {
    volatile Flag generation; // decider: of the deal, from 1
    // Writers: deciders, one at a time. What is told at the end is read when all have stopped.
    volatile Flag needed;      // periods to be measured
    volatile Hardware::Word decided_at;
    History history;
    Watch watch;
    Flag watched;                // turns of this generation that `watch` has seen
    double first_before, first_wall; // under the first deal: of a turn, the slowest rank's seconds, and all; 0: unknown
    Hardware::Word slow_began;   // of the turn in which the last deal was taken back, until that turn is over; or 0
    volatile Flag deals, deal_periods; // made so far, and periods measured then. Read after `generation`
    Flag timed; // the last decision was made of times, as no turns were found
    Flag calls; // of a turn, all ranks' together, at the last decision
    volatile Flag reserves; // openers of regions: members in reserve that there are on the node
    Flag changes, periods, periods_then; // changes made; periods measured, now and at the last change
};

// How the processors are assigned at the start.
struct Start {
    std::vector<std::vector<int>> cpus; // of each rank, its home processor first; -1: pretended
    bool shared = false;                // ranks have CPUs in common: those are divided
};
// `usual`: threads that each rank's regions have. Empty if there are fewer CPUs than ranks. `pretended`: pretend that
// there are this many CPUs, if not 0.
Start start_of(const std::vector<base::CpuSet>& masks, const std::vector<int>& home,
               const std::vector<unsigned>& usual, unsigned pretended);

class Table {
public:
    // Collective over `node`; false on all ranks if there is no memory for it.
    bool attach(MPI_Comm node, window::Window& window, const Start& start, const std::vector<unsigned>& most);
    void detach() { memory_.free(); }

    Head& head() const { return *head_; }
    RankRow& row(unsigned rank) const { return rows_[rank]; }
    unsigned ranks() const { return ranks_; }
    unsigned processors() const { return processors_; }
    // Its constants, as they were after attach.
    const Processor& processor(unsigned p) const { return constants_[p]; }
    arbiter::Word<> word(unsigned p) const;
    bool has_worker(unsigned p) const { return constants_[p].core != no_core && constants_[p].home == no_rank; }
    // Its use while nobody computes there.
    arbiter::Use idle_use(unsigned p) const { return has_worker(p) ? arbiter::Use::worker : arbiter::Use::home; }
    uint16_t* former() const { return numbers_; }
    uint16_t* first() const { return numbers_ + ranks_; }
    uint16_t* last() const { return numbers_ + 2 * ranks_; }

    // The rank that owns a processor, by its word; the first owner if the word names a rank that does not exist.
    unsigned owner(unsigned p) const;
    std::vector<Located> located() const;

private:
    struct Shared;
    void fill(const Start& start, const std::vector<unsigned>& most);

    node::Memory memory_;
    window::Window* window_ = nullptr;
    unsigned ranks_ = 0, processors_ = 0;
    // As they were in attach(): what another rank scribbles there moves none of them.
    Head* head_ = nullptr;
    RankRow* rows_ = nullptr;
    Processor* all_ = nullptr;
    std::vector<Processor> constants_; // a copy: a stray store of another rank must not move an index
    uint16_t* numbers_ = nullptr;
};

} // namespace ws::policy::cores
