// SPDX-License-Identifier: MIT
//
// The report of a run: figures of every rank, put together, and what follows from them. Knows no MPI: mpi/report.cpp
// brings the ranks' figures here, tools/report reads them from a file. What each figure means:
// docs/reference/report.md.
//
//    Board --rank_figures()--> RankFigures --ReportBuilder--> Report --> text, JSON, CSV
//
// All numbers are doubles, so that figures add up and travel as plain arrays of them; counts stay exact up to 2^53. A
// name that ends in _s is a time in seconds, any other number a count. Which there are: counters.h.
#pragma once

#include "observe/board.h"
#include "observe/histogram.h"
#include "observe/moments.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ws::observe {

// Figures of a rank, or sums over several.
struct RankCounts {
    WS_RANK_COUNTERS(WS_FIGURE, WS_FIGURE, WS_FIGURE, WS_FIGURE, WS_FIGURE, WS_FIGURE)
    double refused[refusal_kinds];
    double refused_s[refusal_kinds];
    Histogram steal_latency, return_latency;
};
struct LoopCounts { // sums, except the longest chunk
    WS_LOOP_COUNTERS(WS_FIGURE, WS_FIGURE)
    // The executions, and the part of computing_s, that were long enough to be cut into chunks.
    double executions_cut, cut_s;
};
struct CallCounts {
    WS_CALL_COUNTERS(WS_FIGURE)
};
struct PhaseCounts {
    WS_PHASE_COUNTERS(WS_FIGURE, WS_FIGURE)
    double refused[refusal_kinds]; // of blocked_s, all ranks; see RankCounts
    double refused_s[refusal_kinds];
};

// Why others did not help more with a loop; `unknown` in reports of old versions.
enum class LoopCause : unsigned {
    unknown,
    helped,         // they did
    not_helped,     // it was shared, and ended before anybody came
    none_waited,    // no rank waited when it began
    too_short,
    coarse,         // chunks are long, as iterations are long or few
    gained_nothing, // sharing it was tried, and brought nothing
    tasks,          // it runs OpenMP tasks
    long_chunk,     // one chunk is long, though there are many iterations
    kinds
};
struct LoopCauseWords {
    const char *name, *text, *remedy; // the remedy is empty if there is none
};
const LoopCauseWords& words_of(LoopCause cause);

// The phase that all executions of a loop were in: an index of RankFigures::phases or Report::phases, or one of these.
constexpr int64_t no_phase_known = -1, several_phases = -2;

struct LoopFigures {
    std::string name;
    LoopCounts counts;
    LoopCause cause = LoopCause::unknown; // of the job's loops
    int64_t phase = no_phase_known;
};
struct CallFigures {
    std::string name;
    CallCounts counts;
};

// A phase of a rank: what was counted in it, without the phases inside it. Behind the phase that it is in.
struct PhaseFigures {
    std::string name;
    int64_t parent; // index; of the first, which is the run itself, no_parent
    int64_t level;  // of MPI_Pcontrol, or named_phase
    PhaseCounts counts;
};

// Cores that the parallel regions of a rank had from some moment on (-workshare-openmp).
struct CoresFrom {
    int64_t deal;   // of its node: 0 as it began, then counted up. Those that were over before the rank had them lack
    double at_s;    // since the end of its MPI_Init
    double periods; // that the node had measured when this was decided
    double cores;
};

struct RankFigures {
    int64_t rank, node, node_rank;
    int64_t workers, first_worker; // how many, and the first one's row of the node's core table
    std::string host, program;
    int64_t started_unix_ns;
    std::string inactive;         // why it ran without stealing; else empty
    double lag_s;                 // how much later it would have ended without stealing
    RankCounts counts;
    std::vector<LoopFigures> loops;
    std::vector<CallFigures> calls;
    std::vector<PhaseFigures> phases;
    std::map<unsigned, double> borrowed_on; // by row of the node's core table, seconds
    std::vector<CoresFrom> cores; // over time, the first at 0; none without -workshare-openmp
    std::vector<TimeSlice> over_time; // of equal length, from begin to end; none in reports of old versions
};
LoopCounts loop_counts(const LoopRow& row, double tick); // a tick in seconds
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

// How rank 0 was started: what ws-doctor advise needs to know to compare runs, and to print commands.
struct Conditions {
    std::vector<std::string> arguments; // of the program
    std::string openmp, victim;         // the values of -workshare-openmp and -workshare-victim
    double openmp_threads = 0; // that a parallel region would have, shared or not; 1 without OpenMP; 0: not known, as
                               // in reports of old versions
    double cpus = 0;           // that the ranks of its node may use together; 0: not known
    double rank_cpus = 0;      // that the rank may use; 0: not known
    std::string counters;      // why the processor's counters cannot be read; empty: they can
    double others = 0;         // what other programs used, on the node where that was most: a share, as Facts::others
};

// What a rank did in a phase, without the phases inside it.
struct RankPhase {
    int64_t phase; // index of Report::phases
    PhaseCounts counts;
    double cores;    // that computed for the rank, on average over counts.wall_s
    double useful_s; // what the rank's own core computed there, for any rank; in part an estimate
    double parallel, load_balance; // useful_s, divided by the longest rank's wall_s and by the largest useful_s
};

struct RankRow {
    int64_t rank, node, workers;
    std::string inactive;
    RankCounts counts;
    std::vector<LoopFigures> loops;
    std::vector<CoresFrom> cores;
    std::vector<TimeSlice> over_time;
    std::vector<RankPhase> phases; // in the order of Report::phases; none if the program has no phases
};
struct NodeRow {
    int64_t node;
    std::string host;
    double ranks, cores;
    RankCounts counts;
    Efficiency as_is, without_stealing;
};
// What the ranks that were in a phase did there.
struct PhasePart {
    PhaseCounts counts; // summed over the ranks, but entered, wall_s and lag_s: the largest
    double cores;       // that computed for it, on average over counts.wall_s
    Efficiency as_is, without_stealing;
};
struct PhaseRowFigures {
    std::vector<std::string> path; // of names; of the run itself empty
    int64_t level;                 // of MPI_Pcontrol, or named_phase
    PhasePart own, whole;          // without and with the phases inside it
};
// A path as people read it: the names with slashes between them.
std::string path_text(const std::vector<std::string>& path);

constexpr char report_schema[] = "workshare-report/2";
// loops of ranks that a report holds; with more it has none, only loops of the job
constexpr size_t most_rank_loops = 65536;
// Rows of a rank in a phase that a report holds: at 264 bytes each, 9 MB on rank 0. With more, it has none of the
// phases in which the ranks spent least time.
constexpr size_t most_rank_phases = 32768;
// changes of a rank's cores that are told: those behind them only by the last
constexpr size_t most_cores_over_time = 1024;

struct Report {
    std::string workshare; // version
    std::string program;
    int64_t started_unix_ns = 0;
    double ranks = 0, nodes = 0, cores = 0;
    double elapsed_s = 0;  // the longest wall_s
    std::string verdict, reason;
    Conditions conditions;
    double speedup = 1;    // the estimated time without stealing, divided by elapsed_s
    Efficiency as_is{}, without_stealing{};
    RankCounts totals{};
    std::vector<NodeRow> node;
    std::vector<RankRow> rank;
    std::vector<LoopFigures> loops; // the one that takes most time first
    std::vector<CallFigures> calls;
    // Each behind the phase that it is in; of those in one phase, the one that takes most time first.
    std::vector<PhaseRowFigures> phases;
    bool rank_loops_omitted = false;
    double rank_phases_omitted = 0; // phases of which ranks have no rows
};

// Takes the ranks one at a time, in any order.
class ReportBuilder {
public:
    void add(RankFigures&& figures);
    // Once, after the last.
    Report finish();

private:
    struct PhaseSum {
        struct RankUse { // of a rank's core, in seconds; single precision, because there is one for each rank and phase
            float useful, plain_useful, lent;
            uint32_t rank; // in ranks_, in the order in which they came
        };
        PhaseCounts counts{};
        std::vector<RankUse> uses;
    };
    struct RankPart { // of a phase, without those inside it
        uint32_t rank; // see RankUse
        PhaseCounts counts;
    };
    struct Phase {
        std::string name;
        int64_t parent, level;
        PhaseSum own, whole;
        std::vector<RankPart> parts; // of the ranks; empty if it is dropped
        double time_s = 0;           // of all ranks
        bool dropped = false;
    };
    // Adds the phases of the rank that comes next. Returns their places in phases_.
    std::vector<size_t> add_phases(const RankFigures& r);
    void add_phase(PhaseSum& to, const PhaseCounts& from) const;
    void sum_ranks(); // fills the report's parts that are about the job, its nodes and its ranks
    double helped_share(const PhaseSum& p, const RankCounts& totals) const;
    PhasePart phase_part(const PhaseSum& p, const RankCounts& totals) const;
    // Keeps at most most_rank_phases parts of ranks.
    void drop_short_phases();
    // Fills RankRow::phases; `places` is what order_phases() returned.
    void add_rank_phases(const std::vector<int64_t>& places);
    // Fills Report::phases. Returns the place there of each of phases_.
    std::vector<int64_t> order_phases();

    struct LoopSum {
        LoopCounts counts{};
        int64_t phase = no_phase_known; // in phases_
    };
    struct RankPlace {
        int64_t rank, node, workers;
    };
    Report report_;
    std::vector<RankFigures> ranks_; // without loops, calls, phases
    std::vector<RankPlace> places_;      // of the ranks, in the order in which they came
    std::map<std::string, LoopSum> loops_;
    std::map<std::string, CallCounts> calls_;
    std::vector<Phase> phases_;
    std::map<std::pair<int64_t, std::string>, size_t> phase_of_; // by parent and name
    // node, core: seconds that guests and workers computed there
    std::map<int64_t, std::map<unsigned, double>> busy_on_;
    size_t rank_loops_ = 0;
    size_t rank_phases_ = 0; // in all of Phase::parts
};

std::string report_text(const Report& report);
std::string report_json(const Report& report);
std::string report_csv(const Report& report);

// A run of a page, and what it is called there.
struct NamedReport {
    std::string name;
    const Report* report;
};
// One page for all runs, which are compared with the first.
std::string report_html(const std::vector<NamedReport>& runs);

enum class ReportFormat { text, json, csv, html };
ReportFormat report_format(const std::string& file); // by its ending
std::string report_as(ReportFormat format, const Report& report);

// Throws std::runtime_error with one line for the user: not JSON, cut off, not a report, a newer one, a field missing
// or wrong.
Report read_report(const std::string& json);

// What changed, as ratios.
std::string report_comparison(const Report& a, const Report& b, const std::string& name_a, const std::string& name_b);

void add_counts(LoopCounts& to, const LoopCounts& from);
void add_counts(CallCounts& to, const CallCounts& from);

// Return the name of a Refusal for JSON and CSV, and its text.
const char* refusal_name(unsigned kind);
const char* refusal_text(unsigned kind);

// ---- the lists of fields: f(name, number)

template <class R, class F> void fields_of_rank(R& c, F f)
{
    WS_RANK_COUNTERS(WS_VISIT_FIGURE, WS_VISIT_FIGURE, WS_VISIT_FIGURE, WS_VISIT_FIGURE, WS_VISIT_FIGURE,
                     WS_VISIT_FIGURE)
}
template <class L, class F> void fields_of_loop(L& c, F f)
{
    WS_LOOP_COUNTERS(WS_VISIT_FIGURE, WS_VISIT_FIGURE)
}
template <class C, class F> void fields_of_call(C& c, F f) { WS_CALL_COUNTERS(WS_VISIT_FIGURE) }
template <class P, class F> void fields_of_phase(P& c, F f) { WS_PHASE_COUNTERS(WS_VISIT_FIGURE, WS_VISIT_FIGURE) }
// The tree of efficiencies: a level is the product of the levels below it.
struct EfficiencyLevel {
    const char *name, *text;
    unsigned depth;
    bool of_nodes; // says nothing about a job on one node
    double Efficiency::*value;
};
constexpr EfficiencyLevel efficiency_levels[] = {
    {"parallel_efficiency", "parallel efficiency", 0, false, &Efficiency::parallel},
    {"load_balance", "load balance", 1, false, &Efficiency::load_balance},
    {"load_balance_inside_nodes", "inside nodes", 2, true, &Efficiency::load_balance_inside},
    {"load_balance_between_nodes", "between nodes", 2, true, &Efficiency::load_balance_between},
    {"communication_efficiency", "communication efficiency", 1, false, &Efficiency::communication},
};
template <class E, class F> void fields_of_efficiency(E& e, F f)
{
    f("elapsed_s", e.elapsed_s);
    for (const EfficiencyLevel& level : efficiency_levels)
        f(level.name, e.*level.value);
}

// The figures of ranks and nodes that tables show.
struct RankColumn {
    const char* text;
    double RankCounts::*value;
    bool time;
};
constexpr RankColumn rank_columns[] = {
    {"computing", &RankCounts::computing_s, true}, {"in MPI", &RankCounts::mpi_s, true},
    {"blocked", &RankCounts::blocked_s, true},     {"lent", &RankCounts::lent_s, true},
    {"helped", &RankCounts::helped_s, true},       {"borrowed", &RankCounts::borrowed_s, true},
    {"waited", &RankCounts::close_wait_s, true},   {"stolen", &RankCounts::iterations_stolen, false},
};

} // namespace ws::observe
