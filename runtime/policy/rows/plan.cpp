// SPDX-License-Identifier: MIT
#include "policy/rows/plan.h"

namespace ws::policy::rows {

namespace {

// The parts of `rows` that lie outside of `mine`, by their owners in `starts`.
std::vector<Piece> parts_of(Range rows, Range mine, const Starts& starts)
{
    std::vector<Piece> pieces;
    const Range kept = common(rows, mine);
    const Range sides[] = {{rows.begin, kept.empty() ? rows.end : kept.begin},
                           {kept.empty() ? rows.end : kept.end, rows.end}};
    for (const Range& side : sides) {
        if (side.empty())
            continue;
        size_t p = size_t(std::upper_bound(starts.begin(), starts.end(), side.begin) - starts.begin()) - 1;
        for (; p + 1 < starts.size() && starts[p] < side.end; p++)
            if (const Range part = common(range_of(starts, p), side); !part.empty())
                pieces.push_back({p, part});
    }
    return pieces;
}

} // namespace

std::vector<Piece> outgoing(const Starts& from, const Starts& to, size_t me)
{
    return parts_of(range_of(from, me), range_of(to, me), to);
}

std::vector<Piece> incoming(const Starts& from, const Starts& to, size_t me)
{
    return parts_of(range_of(to, me), range_of(from, me), from);
}

Volume volume_of(const Starts& from, const Starts& to)
{
    Volume v;
    for (size_t p = 0; p + 1 < from.size(); p++) {
        const Range had = range_of(from, p), gets = range_of(to, p);
        const Rows kept = common(had, gets).size(), in = gets.size() - kept, out = had.size() - kept;
        v.all += in;
        v.most = std::max(v.most, in + out);
    }
    return v;
}

Starts part_way(const Starts& from, const Starts& to, Rows part, Rows parts)
{
    Starts between;
    // Not (to - from) * part, which may not fit.
    for (size_t i = 0; i < from.size(); i++) {
        const Rows way = to[i] - from[i];
        between.push_back(from[i] + way / parts * part + way % parts * part / parts);
    }
    return between;
}

Rows surplus_of(Range from, Range to)
{
    if (common(from, to).empty())
        return std::min(from.size(), to.size());
    const Rows both = std::max(from.end, to.end) - std::min(from.begin, to.begin);
    return both - std::max(from.size(), to.size());
}

} // namespace ws::policy::rows
