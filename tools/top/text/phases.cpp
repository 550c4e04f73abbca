// SPDX-License-Identifier: MIT
#include "phases.h"

#include "words.h"

namespace ws::top {

std::vector<Line> phase_lines(const JobSample& job, size_t most, const View& view, unsigned width)
{
    std::vector<Line> lines;
    if (job.phases.empty() || most < 2)
        return lines;
    const bool wide = width >= 76;
    const unsigned numbers = wide ? 57 : 24, name = width > numbers ? width - numbers : 0;
    lines.emplace_back().add(padded("PHASE", -int(name)) + " RANKS TIME%  COMP  LENT" +
                                 (wide ? "  WAIT  BORR   EFF    LB  ENTERED" : ""),
                             Style::heading);
    for (size_t i = 0; i < job.phases.size() && i + 1 < most; i++) {
        const PhaseSample& p = job.phases[i];
        const PhaseMetrics& m = view.since_start ? p.total : p.interval;
        Line line;
        line.add(padded(cut_in_front(p.path.empty() ? "(in no phase)" : p.path, name), -int(name)))
            .add(padded(number(uint64_t(p.ranks_now)), 6) + padded(percent(m.time_share), 6))
            .add(padded(percent(m.shares.computing), 6), Style::computing)
            .add(padded(percent(m.shares.lent), 6), Style::lent);
        if (wide)
            line.add(padded(percent(m.shares.waiting), 6), Style::waiting)
                .add(padded(percent(m.shares.borrowed), 6), Style::borrowed)
                .add(padded(percent(m.parallel_efficiency), 6) + padded(percent(m.load_balance), 6) +
                     padded(number(p.entered), 9));
        lines.push_back(line);
    }
    return lines;
}

} // namespace ws::top
