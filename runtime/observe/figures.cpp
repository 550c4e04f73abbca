// SPDX-License-Identifier: MIT
//
// A rank's figures, from its board.
#include "observe/report.h"
#include "base/atomics.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace ws::observe {

using nlohmann::json;

namespace {

template <class T> double number(const volatile T& counter) { return double(base::load_relaxed(counter)); }

void add_histogram(Histogram& to, const uint64_t (&counts)[latency_buckets])
{
    for (unsigned i = 0; i < latency_buckets; i++)
        to.counts[i] += double(counts[i]);
}

// The time of guests and workers is by the clock. With more of them than CPUs they share the CPUs, and each counts the
// whole time. But `cpus` CPUs cannot have saved more than this in that time.
double bounded_lag(double lag_s, double wall_s, unsigned cpus)
{
    return cpus ? std::min(lag_s, (cpus - 1) * wall_s) : lag_s;
}

// What a row counts, as figures of `c`.
#define WS_FROM_ROW(kind, name, where, mpi_t, help) \
    WS_REPORTED_##where(c.WS_FIGURE_##kind(name) = number(row.WS_FIELD_##kind(name)) * WS_SCALE_##kind(tick);)
// What a seat, the process or a loop counts, put into or added to the rank's.
#define WS_FROM_HOME(kind, name, where, mpi_t, help) \
    WS_REPORTED_##where(c.WS_FIGURE_##kind(name) = number(s.lend.WS_FIELD_##kind(name)) * WS_SCALE_##kind(tick);)
#define WS_FROM_LEND(kind, name, where, mpi_t, help) \
    WS_REPORTED_##where(c.WS_FIGURE_##kind(name) += number(s.lend.WS_FIELD_##kind(name)) * WS_SCALE_##kind(tick);)
#define WS_FROM_VISIT(kind, name, where, mpi_t, help) \
    WS_REPORTED_##where(c.WS_FIGURE_##kind(name) += number(s.visit.WS_FIELD_##kind(name)) * WS_SCALE_##kind(tick);)
#define WS_FROM_PROCESS(kind, name, where, mpi_t, help) \
    WS_REPORTED_##where(c.WS_FIGURE_##kind(name) = number(board.process.WS_FIELD_##kind(name)) * WS_SCALE_##kind(tick);)
#define WS_FROM_LOOP(kind, name, where, mpi_t, help) WS_REPORTED_##where(c.WS_FIGURE_##kind(name) += l.WS_FIGURE_##kind(name);)

} // namespace

// Only some of the executions that ran whole are timed; an iteration of the others is taken to have cost the same.
LoopCounts loop_counts(const LoopRow& row, double tick)
{
    LoopCounts c = {};
    WS_LOOP_COUNTERS(WS_FROM_ROW, WS_NO)
    const double whole = number(row.whole_executions), timed = number(row.timed_executions),
                 cut = number(row.cut_executions);
    const double whole_iterations = number(row.whole_iterations), timed_iterations = number(row.timed_iterations);
    const double timed_s = number(row.timed_ticks) * tick;
    double whole_s = timed_s;
    if (timed < whole && timed_iterations > 0)
        whole_s = std::max(timed_s, timed_s / timed_iterations * whole_iterations);
    c.executions = whole + cut;
    c.iterations_kept = whole_iterations + number(row.cut_iterations) - c.iterations_stolen;
    c.chunks_kept = whole + number(row.kept_chunks);
    c.executions_cut = cut;
    c.cut_s = std::max(0.0, number(row.cut_ticks) * tick - c.close_wait_s);
    c.computing_s = std::max(0.0, whole_s + number(row.cut_ticks) * tick - c.close_wait_s);
    c.untimed_s = whole_s - timed_s;
    return c;
}

namespace {

// The loop's phase, as an index of RankFigures::phases: the made rows, and behind them the one for all others.
int64_t phase_of(const Board& board, const LoopRow& row)
{
    const base::Flag phase = row.phase;
    return phase == 0            ? no_phase_known
           : phase == in_several ? several_phases
                                 : int64_t(std::min(phase - 1, base::Flag(board.phases_made)));
}

PhaseFigures phase_figures(Board& board, unsigned i, double tick)
{
    const PhaseRow& row = board.phase_row(i);
    PhaseFigures p = {std::string(row.name, strnlen(row.name, sizeof row.name)), row.parent, row.level, {}};
    PhaseCounts& c = p.counts;
    WS_PHASE_COUNTERS(WS_FROM_ROW, WS_NO)
    for (unsigned k = 0; k < refusal_kinds; k++) {
        c.refused[k] = number(row.refused[k]);
        c.refused_s[k] = number(row.refused_ticks[k]) * tick;
    }
    if (!board.observed)
        c.mpi_s = c.blocked_s;
    c.computing_s = std::max(0.0, c.wall_s - c.mpi_s - c.close_wait_s);
    c.loops_s = std::max(0.0, c.loops_s - c.close_wait_s);
    c.lag_s = bounded_lag(number(row.lag_ticks) * tick, c.wall_s, board.node_cpus);
    return p;
}

} // namespace

RankFigures rank_figures(Board& board, uint64_t now, double ticks_per_us, const char* inactive)
{
    RankFigures r = {};
    const double tick = 1e-6 / ticks_per_us;
    r.rank = board.rank;
    r.node = board.node;
    r.node_rank = board.node_rank;
    r.workers = board.own_workers;
    r.first_worker = board.first_worker;
    r.host.assign(board.host, strnlen(board.host, sizeof board.host));
    r.program.assign(board.program, strnlen(board.program, sizeof board.program));
    r.started_unix_ns = board.attached_at_unix;
    r.inactive = inactive;

    RankCounts& c = r.counts;
    c.wall_s = double(now - board.attached_at) * tick;
    r.lag_s = bounded_lag(number(board.lag_ticks) * tick, c.wall_s, board.node_cpus);
    for (unsigned i = 0; i < board.seats; i++) {
        const Seat& s = board.seat(i);
        const SeatKind kind = SeatKind(base::Flag(s.kind));
        if (kind == SeatKind::home) {
            WS_RANK_COUNTERS(WS_NO, WS_FROM_HOME, WS_NO, WS_NO, WS_NO, WS_NO)
            for (unsigned k = 0; k < refusal_kinds; k++) { // workers always want more
                c.refused[k] = double(s.lend.refused[k]);
                c.refused_s[k] = double(s.lend.refused_ticks[k]) * tick;
            }
        }
        WS_RANK_COUNTERS(WS_FROM_LEND, WS_NO, WS_FROM_VISIT, WS_NO, WS_NO, WS_NO)
        const double busy = double(s.visit.borrowed_ticks) * tick;
        if (kind == SeatKind::worker)
            c.borrowed_workers_s += busy;
        if (busy > 0)
            r.borrowed_on[base::Flag(s.core)] += busy;
        add_histogram(c.steal_latency, s.steal_latency);
        add_histogram(c.return_latency, s.return_latency);
    }
    WS_RANK_COUNTERS(WS_NO, WS_NO, WS_NO, WS_FROM_PROCESS, WS_NO, WS_NO)

    const auto add_loop = [&](const LoopRow& row) {
        if (!row.name[0])
            return;
        const LoopCounts l = loop_counts(row, tick);
        c.loops_s += l.computing_s;
        WS_RANK_COUNTERS(WS_NO, WS_NO, WS_NO, WS_NO, WS_FROM_LOOP, WS_NO)
        if (l.executions > 0)
            r.loops.push_back({std::string(row.name, strnlen(row.name, sizeof row.name)), l, LoopCause::unknown,
                               phase_of(board, row)});
    };
    // Not all rows: a look at one that was never taken would cost its page of memory.
    const unsigned made = base::load_relaxed(board.loops_made), rest = board.loop_row_count - 1;
    for (unsigned i = 0; i < std::min(made, rest); i++)
        add_loop(board.loop(i));
    if (made > rest)
        add_loop(board.loop(rest));
    for (unsigned i = 0; i < board.call_row_count; i++) {
        const CallRow& row = board.call(i);
        if (!row.name[0])
            continue;
        CallCounts c = {};
        WS_CALL_COUNTERS(WS_FROM_ROW)
        if (c.calls > 0 || c.waits > 0)
            r.calls.push_back({std::string(row.name, strnlen(row.name, sizeof row.name)), c});
    }
    for (unsigned i = 0; i < board.phases_made; i++)
        r.phases.push_back(phase_figures(board, i, tick));
    if (board.phase_row_count && board.phase_row(board.phase_row_count - 1).entered)
        r.phases.push_back(phase_figures(board, board.phase_row_count - 1, tick));
    for (const PhaseFigures& p : r.phases) {
        c.counted_s += p.counts.counted_s;
        c.instructions += p.counts.instructions;
        c.cycles += p.counts.cycles;
    }

    if (!board.observed) // calls were not timed: only the waits longer than the spin are known
        c.mpi_s = c.blocked_s;
    c.computing_s = std::max(0.0, c.wall_s - c.mpi_s - c.close_wait_s);
    return r;
}

// ---- on the way to rank 0

namespace {

// Counts are doubles side by side: they travel as they lie in memory.
template <class Counts> json packed(const Counts& counts)
{
    static_assert(std::is_trivially_copyable_v<Counts>);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&counts);
    return json::binary({bytes, bytes + sizeof counts});
}

template <class Counts> Counts unpacked(const json& j)
{
    Counts counts;
    std::memcpy(&counts, j.get_binary().data(), sizeof counts);
    return counts;
}

template <class Figures> json packed(const std::vector<Figures>& rows)
{
    json all = json::array();
    for (const Figures& row : rows)
        all.push_back({row.name, packed(row.counts)});
    return all;
}

template <class Figures> void unpack(const json& all, std::vector<Figures>& rows)
{
    for (const json& row : all)
        rows.push_back({row[0], unpacked<decltype(Figures::counts)>(row[1])});
}

} // namespace

std::string pack(const RankFigures& r)
{
    json phases = packed(r.phases), phase_of_loops = json::array();
    for (size_t i = 0; i < r.phases.size(); i++) {
        phases[i].push_back(r.phases[i].parent);
        phases[i].push_back(r.phases[i].level);
    }
    for (const LoopFigures& l : r.loops)
        phase_of_loops.push_back(l.phase);
    json cores = json::array();
    for (const CoresFrom& c : r.cores)
        cores.push_back({c.deal, c.at_s, c.periods, c.cores});
    json over_time = json::array();
    for (const TimeSlice& s : r.over_time)
        over_time.push_back(packed(s));
    std::string bytes;
    json::to_msgpack({{r.rank, r.node, r.node_rank, r.workers, r.first_worker, r.started_unix_ns},
                      {r.host, r.program, r.inactive},
                      r.lag_s,
                      packed(r.counts),
                      packed(r.loops),
                      packed(r.calls),
                      phases,
                      r.borrowed_on,
                      cores,
                      over_time,
                      phase_of_loops},
                     bytes);
    return bytes;
}

RankFigures unpack_rank(const std::string& bytes)
{
    const json all = json::from_msgpack(bytes);
    RankFigures r = {};
    size_t n = 0;
    for (int64_t* v : {&r.rank, &r.node, &r.node_rank, &r.workers, &r.first_worker, &r.started_unix_ns})
        *v = all[0][n++];
    n = 0;
    for (std::string* s : {&r.host, &r.program, &r.inactive})
        *s = all[1][n++];
    r.lag_s = all[2];
    r.counts = unpacked<RankCounts>(all[3]);
    unpack(all[4], r.loops);
    unpack(all[5], r.calls);
    for (const json& phase : all[6])
        r.phases.push_back({phase[0], phase[2], phase[3], unpacked<PhaseCounts>(phase[1])});
    for (size_t i = 0; i < r.loops.size(); i++)
        r.loops[i].phase = all[10][i];
    all[7].get_to(r.borrowed_on);
    for (const json& c : all[8])
        r.cores.push_back({c[0], c[1], c[2], c[3]});
    for (const json& s : all[9])
        r.over_time.push_back(unpacked<TimeSlice>(s));
    return r;
}

} // namespace ws::observe
