// SPDX-License-Identifier: MIT
//
// The report of a run: figures of every rank, put together, and what follows from them. Knows no MPI: mpi/report.cpp brings the
// ranks' figures here, tools/report reads them from a file. What each figure means: docs/report.md.
//
//    Board --rank_figures()--> RankFigures --ReportBuilder--> Report --> text, JSON, CSV
//
// All numbers are doubles, so that figures add up and travel as plain arrays of them; counts stay exact up to 2^53. In the lists
// of fields a name that ends in _s is a time in seconds, any other number a count.
#pragma once

#include "observe/board.h"
#include "observe/histogram.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ws {

// Of a rank, or summed over several.
struct RankCounts {
    double wall_s;       // from the end of MPI_Init to the begin of the report, within MPI_Finalize
    double computing_s;  // own thread outside of MPI, but for close_wait_s
    double close_wait_s; // own thread waiting for guests at the end of its loops
    double mpi_s;        // own thread in MPI
    double blocked_s;    // of mpi_s: waits longer than the spin
    double lent_s;       // of blocked_s: its core was lent
    double helped_s;     // of lent_s: its core computed for others
    double borrowed_s;   // other cores computed for this rank
    double borrowed_workers_s; // of it: its own workers' cores
    double worker_helped_s;    // its workers' cores computed for other ranks
    double loops_s;      // of computing_s: in ws loops
    double untimed_s;    // of loops_s: extrapolated from a sample
    double runs, runs_shared, runs_helped, runs_plain, runs_unpaid; // executions of ws loops
    double iterations_kept, iterations_stolen, chunks_kept, chunks_stolen;
    double lends, claims_lost, recalls, naps;
    double naps_s;
    double guests_refused, guests_barred;
    double refused[refusal_kinds];
    double refused_s[refusal_kinds];
    Histogram steal_latency, return_latency;
};
constexpr unsigned rank_counts = sizeof(RankCounts) / sizeof(double);

struct LoopCounts {
    double runs, runs_shared, runs_helped, runs_unpaid;
    double iterations_kept, iterations_stolen, chunks_kept, chunks_stolen;
    double computing_s;  // by the owners
    double borrowed_s;   // by guests and workers
    double close_wait_s;
    double untimed_s;    // of computing_s: extrapolated from a sample
    double longest_chunk_s; // not a sum
    double runs_kept[kept_kinds]; // of runs: see Kept
};
struct CallCounts {
    double calls, time_s, waits, blocked_s, lent_s;
};
struct PhaseCounts {
    double entered, wall_s, mpi_s, blocked_s, lent_s, borrowed_s, close_wait_s, lag_s;
};

struct LoopFigures {
    std::string name;
    LoopCounts counts;
};
struct CallFigures {
    std::string name;
    CallCounts counts;
};

struct RankFigures {
    int64_t rank, node, node_rank;
    int64_t workers, first_worker; // rows of the node's core table
    std::string host, program;
    int64_t started_unix_ns;
    std::string inactive;         // why it ran without stealing; else empty
    double lag_s;                 // how much later it would have ended without stealing
    RankCounts counts;
    std::vector<LoopFigures> loops;
    std::vector<CallFigures> calls;
    std::map<int64_t, PhaseCounts> phases; // by MPI_Pcontrol level
    std::map<unsigned, double> borrowed_on; // by row of the node's core table, seconds
};
RankFigures rank_figures(Board& board, uint64_t now, double ticks_per_us, const char* inactive);

std::string pack(const RankFigures& figures);
RankFigures unpack_rank(const std::string& bytes); // of the same program: what pack() made

// After POP: parallel = load_balance * communication; load_balance = inside * between nodes.
struct Efficiency {
    double elapsed_s, parallel, load_balance, load_balance_inside, load_balance_between, communication;
};
// What one core did usefully.
struct CoreUse {
    int64_t node;
    double useful_s;
};
Efficiency efficiency(double elapsed_s, const std::vector<CoreUse>& cores);

struct RankRow {
    int64_t rank, node, workers;
    std::string inactive;
    RankCounts counts;
    std::vector<LoopFigures> loops;
};
struct NodeRow {
    int64_t node;
    std::string host;
    double ranks, cores;
    RankCounts counts;
    Efficiency as_is, without_stealing;
};
struct PhaseRowFigures {
    int64_t level;
    PhaseCounts counts; // summed over the ranks, but entered, wall_s and lag_s: the largest
    Efficiency as_is, without_stealing;
};

constexpr char report_schema[] = "workshare-report/1";
constexpr size_t most_rank_loops = 65536; // loops of ranks that a report holds; with more it has none, only loops of the job

struct Report {
    std::string workshare; // version
    std::string program;
    int64_t started_unix_ns = 0;
    double ranks = 0, nodes = 0, cores = 0;
    double elapsed_s = 0;  // the longest wall_s
    std::string verdict, reason;
    double speedup = 1;    // elapsed without stealing, as estimated, over elapsed
    Efficiency as_is{}, without_stealing{};
    RankCounts totals{};
    std::vector<NodeRow> node;
    std::vector<RankRow> rank;
    std::vector<LoopFigures> loops; // the one that takes most time first
    std::vector<CallFigures> calls;
    std::vector<PhaseRowFigures> phases;
    bool rank_loops_omitted = false;
};

// Takes the ranks one at a time, in any order.
class ReportBuilder {
public:
    void add(RankFigures&& figures);
    // Once, after the last.
    Report finish();

private:
    struct Phases {
        PhaseCounts sum;
        std::vector<double> useful, plain_useful, lent; // by rank, as they came
        std::vector<int64_t> nodes, workers;
    };
    Report report_;
    std::vector<RankFigures> ranks_; // without loops, calls, phases
    std::map<std::string, LoopCounts> loops_;
    std::map<std::string, CallCounts> calls_;
    std::map<int64_t, Phases> phases_;
    std::map<int64_t, std::map<unsigned, double>> busy_on_; // node, core: seconds that guests and workers computed there
    size_t rank_loops_ = 0;
};

std::string report_text(const Report& report);
std::string report_json(const Report& report);
std::string report_csv(const Report& report);

enum class ReportFormat { text, json, csv };
ReportFormat report_format(const std::string& file); // by its ending
std::string report_as(ReportFormat format, const Report& report);

// Throws std::runtime_error with one line for the user: not JSON, cut off, not a report, a newer one, a field missing or wrong.
Report read_report(const std::string& json);

// What changed, as ratios.
std::string report_comparison(const Report& a, const Report& b, const std::string& name_a, const std::string& name_b);

void add_counts(LoopCounts& to, const LoopCounts& from);
void add_counts(CallCounts& to, const CallCounts& from);

// Of a Refusal: in JSON and CSV, and in words.
const char* refusal_name(unsigned kind);
const char* refusal_text(unsigned kind);

// Of a Kept, in words: why a loop was not shared; and of those of a loop the one most often met, or kept_kinds.
const char* kept_text(unsigned kind);
unsigned kept_mostly(const LoopCounts& counts);

// ---- the lists of fields: f(name, number)

template <class R, class F> void fields_of_rank(R& c, F f)
{
    f("wall_s", c.wall_s);
    f("computing_s", c.computing_s);
    f("close_wait_s", c.close_wait_s);
    f("mpi_s", c.mpi_s);
    f("blocked_s", c.blocked_s);
    f("lent_s", c.lent_s);
    f("helped_s", c.helped_s);
    f("borrowed_s", c.borrowed_s);
    f("borrowed_workers_s", c.borrowed_workers_s);
    f("worker_helped_s", c.worker_helped_s);
    f("loops_s", c.loops_s);
    f("untimed_s", c.untimed_s);
    f("runs", c.runs);
    f("runs_shared", c.runs_shared);
    f("runs_helped", c.runs_helped);
    f("runs_plain", c.runs_plain);
    f("runs_unpaid", c.runs_unpaid);
    f("iterations_kept", c.iterations_kept);
    f("iterations_stolen", c.iterations_stolen);
    f("chunks_kept", c.chunks_kept);
    f("chunks_stolen", c.chunks_stolen);
    f("lends", c.lends);
    f("claims_lost", c.claims_lost);
    f("recalls", c.recalls);
    f("naps", c.naps);
    f("naps_s", c.naps_s);
    f("guests_refused", c.guests_refused);
    f("guests_barred", c.guests_barred);
}
template <class L, class F> void fields_of_loop(L& c, F f)
{
    f("runs", c.runs);
    f("runs_shared", c.runs_shared);
    f("runs_helped", c.runs_helped);
    f("runs_unpaid", c.runs_unpaid);
    f("iterations_kept", c.iterations_kept);
    f("iterations_stolen", c.iterations_stolen);
    f("chunks_kept", c.chunks_kept);
    f("chunks_stolen", c.chunks_stolen);
    f("computing_s", c.computing_s);
    f("borrowed_s", c.borrowed_s);
    f("close_wait_s", c.close_wait_s);
    f("untimed_s", c.untimed_s);
    f("longest_chunk_s", c.longest_chunk_s);
    f("runs_kept_asked", c.runs_kept[unsigned(Kept::asked)]);
    f("runs_kept_count_set", c.runs_kept[unsigned(Kept::count_set)]);
    f("runs_kept_limited", c.runs_kept[unsigned(Kept::limited)]);
    f("runs_kept_own_variables", c.runs_kept[unsigned(Kept::own_variables)]);
    f("runs_kept_unanswered", c.runs_kept[unsigned(Kept::unanswered)]);
}
template <class C, class F> void fields_of_call(C& c, F f)
{
    f("calls", c.calls);
    f("time_s", c.time_s);
    f("waits", c.waits);
    f("blocked_s", c.blocked_s);
    f("lent_s", c.lent_s);
}
template <class P, class F> void fields_of_phase(P& c, F f)
{
    f("entered", c.entered);
    f("wall_s", c.wall_s);
    f("mpi_s", c.mpi_s);
    f("blocked_s", c.blocked_s);
    f("lent_s", c.lent_s);
    f("borrowed_s", c.borrowed_s);
    f("close_wait_s", c.close_wait_s);
    f("lag_s", c.lag_s);
}
template <class E, class F> void fields_of_efficiency(E& e, F f)
{
    f("elapsed_s", e.elapsed_s);
    f("parallel_efficiency", e.parallel);
    f("load_balance", e.load_balance);
    f("load_balance_inside_nodes", e.load_balance_inside);
    f("load_balance_between_nodes", e.load_balance_between);
    f("communication_efficiency", e.communication);
}

} // namespace ws
