// SPDX-License-Identifier: MIT
#include "policy/placement/spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ws::policy::placement {

int Classes::of(double load) const
{
    if (!(load > 0))
        return count - 1;
    const double i = std::ceil(count / 2 - std::log2(load) / step);
    return int(std::clamp(i, 0.0, double(count - 1)));
}

Tally operator+(const Tally& a, const Tally& b)
{
    if (!a.count || !b.count)
        return a.count ? a : b;
    return {a.count + b.count, std::min(a.least, b.least), std::max(a.most, b.most)};
}

bool refine(Classes& classes, const std::vector<Tally>& tallies, int units)
{
    if (classes.count >= most_classes)
        return false;
    double sum = 0, worst = 0, loads = 0;
    size_t where = 0;
    for (size_t i = 0; i < tallies.size(); i++) {
        const Tally& t = tallies[i];
        loads += double(t.count);
        const double each = std::ceil(double(t.count) / units); // loads of the class that a unit gets
        const double spread = each * (t.most - t.least);
        sum += spread;
        if (spread > worst) {
            worst = spread;
            where = i;
        }
    }
    if (!(sum > 0.02 * loads / units))
        return false;
    classes.count *= 2;
    if (where != 0 && where != tallies.size() - 1)
        classes.step /= 2;
    return true;
}

int number_of_units(const PlacementUnits& units) { return std::accumulate(units.count.begin(), units.count.end(), 0); }

int64_t place_of(const PlacementUnits& units, int number, int slot, bool snake)
{
    int64_t place = 0;
    int open = number_of_units(units), full = 0; // units that take part in a turn, that are full before it
    auto after = [&](int turn) { // how many units are full then
        const int i = turn - units.least_room;
        return i >= 0 && size_t(i) < units.count.size() ? units.count[size_t(i)] : 0;
    };
    for (int turn = 0; turn < slot; turn++) {
        place += open;
        full += after(turn + 1);
        open -= after(turn + 1);
    }
    const int own = number - full;
    return place + (snake && slot % 2 ? open - 1 - own : own);
}

uint64_t mark(int rank)
{
    // The finishing steps of SplitMix64 (Steele, Lea, Flood): every bit of the rank acts on all bits.
    uint64_t x = (uint64_t(rank) + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

} // namespace ws::policy::placement
