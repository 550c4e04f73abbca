// SPDX-License-Identifier: MIT
#include "policy/rows/partition.h"

#include <cmath>

namespace ws::policy::rows {

Starts equal_parts(Rows rows, size_t active, size_t processes)
{
    const Rows n = Rows(active);
    Starts starts(processes + 1, rows);
    for (Rows r = 0; r <= n; r++)
        starts[size_t(r)] = rows / n * r + std::min(r, rows % n);
    return starts;
}

Starts joined(const std::vector<Part>& parts)
{
    Rows whole = -1, next = 0;
    Starts starts = {0};
    for (const Part& p : parts) {
        if (p.rows >= 0 && whole >= 0 && p.rows != whole)
            return {};
        whole = std::max(whole, p.rows);
        if (p.count > 0 && p.begin != next)
            return {};
        next += p.count;
        starts.push_back(next);
    }
    return next == whole ? starts : Starts();
}

std::vector<double> rates_of(const std::vector<Work>& all, std::vector<double>& known)
{
    double sum = 0;
    size_t some = 0;
    known.resize(all.size());
    for (size_t i = 0; i < all.size(); i++) {
        if (all[i].units > 0 && all[i].real > 0)
            known[i] = all[i].units / all[i].real;
        sum += known[i];
        some += known[i] > 0;
    }
    std::vector<double> rates = known;
    for (double& rate : rates)
        if (rate == 0 && some)
            rate = sum / double(some);
    return rates;
}

std::vector<double> relative_power(const std::vector<double>& rates)
{
    double sum = 0;
    for (const double rate : rates)
        sum += rate;
    std::vector<double> shares;
    for (const double rate : rates)
        shares.push_back(sum > 0 ? rate / sum : 1 / double(rates.size()));
    return shares;
}

std::vector<Work> Attribution::costs(const std::vector<Work>& all) const
{
    std::vector<Work> costs = all;
    if (const double part = of_rows(); part > 0)
        for (Work& w : costs)
            if (w.units > 0 && w.real > 0)
                w.units = std::pow(w.units, 1 - part) * std::pow(w.real, part);
    return costs;
}

void Attribution::learn(const Starts& before, const std::vector<Work>& then, const Starts& after,
                        const std::vector<Work>& now)
{
    const auto slowness = [](const Work& w) { return w.units > 0 && w.real > 0 ? w.real / w.units : 0; };
    // By how much each was slower than the mean, in logarithms: if slowness is the process's, it has what it had; if it
    // is the rows', it has that of the rows that it has now.
    struct Slowness {
        double was, rows_say, is;
    };
    std::vector<Slowness> all;
    double mean[3] = {};
    for (size_t p = 0; p < now.size(); p++) {
        const Range r = range_of(after, p);
        double of_rows = 0;
        bool known = slowness(now[p]) > 0 && slowness(then[p]) > 0;
        size_t q = size_t(std::upper_bound(before.begin(), before.end(), r.begin) - before.begin()) - 1;
        for (; known && q < then.size() && before[q] < r.end; q++)
            if (const Range part = common(range_of(before, q), r); !part.empty()) {
                known = slowness(then[q]) > 0;
                of_rows += double(part.size()) / double(r.size()) * slowness(then[q]);
            }
        if (!known || !(of_rows > 0))
            continue;
        all.push_back({std::log(slowness(then[p])), std::log(of_rows), std::log(slowness(now[p]))});
        mean[0] += all.back().was, mean[1] += all.back().rows_say, mean[2] += all.back().is;
    }
    constexpr double forgotten = 0.5;
    product_ *= forgotten;
    square_ *= forgotten;
    const double n = double(all.size());
    for (const Slowness& s : all) {
        const double was = s.was - mean[0] / n, apart = s.rows_say - mean[1] / n - was, went = s.is - mean[2] / n - was;
        product_ += apart * went;
        square_ += apart * apart;
    }
}

std::vector<double> cuts_of(const std::vector<Work>& all, const std::vector<double>& shares)
{
    double total = 0;
    for (const Work& w : all)
        total += w.units;
    std::vector<double> cuts(shares.size());
    for (size_t j = 1; j < shares.size(); j++)
        cuts[j] = cuts[j - 1] + shares[j - 1] * total;
    return cuts;
}

void settle(Starts& starts, Rows rows, size_t active)
{
    const size_t n = active;
    const Rows least = rows >= Rows(n) ? 1 : 0;
    starts[0] = 0;
    std::fill(starts.begin() + std::ptrdiff_t(n), starts.end(), rows);
    for (size_t j = 1; j < n; j++)
        starts[j] = std::clamp(std::max(starts[j], starts[j - 1] + least), Rows(0), rows - Rows(n - j) * least);
}

namespace {

// What rows cost, alike within each process of a partition. Those who ask go through the rows in one direction, so that
// a pass over all processes takes as long as there are processes.
class Costs {
public:
    Costs(const Starts& now, const std::vector<Work>& all) : now_(now), before_(all.size() + 1)
    {
        for (size_t i = 0; i < all.size(); i++)
            before_[i + 1] = before_[i] + all[i].units;
    }
    double all() const { return before_.back(); }
    double before(Rows row)
    {
        to(row);
        return before_[at_] + double(row - now_[at_]) * each();
    }
    // Returns how far `units` units reach: from `begin` on, and up to `end`.
    Rows forth(Rows begin, double units)
    {
        const double wanted = before(begin) + units * (1 + rounding);
        while (at_ + 2 < now_.size() && before_[at_ + 1] <= wanted)
            at_++;
        return std::min(now_[at_ + 1], now_[at_] + rows_of(wanted - before_[at_]));
    }
    Rows back(Rows end, double units)
    {
        const double wanted = before(end) - units * (1 + rounding);
        while (at_ > 0 && before_[at_] >= wanted)
            at_--;
        return std::max(now_[at_], now_[at_ + 1] - rows_of(before_[at_ + 1] - wanted));
    }

private:
    static constexpr double rounding = 1e-9;
    double each() const
    {
        const Rows count = now_[at_ + 1] - now_[at_];
        return count ? (before_[at_ + 1] - before_[at_]) / double(count) : 0;
    }
    Rows rows_of(double units) const
    {
        const Rows count = now_[at_ + 1] - now_[at_];
        return each() > 0 ? Rows(std::min(units / each(), double(count))) : count;
    }
    void to(Rows row)
    {
        while (at_ + 2 < now_.size() && now_[at_ + 1] <= row)
            at_++;
        while (at_ > 0 && now_[at_] > row)
            at_--;
    }

    const Starts& now_;
    std::vector<double> before_;
    size_t at_ = 0;
};

// Those with which the slowest process is fastest, in place of starts that were rounded to the next row: found by
// trying times, in which each process takes as many rows as it can (Pinar and Aykanat: Fast optimal load balancing
// algorithms for 1D partitioning, 2004). Where rows differ in cost, and processes have one or two, it may miss the
// best.
Starts spare_the_slowest(Starts starts, Costs& costs, const std::vector<double>& shares)
{
    const size_t n = shares.size();
    const Rows rows = starts[n], least = rows >= Rows(n) ? 1 : 0;
    // `time`: 1 if all finish together.
    const auto reach = [&](size_t p, Rows begin, double time) {
        const Rows most = rows - Rows(n - 1 - p) * least;
        return std::clamp(costs.forth(begin, time * shares[p] * costs.all()), begin + least, most);
    };
    double time = 1;
    for (size_t p = 0; p < n; p++)
        if (const double units = costs.before(starts[p + 1]) - costs.before(starts[p]);
            starts[p + 1] - starts[p] > least && shares[p] > 0)
            time = std::max(time, units / (shares[p] * costs.all()));
    constexpr double worth = 0.002; // of the time
    double impossible = 1;
    while (time - impossible > worth * time) {
        const double middle = (time + impossible) / 2;
        Rows end = 0;
        for (size_t p = 0; p < n; p++)
            end = reach(p, end, middle);
        (end == rows ? time : impossible) = middle;
    }
    // As near to the starts that were found as that time allows: from where the processes behind can take the rest.
    std::vector<Rows> earliest(n + 1, rows);
    for (size_t p = n; p-- > 1;)
        earliest[p] = std::clamp(costs.back(earliest[p + 1], time * shares[p] * costs.all()), Rows(p) * least,
                                 earliest[p + 1] - least);
    for (size_t p = 1; p < n; p++) {
        const Rows latest = reach(p - 1, starts[p - 1], time);
        starts[p] = std::max(std::clamp(starts[p], starts[p - 1] + least, latest), earliest[p]);
    }
    return starts;
}

} // namespace

Starts next_partition(const Starts& now, const std::vector<Work>& all, const std::vector<double>& shares)
{
    Starts found(now.size(), -1);
    const std::vector<double> cuts = cuts_of(all, shares);
    double first = 0;
    for (size_t i = 0; i < all.size(); i++) {
        place_cuts(range_of(now, i), all[i].units, first, cuts, [](Rows n) { return n; }, found);
        first += all[i].units;
    }
    Costs costs(now, all);
    if (!(costs.all() > 0))
        return equal_parts(now.back(), shares.size(), all.size());
    settle(found, now.back(), shares.size());
    Starts spared = spare_the_slowest(found, costs, shares);
    return slowest(now, all, shares, spared) < slowest(now, all, shares, found) ? spared : found;
}

double slowest(const Starts& now, const std::vector<Work>& all, const std::vector<double>& rates, const Starts& next)
{
    Costs costs(now, all);
    double longest = 0;
    for (size_t p = 0; p < rates.size(); p++)
        if (const double units = costs.before(next[p + 1]) - costs.before(next[p]); units > 0 && rates[p] > 0)
            longest = std::max(longest, units / rates[p]);
    return longest;
}

} // namespace ws::policy::rows
