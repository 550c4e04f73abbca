// SPDX-License-Identifier: MIT
#include "policy/rows/goal.h"

#include <algorithm>

namespace ws::policy::rows {

namespace {

double power_of(size_t n, const std::vector<double>& rates)
{
    double power = 0;
    for (size_t p = 0; p < n; p++)
        power += rates[p];
    return power;
}

} // namespace

void Goal::set(Aim aim, double value)
{
    aim_ = aim;
    value_ = value;
    leaning_ = 0;
}

void Goal::measured(size_t active, double beyond) { beyond_[active] = std::max(beyond, 0.0); }

double Goal::beyond(size_t n) const
{
    if (beyond_.empty())
        return 0;
    const auto above = beyond_.lower_bound(n);
    if (above == beyond_.end())
        return beyond_.rbegin()->second;
    if (above->first == n || above == beyond_.begin())
        return above->second;
    const auto below = std::prev(above);
    const double part = double(n - below->first) / double(above->first - below->first);
    return below->second + part * (above->second - below->second);
}

double Goal::predicted(size_t n, double units, const std::vector<double>& rates) const
{
    const double power = power_of(n, rates);
    return (power > 0 ? units / power : 0) + beyond(n);
}

double Goal::efficiency(size_t n, double units, const std::vector<double>& rates) const
{
    const double all = predicted(n, units, rates);
    return all > 0 ? 1 - beyond(n) / all : 1;
}

size_t Goal::best(size_t active, size_t most, double units, const std::vector<double>& rates) const
{
    const auto time = [&](size_t n) { return predicted(n, units, rates); };
    if (aim_ == Aim::time) {
        const bool slow = time(active) > value_;
        const double enough = slow ? value_ : (1 - margin) * value_;
        size_t fastest = active;
        for (size_t n = 1; n <= (slow ? most : active); n++) {
            if (time(n) <= enough)
                return n;
            fastest = time(n) < time(fastest) ? n : fastest;
        }
        return slow && time(fastest) < (1 - margin) * time(active) ? fastest : active;
    }
    const double more = value_ + margin * (1 - value_); // than that, to grow
    for (size_t n = most; n > 1; n--)
        if (efficiency(n, units, rates) >= (n > active ? more : value_))
            return n;
    return 1;
}

size_t Goal::choose(size_t active, size_t most, double units, const std::vector<double>& rates)
{
    const size_t n = is_set() && units > 0 ? best(active, most, units, rates) : active;
    const int leans = (n > active) - (n < active);
    const bool again = leans == leaning_;
    leaning_ = again ? 0 : leans; // what is done begins again
    return again ? n : active;
}

double Goal::gain(size_t active, size_t to, double units, const std::vector<double>& rates) const
{
    if (to > active)
        return predicted(active, units, rates) - predicted(to, units, rates);
    return double(active - to) / double(active) * predicted(to, units, rates);
}

} // namespace ws::policy::rows
