// SPDX-License-Identifier: MIT
//
// Members in reserve: threads of a region of tasks, beyond its cores, for ranks that begin to wait while it is open.
// They are ordinary threads of OpenMP's. A member sleeps before it begins its part of the region, and so costs nothing.
// It goes on when one of these happens first:
//
//    a rank that waits lends it a core;
//    all others of the region have come to a barrier, or have done their part: they may wait for it now;
//    for 10 ms nobody has put a task: a thread of the region may wait for it in a way of the program's own.
//
// From then on it runs tasks, on a lent core or beside its rank's own threads. The lender binds it, and binds it back
// when its wait ends, also in the middle of a task: a thread continues anywhere, so no task has to end for that.
//
// A seat's state is changed by compare-and-swap alone. The lender ends a lease at the end of its wait, or the region
// when it is over. The one whose exchange succeeds hands the core back, so this happens once.
#pragma once

#include "policy/cores/back_off.h"
#include "policy/cores/site_table.h"
#include "policy/cores/table.h"

#include <vector>

namespace ws::policy::cores {

// Which regions get them, by their site: those of tasks that are long enough for what the library does for each one
// where there is more than one thread (a system call, in libgomp), and that have hardly any barriers.
// And which are not to borrow cores: with more threads, short tasks may take many times as long, because the threads
// take turns at the library's locks.
class TaskRegions {
public:
    explicit TaskRegions(double ticks_per_us = 1000);
    // Whether this execution is to have members in reserve.
    bool wants_reserve(const void* site);
    // Whether keeps_alone() has something to say: some executions with borrowed cores had short tasks.
    bool compares(const void* site, unsigned own) const;
    // Whether this execution, which has `own` threads and could borrow cores, is to borrow none. True if its tasks are
    // short, and executions with borrowed cores were slower or there was none without. Rarely tries the slower way.
    bool keeps_alone(const void* site, unsigned own);
    // An execution took `ticks` from its beginning to its end, with `threads` threads, of which `own` without borrowed
    // cores.
    void lasted(const void* site, uint64_t ticks, uint64_t tasks, unsigned own, unsigned threads);
    // An execution of work ticks of one thread, in which its threads put tasks and came to barriers. `reserve`: it had
    // members in reserve, and `helped`: a core was lent to one of them.
    void took(const void* site, uint64_t work, uint64_t tasks, uint64_t barriers, bool reserve, bool helped);

private:
    struct SiteHistory {
        bool fits = false;
        BackOff<7> reserve;
        // Ticks per short task without and with borrowed cores: the least, which creeps up; 0: not known.
        uint64_t alone = 0, helped = 0;
        unsigned own = 0, until_try = first_try, tries = 0; // choices until the slower way is tried
    };
    static constexpr unsigned first_try = 8, most_tries = 6; // the first interval, and how often it doubles
    uint64_t least_ticks_, grain_ticks_;
    SiteTable<SiteHistory> sites_;
};

class Reserve {
public:
    // `same_processes`: a process's number means the same one in all ranks of the node.
    void attach(Table& table, window::Window& window, unsigned me, bool same_processes);

    // ---- the region's

    // By the thread that opens it: how many it can have of that many.
    unsigned open(unsigned wanted, unsigned others);
    // Its members from number `others` on: sleeps.
    void wait(unsigned number);
    // A member that is not in reserve has come to a barrier, or has done its part.
    void arrives();
    // By the opener, when it is over. Ticks of lent cores, and leases that their lenders had ended before.
    struct Lent {
        uint64_t used = 0, late = 0;
        unsigned cores = 0, recalled = 0, left = 0; // all that were recalled were left
    };
    Lent close(uint64_t now);
    unsigned count() const { return count_; }
    // The calling thread is one of its members.
    static inline __thread bool is_member __attribute__((tls_model("initial-exec")));

    // ---- a rank that waits

    // There may be members to lend to.
    bool is_wanted() const { return enabled_ && Hardware::load_relaxed(table_->head().reserves) != 0; }
    // Lends its idle cores. Returns whether it has lent some.
    bool lend(uint64_t now);
    // Its wait is over.
    void take_back(uint64_t now);

private:
    struct Lease {
        unsigned processor, rank, seat;
    };
    void lend(unsigned processor, uint64_t now);
    void hand_back(ReserveSeat& seat, unsigned processor, uint64_t now);
    void bind(Flag thread, unsigned rank) const;
    void let_in();

    Table* table_ = nullptr;
    window::Window* window_ = nullptr;
    unsigned me_ = 0;
    bool enabled_ = false;
    unsigned count_ = 0, others_ = 0;
    volatile Flag arrived_ = 0, is_open_ = 0; // of the region: arrivals; its members in reserve need not sleep
    std::vector<Lease> leases_;
};

} // namespace ws::policy::cores
