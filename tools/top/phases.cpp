// SPDX-License-Identifier: MIT
#include "phases.h"

#include <algorithm>

namespace ws::top {

namespace {

// Ticks of a rank.
struct PhaseTicks {
    double wall = 0, blocked = 0, lent = 0, borrowed = 0;

    double computing() const { return std::max(0.0, wall - blocked); }
};

PhaseTicks operator-(const PhaseTicks& a, const PhaseTicks& b)
{
    return {std::max(0.0, a.wall - b.wall), std::max(0.0, a.blocked - b.blocked), std::max(0.0, a.lent - b.lent),
            std::max(0.0, a.borrowed - b.borrowed)};
}

PhaseTicks operator+(const PhaseTicks& a, const PhaseTicks& b)
{
    return {a.wall + b.wall, a.blocked + b.blocked, a.lent + b.lent, a.borrowed + b.borrowed};
}

// In all phases, what is under way among it.
PhaseTicks in_all(const Reading& r)
{
    if (r.seats.empty())
        return {};
    const uint64_t end = r.until();
    PhaseTicks s;
    s.wall = end > r.attached_at ? double(end - r.attached_at) : 0;
    s.blocked = double(live_blocked(r.seats[0], end));
    s.lent = double(live_lent(r.seats[0], end));
    for (size_t i = 1; i < r.seats.size(); i++)
        s.borrowed += double(live_busy(r.seats[i], end));
    return s;
}

// In each phase. Ranks bring a phase's row up to date when the phase ends or another begins in it: what no row has yet
// belongs to the present phase.
std::vector<PhaseTicks> in_each(const Reading& r)
{
    std::vector<PhaseTicks> each;
    PhaseTicks settled;
    for (const PhaseReading& p : r.phases) {
        each.push_back({double(p.wall_ticks), double(p.blocked_ticks), double(p.lent_ticks), double(p.borrowed_ticks)});
        settled = settled + each.back();
    }
    if (r.present_phase < each.size())
        each[r.present_phase] = each[r.present_phase] + (in_all(r) - settled);
    return each;
}

// Ranks in one phase.
struct InPhase {
    PhaseTicks all;                             // of all ranks
    double longest = 0, most_computed = 0; // ticks: wall, computing and borrowed; of the rank with most
    double work = 0;                       // computing and borrowed
    std::vector<PhaseTicks> ranks;

    void add(const PhaseTicks& s)
    {
        if (s.wall <= 0)
            return;
        all = all + s;
        longest = std::max(longest, s.wall);
        most_computed = std::max(most_computed, s.computing() + s.borrowed);
        work += s.computing() + s.borrowed;
        ranks.push_back(s);
    }

    // helped: the part of the time for which cores were lent that guests computed on them. time: in all phases.
    PhaseMetrics metrics(double helped, double time) const
    {
        PhaseMetrics m;
        m.time_share = part(all.wall, time);
        const double n = double(ranks.size());
        m.shares.computing = part(all.computing(), all.wall);
        m.shares.lent = std::min(part(all.lent, all.wall), 1 - m.shares.computing);
        m.shares.waiting = all.wall > 0 ? std::max(0.0, 1 - m.shares.computing - m.shares.lent) : 0;
        m.shares.borrowed = all.wall > 0 ? all.borrowed / all.wall : 0;
        double useful = 0, most_useful = 0;
        for (const PhaseTicks& s : ranks) {
            const double own = std::min(s.wall, s.computing() + s.lent * helped);
            useful += own;
            most_useful = std::max(most_useful, own);
        }
        m.parallel_efficiency = part(useful, n * longest);
        m.load_balance = part(useful, n * most_useful);
        m.load_balance_without = part(work, n * most_computed);
        return m;
    }
};

struct PhaseSums {
    PhaseSample sample;
    InPhase interval, total;
};

double guest_share(const std::map<std::string, PhaseSums>& rows, InPhase PhaseSums::* which)
{
    double lent = 0, borrowed = 0;
    for (const auto& [name, row] : rows) {
        lent += (row.*which).all.lent;
        borrowed += (row.*which).all.borrowed;
    }
    return part(borrowed, lent);
}

} // namespace

std::vector<PhaseSample> phases(const std::vector<Reading>& after, const std::map<int, Reading>& before)
{
    std::map<std::string, PhaseSums> rows;
    double time = 0, ever = 0;
    for (const Reading& r : after) {
        const auto then = before.find(r.rank);
        const std::vector<PhaseTicks> now = in_each(r);
        const std::vector<PhaseTicks> old = then == before.end() ? std::vector<PhaseTicks>() : in_each(then->second);
        for (size_t i = 0; i < now.size(); i++) {
            PhaseSums& row = rows[r.phases[i].path];
            row.sample.entered = std::max(row.sample.entered, r.phases[i].entered);
            row.sample.ranks_now += i == r.present_phase && !r.over();
            row.sample.longest_s = std::max(row.sample.longest_s, now[i].wall / r.ticks_per_us * 1e-6);
            row.interval.add(i < old.size() ? now[i] - old[i] : now[i]);
            row.total.add(now[i]);
        }
    }
    if (rows.size() <= 1) // the run itself
        return {};
    for (const auto& [path, row] : rows) {
        time += row.interval.all.wall;
        ever += row.total.all.wall;
    }
    const double helped_now = guest_share(rows, &PhaseSums::interval),
                 helped_ever = guest_share(rows, &PhaseSums::total);
    std::vector<PhaseSample> result;
    for (auto& [path, row] : rows) {
        row.sample.path = path;
        row.sample.interval = row.interval.metrics(helped_now, time);
        row.sample.total = row.total.metrics(helped_ever, ever);
        result.push_back(std::move(row.sample));
    }
    std::stable_sort(result.begin(), result.end(), [](const PhaseSample& a, const PhaseSample& b) {
        const double x = a.interval.time_share, y = b.interval.time_share;
        return x != y ? x > y : a.longest_s > b.longest_s;
    });
    return result;
}

} // namespace ws::top
