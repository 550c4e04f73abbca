// SPDX-License-Identifier: MIT
#include "policy/flex/partition.h"

#include <cmath>

namespace ws::policy::flex {

Starts equal_parts(Rows rows, size_t processes)
{
    const Rows n = Rows(processes);
    Starts starts(processes + 1);
    for (Rows r = 0; r <= n; r++)
        starts[size_t(r)] = rows / n * r + std::min(r, rows % n);
    return starts;
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
    struct Row {
        double was, rows_say, is;
    };
    std::vector<Row> rows;
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
        rows.push_back({std::log(slowness(then[p])), std::log(of_rows), std::log(slowness(now[p]))});
        mean[0] += rows.back().was, mean[1] += rows.back().rows_say, mean[2] += rows.back().is;
    }
    constexpr double forgotten = 0.5;
    product_ *= forgotten;
    square_ *= forgotten;
    const double n = double(rows.size());
    for (const Row& r : rows) {
        const double was = r.was - mean[0] / n, apart = r.rows_say - mean[1] / n - was, went = r.is - mean[2] / n - was;
        product_ += apart * went;
        square_ += apart * apart;
    }
}

std::vector<double> cuts_of(const std::vector<Work>& all, const std::vector<double>& shares)
{
    double total = 0;
    for (const Work& w : all)
        total += w.units;
    std::vector<double> cuts(all.size());
    for (size_t j = 1; j < all.size(); j++)
        cuts[j] = cuts[j - 1] + shares[j - 1] * total;
    return cuts;
}

void settle(Starts& starts, Rows rows)
{
    const size_t n = starts.size() - 1;
    const Rows least = rows >= Rows(n) ? 1 : 0;
    starts[0] = 0;
    starts[n] = rows;
    for (size_t j = 1; j < n; j++)
        starts[j] = std::clamp(std::max(starts[j], starts[j - 1] + least), Rows(0), rows - Rows(n - j) * least);
}

Starts next_partition(const Starts& now, const std::vector<Work>& all, const std::vector<double>& shares)
{
    Starts found(now.size(), -1);
    const std::vector<double> cuts = cuts_of(all, shares);
    double first = 0;
    for (size_t i = 0; i < all.size(); i++) {
        place_cuts(range_of(now, i), all[i].units, first, cuts, [](Rows n) { return n; }, found);
        first += all[i].units;
    }
    settle(found, now.back());
    return found;
}

} // namespace ws::policy::flex
