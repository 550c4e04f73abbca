// SPDX-License-Identifier: MIT
//
// What happened between two readings of a job's boards: plain arithmetic, nothing is asked of the system here.
#pragma once

#include "board_file.h"
#include <map>

namespace ws::top {

// Counters grow only when a wait, a lease or a visit ends; these functions add what is going on at `at`.
uint64_t live_blocked(const SeatReading& seat, uint64_t at); // lent time included
uint64_t live_lent(const SeatReading& seat, uint64_t at);
uint64_t live_asleep(const SeatReading& seat, uint64_t at);
uint64_t live_busy(const SeatReading& seat, uint64_t at); // guest, worker: running iterations

double part(double of, double whole); // between 0 and 1; of no whole 0

// How a time was spent, each as a part of it. A core computes, waits or is lent; `borrowed` is what others' cores
// computed for the rank, and may exceed 1.
struct Shares {
    double computing = 0, waiting = 0, lent = 0, borrowed = 0;
};

// What the board counts, by its name in counters.h: how often, or seconds.
struct Counter {
    const char* name;
    double value;
};

// A core of a rank: its home core, or a worker's.
struct CoreSample {
    observe::SeatKind kind = observe::SeatKind::home;
    unsigned core = 0; // row of the node's core table
    observe::Seated state = observe::Seated::nobody;
    double state_s = 0;  // how long it has been in this state
    double wait_s = 0;   // in this wait, whatever the core was used for in it
    std::string call;    // MPI call that it waits in, or empty
    int tenant = -1;     // lent: the rank that uses it
    std::string loop;    // lent: the loop that is being run on it, if it is known
    Shares interval, total;
    double lends_per_s = 0;
    uint64_t lends = 0;
};

// A guest at work: a thread of this rank on the core of another.
struct GuestSample {
    int on; // rank whose core it is
    std::string loop;
    double visit_s;
};

enum class RankCondition { running, finished, died };

struct RankSample {
    int rank = 0, node = 0;
    pid_t pid = 0;
    uid_t uid = 0;
    std::string host, program;
    std::string phase; // as in Reading
    RankCondition condition = RankCondition::running;
    bool inactive = false; // it runs without stealing
    double seconds = 0;    // since it attached, until now or its end
    std::vector<CoreSample> cores; // home first
    std::vector<GuestSample> guests;
    Shares interval, total; // of the home core's time; borrowed: from guests and own workers
    // Computing divided by the time: its own core alone; with what was borrowed.
    double own_efficiency = 0, efficiency = 0;
    double steals_per_s = 0; // chunks of its loops run by others' cores and by its own workers
    uint64_t chunks_stolen = 0, chunks_kept = 0, iterations_stolen = 0;
    std::vector<Counter> counters; // all, since it attached
};

struct LoopSample {
    std::string name;
    double owner_share = 0; // of all ranks' time in the interval: owners in the loop
    double guest_share = 0; // guests and workers in it
    double executions_per_s = 0, steals_per_s = 0;
    uint64_t executions = 0, chunks_kept = 0, chunks_stolen = 0, iterations_stolen = 0;
};

// POP's metrics over all cores of the ranks that are seen, between 0 and 1. `without`: had each rank done all of its
// work on its home core, and the others waited for the last.
struct Metrics {
    double seconds = 0;
    double parallel_efficiency = 0, parallel_efficiency_without = 0;
    double load_balance = 0, load_balance_without = 0;
    Shares shares; // of all cores' time; borrowed: what guests computed
    double steals_per_s = 0, lends_per_s = 0;
    uint64_t chunks_stolen = 0, lends = 0;
    // Why ranks that waited helped nobody, in parts of that time as far as it is over; in the order of Refusal.
    double waited_because[observe::refusal_kinds] = {};
};
const char* refusal_name(observe::Refusal why); // as in the report
// The name of a counter of the board as counters.h has it; null if this version has none of that name.
const char* counter_name(const std::string& name);
const char* refusal_text(observe::Refusal why);

// What ranks did in a phase, without the phases inside it. POP's metrics are as in the report: a core is useful while
// its rank computes, and while it is lent as far as guests compute on lent cores at all.
struct PhaseMetrics {
    double time_share = 0; // of all ranks' time
    Shares shares; // of the ranks' time there
    double parallel_efficiency = 0, load_balance = 0, load_balance_without = 0;
};
struct PhaseSample {
    std::string path;        // as in PhaseReading
    unsigned ranks_now = 0;  // that are in it
    uint64_t entered = 0;    // how often, the rank that did so most
    double longest_s = 0;    // the longest rank's time in it, since it attached
    PhaseMetrics interval, total;
};

struct JobSample {
    uint64_t id = 0;
    int size = 1;
    std::string program, host;
    uid_t uid = 0;
    std::vector<RankSample> ranks; // by number; those of this node
    int nodes_seen = 1;            // of the job's nodes, on this machine
    unsigned cores = 0;
    double seconds = 0;            // since the first attached
    bool over = false;             // all ranks seen have ended
    unsigned died = 0;
    Metrics interval, total;
    std::vector<LoopSample> loops; // by the time spent in them in the interval, then in all
    std::vector<PhaseSample> phases; // likewise

    bool partial() const { return int(ranks.size()) < size; }
};

// One job. `before` has a reading for those ranks that were read before; for others the interval begins when they
// attached.
JobSample sample(const std::vector<Reading>& after, const std::map<int, Reading>& before);

} // namespace ws::top
