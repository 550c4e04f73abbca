// SPDX-License-Identifier: MIT
#include "policy/placement/neighbours.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <random>

namespace ws::policy::placement {

namespace {

double distance(const Spot& a, const Spot& b)
{
    return a.node != b.node ? between_nodes : a.core != b.core ? within_node : 0;
}

// The sum of each bin, and how high any may become.
struct Heights {
    Layout layout;
    std::vector<double> sum;
    double limit;

    Heights(const std::vector<int>& process_of, const Loads& loads, const Spots& spots, Domain domain)
        : layout(placement::layout(spots, domain)), sum(layout.bins.size())
    {
        for (size_t r = 0; r < loads.size(); r++)
            sum[size_t(layout.bin_of[size_t(process_of[r])])] += loads[r];
        limit = 0;
        for (size_t b = 0; b < sum.size(); b++)
            limit = std::max(limit, sum[b] / layout.bins[b].width);
        limit *= 1 + 1e-9;
    }
    double over(size_t bin, double more) const
    {
        return std::max((sum[bin] + more) / layout.bins[bin].width - limit, 0.0);
    }
    // By how much more the bins would be too high if so much were moved from the process `from` to the process `to`.
    double excess(int from, int to, double more) const
    {
        const size_t a = size_t(layout.bin_of[size_t(from)]), b = size_t(layout.bin_of[size_t(to)]);
        return a == b || more == 0 ? 0 : over(a, -more) + over(b, more) - over(a, 0) - over(b, 0);
    }
    bool fits() const
    {
        for (size_t b = 0; b < sum.size(); b++)
            if (over(b, 0) > 0)
                return false;
        return true;
    }
    void move(int from, int to, double more)
    {
        sum[size_t(layout.bin_of[size_t(from)])] -= more;
        sum[size_t(layout.bin_of[size_t(to)])] += more;
    }
};

} // namespace

double distance_sum(const std::vector<int>& order, const Spots& spots, const Edges& edges)
{
    double sum = 0;
    for (const Edge& e : edges)
        sum += e.weight * distance(spots[size_t(order[size_t(e.from)])], spots[size_t(order[size_t(e.to)])]);
    return sum;
}

std::vector<int> draw_together(std::vector<int> order, const Loads& given, const Spots& spots, const Edges& edges,
                               Domain domain, double seconds)
{
    const size_t n = order.size();
    struct Neighbour {
        int rank;
        double weight;
    };
    std::vector<std::vector<Neighbour>> neighbours(n);
    double weights = 0;
    size_t count = 0;
    for (const Edge& e : edges)
        if (e.from != e.to && e.weight > 0) {
            neighbours[size_t(e.from)].push_back({e.to, double(e.weight)});
            neighbours[size_t(e.to)].push_back({e.from, double(e.weight)});
            weights += e.weight;
            count++;
        }
    if (count == 0)
        return order;
    const Loads loads = scaled(given);
    Heights cores(order, loads, spots, Domain::core), domains(order, loads, spots, domain);
    std::vector<std::vector<int>> beside(cores.layout.bins.size()); // processes of each core
    std::vector<int> rank_at(n);
    for (size_t p = 0; p < n; p++)
        beside[size_t(cores.layout.bin_of[p])].push_back(int(p));
    for (size_t r = 0; r < n; r++)
        rank_at[size_t(order[r])] = int(r);

    // What rank `r` has less to its neighbours when it moves from p to q, which `other` leaves for p: between those two
    // nothing changes.
    auto gain = [&](int r, int p, int q, int other) {
        double sum = 0;
        for (const Neighbour& x : neighbours[size_t(r)])
            if (x.rank != other) {
                const Spot& s = spots[size_t(order[size_t(x.rank)])];
                sum += x.weight * (distance(spots[size_t(p)], s) - distance(spots[size_t(q)], s));
            }
        return sum;
    };

    const double begin = distance_sum(order, spots, edges);
    double now = begin, least = begin;
    std::vector<int> best = order;
    std::mt19937 random(1);
    auto below = [&](size_t k) { return int(random() % k); };
    const long steps = std::min(5000 * long(n), 2000000l);
    const double hot = 2 * weights / double(count), cold = 0.02 * hot,
                 cooling = std::pow(cold / hot, 1.0 / double(steps));
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    double heat = hot, sum = 0;
    for (double load : loads)
        sum += load;
    const double price = sum > 0 ? 2 * hot * double(n) / sum : 0; // of being too high by an average load
    auto accept = [&](double better) {
        return better >= 0 || std::exp(better / heat) * double(std::mt19937::max()) >= double(random());
    };
    auto note = [&](double less) {
        now -= less;
        if (now < least * (1 - 1e-9) && cores.fits() && domains.fits()) {
            least = now;
            best = order;
        }
    };
    const bool several_nodes =
        std::any_of(spots.begin(), spots.end(), [&](const Spot& s) { return s.node != spots[0].node; });
    for (long step = 0; step < steps && least > 0; step++, heat *= cooling) {
        if ((step & 255) == 0 && std::chrono::steady_clock::now() > until)
            break;
        // ranks that have come together on a core move together, or they never would
        if (several_nodes && step % 32 == 0) {
            const size_t a = size_t(below(beside.size())), b = size_t(below(beside.size()));
            const std::vector<int> &from = beside[a], &to = beside[b];
            if (from.size() != to.size() || spots[size_t(from[0])].node == spots[size_t(to[0])].node)
                continue;
            double less = 0, more = 0;
            for (const auto& [here, there] : {std::pair(&from, &to), std::pair(&to, &from)})
                for (int p : *here)
                    for (const Neighbour& x : neighbours[size_t(rank_at[size_t(p)])]) {
                        const size_t q = size_t(order[size_t(x.rank)]), core = size_t(cores.layout.bin_of[q]);
                        if (core != a && core != b)
                            less += x.weight * (distance(spots[size_t(p)], spots[q]) -
                                                distance(spots[size_t((*there)[0])], spots[q]));
                    }
            more = cores.sum[a] - cores.sum[b];
            // Widths of cores are alike, so between them nothing becomes too high.
            if (!accept(less - domains.excess(from[0], to[0], more) * price))
                continue;
            cores.move(from[0], to[0], more);
            domains.move(from[0], to[0], more);
            for (size_t i = 0; i < from.size(); i++) {
                std::swap(rank_at[size_t(from[i])], rank_at[size_t(to[i])]);
                order[size_t(rank_at[size_t(from[i])])] = from[i];
                order[size_t(rank_at[size_t(to[i])])] = to[i];
            }
            note(less);
            continue;
        }
        const int a = below(n), p = order[size_t(a)];
        int q = below(n);
        if (const auto& to = neighbours[size_t(a)]; step % 2 && !to.empty()) { // next to one of its neighbours
            const auto& there =
                beside[size_t(cores.layout.bin_of[size_t(order[size_t(to[size_t(below(to.size()))].rank)])])];
            q = there[size_t(below(there.size()))];
        }
        const int b = rank_at[size_t(q)];
        if (cores.layout.bin_of[size_t(p)] == cores.layout.bin_of[size_t(q)])
            continue;
        const double more = loads[size_t(a)] - loads[size_t(b)];
        // On the way to a better deal some bins may be too high for a while.
        const double less = gain(a, p, q, b) + gain(b, q, p, a),
                     too_high = cores.excess(p, q, more) + domains.excess(p, q, more);
        if (!accept(less - too_high * price))
            continue;
        cores.move(p, q, more);
        domains.move(p, q, more);
        std::swap(order[size_t(a)], order[size_t(b)]);
        std::swap(rank_at[size_t(p)], rank_at[size_t(q)]);
        note(less);
    }
    return best;
}

} // namespace ws::policy::placement
