// SPDX-License-Identifier: MIT
#include "loops.h"

#include "words.h"

namespace ws::top {

std::vector<Line> loop_lines(const JobSample& job, size_t most, const View&, unsigned width)
{
    std::vector<Line> lines;
    if (job.loops.empty() || most < 2)
        return lines;
    const bool wide = width >= 76;
    const unsigned numbers = wide ? 47 : 22, name = width > numbers ? width - numbers : 0;
    lines.emplace_back().add(padded("LOOP", -int(name)) + "  OWN% GUEST%  STEAL/s" +
                                 (wide ? "  EXECS/s  STOLEN    KEPT" : ""),
                             Style::heading);
    for (size_t i = 0; i < job.loops.size() && i + 1 < most; i++) {
        const LoopSample& l = job.loops[i];
        Line line;
        line.add(padded(cut_in_front(short_loop(l.name), name), -int(name)));
        line.add(padded(percent(l.owner_share), 6), Style::computing)
            .add(padded(percent(l.guest_share), 7), Style::borrowed)
            .add(padded(number(l.steals_per_s), 9));
        if (wide)
            line.add(padded(number(l.executions_per_s), 9) + padded(number(l.chunks_stolen), 8) +
                     padded(number(l.chunks_kept), 8));
        lines.push_back(line);
    }
    return lines;
}

} // namespace ws::top
