// SPDX-License-Identifier: MIT
#include "observe/loop_cause.h"

namespace ws::observe {

double per_run(const LoopFigures& l, double x) { return l.counts.executions > 0 ? x / l.counts.executions : 0; }
double time_of(const LoopFigures& l) { return l.counts.computing_s + l.counts.borrowed_s; }

bool has_tasks(const LoopFigures& l) { return l.counts.executions_with_tasks > 0.5 * l.counts.executions; }

double usual_run(const LoopFigures& l)
{
    const LoopCounts& c = l.counts;
    const double cut = c.cut_s + c.borrowed_s, whole = time_of(l) - cut, runs_whole = c.executions - c.executions_cut;
    return c.executions_cut > 0 && cut > whole ? cut / c.executions_cut : runs_whole > 0 ? whole / runs_whole : 0;
}

bool is_short(const LoopFigures& l) { return usual_run(l) < short_run_s; }

bool is_coarse(const LoopFigures& l, double cores, double waited)
{
    return l.counts.longest_chunk_s > 0.5 * per_run(l, time_of(l)) / cores &&
           waited > 0.1 * l.counts.longest_chunk_s * l.counts.executions;
}

LoopCause why_coarse(const LoopFigures& l)
{
    constexpr double many_iterations = 10'000; // per execution: enough, whatever the cores of the node
    const bool many = per_run(l, l.counts.iterations_kept + l.counts.iterations_stolen) >= many_iterations;
    // A chunk that took longer than an average execution had no CPU for a while, or executions differ a lot.
    return many || l.counts.longest_chunk_s > per_run(l, time_of(l)) ? LoopCause::long_chunk : LoopCause::coarse;
}

LoopCause loop_cause(const LoopFigures& l, double cores)
{
    const LoopCounts& c = l.counts;
    if (has_tasks(l))
        return LoopCause::tasks;
    if (c.executions_unpaid > 0.5 * c.executions)
        return LoopCause::gained_nothing;
    if (c.executions_shared < 0.01 * c.executions)
        return is_short(l) ? LoopCause::too_short : LoopCause::none_waited;
    if (c.executions_helped == 0)
        return LoopCause::not_helped;
    return is_coarse(l, cores, c.close_wait_s) ? why_coarse(l) : LoopCause::helped;
}

} // namespace ws::observe
