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
    // Returns by how much more the bins would be too high if `more` moved from the process `from` to the process `to`.
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

namespace {

struct Neighbour {
    int rank;
    double weight;
};
using Neighbours = std::vector<std::vector<Neighbour>>; // of each rank

Neighbours neighbours_of(const Edges& edges, size_t ranks)
{
    Neighbours all(ranks);
    for (const Edge& e : edges)
        if (e.from != e.to && e.weight > 0) {
            all[size_t(e.from)].push_back({e.to, double(e.weight)});
            all[size_t(e.to)].push_back({e.from, double(e.weight)});
        }
    return all;
}

// Simulated annealing: ranks change places, for the worse too while it is hot.
class Annealing {
public:
    Annealing(std::vector<int> order, Loads loads, const Spots& spots, Neighbours neighbours, double distances,
              Domain domain)
        : order_(std::move(order)), loads_(std::move(loads)), spots_(spots), neighbours_(std::move(neighbours)),
          cores_(order_, loads_, spots, Domain::core), domains_(order_, loads_, spots, domain),
          beside_(cores_.layout.bins.size()), rank_at_(order_.size()), now_(distances), least_(distances), best_(order_)
    {
        for (size_t p = 0; p < order_.size(); p++)
            beside_[size_t(cores_.layout.bin_of[p])].push_back(int(p));
        for (size_t r = 0; r < order_.size(); r++)
            rank_at_[size_t(order_[r])] = int(r);
    }

    // `weight`: of an edge on average.
    std::vector<int> run(double weight, double seconds)
    {
        const long steps = std::min(5000 * long(order_.size()), 2000000l);
        const double hot = 2 * weight, cold = 0.02 * hot, cooling = std::pow(cold / hot, 1.0 / double(steps));
        const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        double sum = 0;
        for (double load : loads_)
            sum += load;
        price_ = sum > 0 ? 2 * hot * double(order_.size()) / sum : 0;
        heat_ = hot;
        const bool several_nodes =
            std::any_of(spots_.begin(), spots_.end(), [&](const Spot& s) { return s.node != spots_[0].node; });
        for (long step = 0; step < steps && least_ > 0; step++, heat_ *= cooling) {
            if ((step & 255) == 0 && std::chrono::steady_clock::now() > until)
                break;
            // ranks that have come together on a core move together, or they never would
            if (several_nodes && step % 32 == 0)
                try_cores();
            else
                try_ranks(step % 2);
        }
        return best_;
    }

private:
    int below(size_t k) { return int(random_() % k); }
    bool accept(double better)
    {
        return better >= 0 || std::exp(better / heat_) * double(std::mt19937::max()) >= double(random_());
    }
    void note(double less)
    {
        now_ -= less;
        if (now_ < least_ * (1 - 1e-9) && cores_.fits() && domains_.fits()) {
            least_ = now_;
            best_ = order_;
        }
    }

    // What rank `r` has less to its neighbours when it moves from p to q, which `other` leaves for p: between those two
    // nothing changes.
    double gain(int r, int p, int q, int other) const
    {
        double sum = 0;
        for (const Neighbour& x : neighbours_[size_t(r)])
            if (x.rank != other) {
                const Spot& s = spots_[size_t(order_[size_t(x.rank)])];
                sum += x.weight * (distance(spots_[size_t(p)], s) - distance(spots_[size_t(q)], s));
            }
        return sum;
    }

    // All ranks of a core change places with all of one on another node.
    void try_cores()
    {
        const size_t a = size_t(below(beside_.size())), b = size_t(below(beside_.size()));
        const std::vector<int> &from = beside_[a], &to = beside_[b];
        if (from.size() != to.size() || spots_[size_t(from[0])].node == spots_[size_t(to[0])].node)
            return;
        double less = 0;
        for (const auto& [here, there] : {std::pair(&from, &to), std::pair(&to, &from)})
            for (int p : *here)
                for (const Neighbour& x : neighbours_[size_t(rank_at_[size_t(p)])]) {
                    const size_t q = size_t(order_[size_t(x.rank)]), core = size_t(cores_.layout.bin_of[q]);
                    if (core != a && core != b)
                        less += x.weight * (distance(spots_[size_t(p)], spots_[q]) -
                                            distance(spots_[size_t((*there)[0])], spots_[q]));
                }
        const double more = cores_.sum[a] - cores_.sum[b];
        // Widths of cores are alike, so between them nothing becomes too high.
        if (!accept(less - domains_.excess(from[0], to[0], more) * price_))
            return;
        cores_.move(from[0], to[0], more);
        domains_.move(from[0], to[0], more);
        for (size_t i = 0; i < from.size(); i++) {
            std::swap(rank_at_[size_t(from[i])], rank_at_[size_t(to[i])]);
            order_[size_t(rank_at_[size_t(from[i])])] = from[i];
            order_[size_t(rank_at_[size_t(to[i])])] = to[i];
        }
        note(less);
    }

    // Two ranks change places; with `towards` one of them comes next to one of its neighbours, if it has any.
    void try_ranks(bool towards)
    {
        const int a = below(order_.size()), p = order_[size_t(a)];
        int q = below(order_.size());
        if (const auto& to = neighbours_[size_t(a)]; towards && !to.empty()) {
            const auto& there =
                beside_[size_t(cores_.layout.bin_of[size_t(order_[size_t(to[size_t(below(to.size()))].rank)])])];
            q = there[size_t(below(there.size()))];
        }
        const int b = rank_at_[size_t(q)];
        if (cores_.layout.bin_of[size_t(p)] == cores_.layout.bin_of[size_t(q)])
            return;
        const double more = loads_[size_t(a)] - loads_[size_t(b)];
        // On the way to a better deal some bins may be too high for a while.
        const double less = gain(a, p, q, b) + gain(b, q, p, a),
                     too_high = cores_.excess(p, q, more) + domains_.excess(p, q, more);
        if (!accept(less - too_high * price_))
            return;
        cores_.move(p, q, more);
        domains_.move(p, q, more);
        std::swap(order_[size_t(a)], order_[size_t(b)]);
        std::swap(rank_at_[size_t(p)], rank_at_[size_t(q)]);
        note(less);
    }

    std::vector<int> order_;
    const Loads loads_; // of ranks
    const Spots& spots_;
    const Neighbours neighbours_;
    Heights cores_, domains_;
    std::vector<std::vector<int>> beside_; // processes of each core
    std::vector<int> rank_at_;             // each process
    double now_, least_;                   // sums of distances
    std::vector<int> best_;
    double heat_ = 0, price_ = 0; // price_: of being too high by an average load
    std::mt19937 random_{1};
};

} // namespace

std::vector<int> draw_together(std::vector<int> order, const Loads& loads, const Spots& spots, const Edges& edges,
                               Domain domain, double seconds)
{
    double weights = 0;
    size_t count = 0;
    for (const Edge& e : edges)
        if (e.from != e.to && e.weight > 0) {
            weights += e.weight;
            count++;
        }
    if (count == 0)
        return order;
    const double distances = distance_sum(order, spots, edges);
    Neighbours neighbours = neighbours_of(edges, order.size());
    return Annealing(std::move(order), scaled(loads), spots, std::move(neighbours), distances, domain)
        .run(weights / double(count), seconds);
}

} // namespace ws::policy::placement
