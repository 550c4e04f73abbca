// SPDX-License-Identifier: MIT
#include "observe/parts.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ws::observe {

std::vector<TimePart> waiting_parts(const RankCounts& c)
{
    const double handed_over = std::max(0.0, c.lent_s - c.helped_s);
    std::vector<TimePart> parts = {{"helped", "won back: their cores computed for others", c.helped_s, -1},
                                   {"handing_over", "handing cores over and back", handed_over, c.lends}};
    double rest = c.blocked_s - c.lent_s;
    for (unsigned k = 0; k < refusal_kinds; k++) {
        parts.push_back({refusal_name(k), refusal_text(k), c.refused_s[k], c.refused[k]});
        rest -= c.refused_s[k];
    }
    parts.push_back({"spun", "spun, without a look for work", std::max(0.0, rest), -1});
    return parts;
}

std::vector<TimePart> time_parts(const RankCounts& c)
{
    std::vector<TimePart> parts = {
        {"computing", "computing", c.computing_s, -1},
        {"close_wait", "waiting for helpers at the ends of loops", c.close_wait_s, -1},
        {"in_mpi", "in MPI, without a wait", std::max(0.0, c.mpi_s - c.blocked_s), -1}};
    const std::vector<TimePart> waiting = waiting_parts(c);
    parts.insert(parts.end(), waiting.begin(), waiting.end());
    return parts;
}

double useful_s(const Report& r) { return r.as_is.parallel * r.elapsed_s * r.cores; }

OpenMPEfficiency openmp_efficiency(const Report& r)
{
    const RankCounts& c = r.totals;
    const double threads = r.conditions.openmp_threads;
    if (threads <= 1 || c.openmp_regions <= 0 || c.computing_s <= 0)
        return {1, 1, 1, 1};
    const double serial = std::max(0.0, c.computing_s - c.openmp_regions_s);
    // Regions whose threads were not timed are taken to have had all threads, each of them useful.
    const double of_threads = std::min(c.openmp_threads_s, threads * c.openmp_regions_s);
    const double in_regions = of_threads > 0 ? of_threads + threads * c.openmp_tasks_s : threads * c.openmp_regions_s;
    const double lost = std::min(c.openmp_scheduling_s + c.openmp_imbalance_s, in_regions);
    const double scheduling = std::min(c.openmp_scheduling_s, lost), imbalance = lost - scheduling;
    // MPI calls of the ranks' own threads count as their part of the work, and the others' idling in them as none.
    const double working = serial + in_regions - lost + c.mpi_s;
    const double idle = std::max(0.0, threads * c.computing_s - serial - in_regions);
    const double with_idle = working + idle, with_imbalance = with_idle + imbalance, all = with_imbalance + scheduling;
    const auto part = [](double of, double whole) { return whole > 0 ? of / whole : 1; };
    return {part(working, all), part(working, with_idle), part(with_idle, with_imbalance), part(with_imbalance, all)};
}

namespace {

double over(double a, double b) { return a > 0 && b > 0 ? a / b : 1; }

// Adds the levels of computation scaling. Each is a factor of the first run's useful time over that of the others.
template <class Row> void compare_computing(const std::vector<const Report*>& runs, Row row)
{
    const Report& first = *runs[0];
    const auto scaling = [&](const Report& r) { return over(useful_s(first), useful_s(r)); };
    row(Compared::share, "computation scaling, from the first", 0, scaling);
    const Counters before = counters_of(first.totals);
    if (std::all_of(runs.begin(), runs.end(), [](const Report* r) { return counters_of(r->totals).hertz > 0; })) {
        row(Compared::share, "instructions", 1,
            [&](const Report& r) { return over(before.instructions, counters_of(r.totals).instructions); });
        row(Compared::share, "instructions per cycle", 1,
            [&](const Report& r) { return over(counters_of(r.totals).per_cycle, before.per_cycle); });
        row(Compared::share, "frequency", 1,
            [&](const Report& r) { return over(counters_of(r.totals).hertz, before.hertz); });
    }
    row(Compared::share, "global efficiency: parallel x scaling", 0,
        [&](const Report& r) { return r.as_is.parallel * scaling(r); });
}

} // namespace

std::vector<Compared> compare(const std::vector<const Report*>& runs)
{
    std::vector<Compared> rows;
    const auto row = [&](Compared::ValueKind kind, const std::string& text, unsigned depth, auto value) {
        Compared c = {kind, text, depth, {}};
        for (const Report* r : runs)
            c.values.push_back(value(*r));
        rows.push_back(std::move(c));
    };
    row(Compared::time, "elapsed", 0, [](const Report& r) { return r.elapsed_s; });
    row(Compared::time, "elapsed without sharing (estimate)", 0,
        [](const Report& r) { return r.without_stealing.elapsed_s; });
    const bool nodes = std::any_of(runs.begin(), runs.end(), [](const Report* r) { return r->nodes > 1; });
    for (const EfficiencyLevel& level : efficiency_levels)
        if (nodes || !level.of_nodes)
            row(Compared::share, level.text, level.depth, [&](const Report& r) { return r.as_is.*level.value; });
    if (runs.size() > 1)
        compare_computing(runs, row);
    for (const RankColumn& c : rank_columns)
        row(c.time ? Compared::time : Compared::count, c.text, 0,
            [&](const Report& r) { return r.totals.*c.value; });
    row(Compared::count, "chunks stolen", 0, [](const Report& r) { return r.totals.chunks_stolen; });
    row(Compared::time, "claim to first iteration, median", 0,
        [](const Report& r) { return r.totals.steal_latency.quantile(0.5); });
    return rows;
}

std::vector<ComparedLoop> compare_loops(const std::vector<const Report*>& runs)
{
    std::map<std::string, ComparedLoop> by_name;
    for (size_t i = 0; i < runs.size(); i++)
        for (const LoopFigures& l : runs[i]->loops) {
            ComparedLoop& loop = by_name[l.name];
            loop.name = l.name;
            loop.seconds.resize(runs.size());
            loop.stolen.resize(runs.size());
            const double iterations = l.counts.iterations_kept + l.counts.iterations_stolen;
            loop.seconds[i] = l.counts.computing_s + l.counts.borrowed_s;
            loop.stolen[i] = iterations > 0 ? l.counts.iterations_stolen / iterations : 0;
        }
    std::vector<ComparedLoop> loops;
    for (auto& [name, loop] : by_name)
        loops.push_back(std::move(loop));
    const auto all = [](const ComparedLoop& l) { return std::accumulate(l.seconds.begin(), l.seconds.end(), 0.0); };
    std::stable_sort(loops.begin(), loops.end(),
                     [&](const ComparedLoop& a, const ComparedLoop& b) { return all(a) > all(b); });
    return loops;
}

} // namespace ws::observe
