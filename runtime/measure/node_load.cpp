// SPDX-License-Identifier: MIT
#include "measure/node_load.h"

#include <algorithm>

namespace ws::measure {

using window::Load;

NodeLoad summed_up(const std::vector<Load>& loads, unsigned cores, uint64_t now, double ticks_per_us)
{
    const auto s = [&](uint64_t ticks) { return double(ticks) / ticks_per_us * 1e-6; };
    NodeLoad sum;
    sum.at = now;
    sum.measured_s = s(now);
    sum.ranks = unsigned(loads.size());
    sum.cores = cores;
    for (const Load& l : loads) {
        sum.computing += !l.waits;
        sum.useful_s += s(l.useful);
        sum.waited_s += s(l.waited);
        sum.borrowed_s += s(l.borrowed);
        sum.kept_off_s += s(l.kept_off);
        sum.period_s = std::max(sum.period_s, s(l.period));
    }
    return sum;
}

} // namespace ws::measure
