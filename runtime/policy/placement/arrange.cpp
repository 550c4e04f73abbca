// SPDX-License-Identifier: MIT
#include "policy/placement/arrange.h"

#include <algorithm>
#include <array>
#include <map>

namespace ws::policy::placement {

namespace {

using Key = std::array<int, 3>;

Key key(const Spot& s, Domain domain)
{
    return {s.node, domain == Domain::numa ? s.numa : 0, domain == Domain::core ? s.core : 0};
}

// The processes of each bin, or the ranks.
std::vector<std::vector<int>> members(const Assignment& assignment, size_t bins)
{
    std::vector<std::vector<int>> all(bins);
    for (size_t i = 0; i < assignment.size(); i++)
        all[size_t(assignment[i])].push_back(int(i));
    return all;
}

// Both lists are as long, and ascending.
void spot(const std::vector<int>& ranks, const std::vector<int>& processes, std::vector<int>& order)
{
    std::vector<int> left;
    for (int r : ranks)
        if (std::binary_search(processes.begin(), processes.end(), r))
            order[size_t(r)] = r;
        else
            left.push_back(r);
    auto next = left.begin();
    for (int p : processes)
        if (!std::binary_search(ranks.begin(), ranks.end(), p))
            order[size_t(*next++)] = p;
}

} // namespace

Layout layout(const Spots& spots, Domain domain)
{
    Layout l;
    std::map<Key, int> bins, cores;
    for (const Spot& s : spots) {
        const auto [bin, is_new] = bins.emplace(key(s, domain), int(bins.size()));
        if (is_new)
            l.bins.push_back({0, 0});
        l.bins[size_t(bin->second)].room++;
        l.bins[size_t(bin->second)].width += cores.emplace(key(s, Domain::core), 0).second;
        l.bin_of.push_back(bin->second);
    }
    // A core that belongs to two NUMA domains is counted for the first; none may come out without width.
    for (Bin& b : l.bins)
        b.width = std::max(b.width, 1.0);
    return l;
}

std::vector<int> arrange(const Loads& loads, const Spots& spots, Domain domain, Algorithm algorithm)
{
    const Layout l = layout(spots, domain);
    // As it stands, process p is rank p and has its load.
    const auto ranks = members(balance(algorithm, loads, l.bins, l.bin_of), l.bins.size());
    const auto processes = members(l.bin_of, l.bins.size());
    std::vector<int> order(spots.size());
    for (size_t b = 0; b < l.bins.size(); b++) {
        if (domain == Domain::core) {
            spot(ranks[b], processes[b], order);
            continue;
        }
        Spots within;
        Loads theirs;
        for (int p : processes[b])
            within.push_back(spots[size_t(p)]);
        for (int r : ranks[b])
            theirs.push_back(loads[size_t(r)]);
        const Layout inner = layout(within, Domain::core);
        const Assignment present = ranks[b] == processes[b] ? inner.bin_of : Assignment{};
        const auto on_core = members(balance(algorithm, theirs, inner.bins, present), inner.bins.size());
        const auto of_core = members(inner.bin_of, inner.bins.size());
        for (size_t c = 0; c < inner.bins.size(); c++) {
            std::vector<int> r, p;
            for (int i : on_core[c])
                r.push_back(ranks[b][size_t(i)]);
            for (int i : of_core[c])
                p.push_back(processes[b][size_t(i)]);
            spot(r, p, order);
        }
    }
    return order;
}

double highest(const Loads& loads, const Spots& spots, Domain domain)
{
    const Layout l = layout(spots, domain);
    return heaviest(loads, l.bins, l.bin_of);
}

double imbalance(const Loads& loads, const Spots& spots)
{
    const Layout l = layout(spots, Domain::core);
    const Loads s = scaled(loads);
    double sum = 0;
    for (double load : s)
        sum += load;
    return sum > 0 ? heaviest(s, l.bins, l.bin_of) * double(l.bins.size()) / sum : 1;
}

} // namespace ws::policy::placement
