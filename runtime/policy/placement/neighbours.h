// SPDX-License-Identifier: MIT
//
// Among orders that balance equally well, one that brings ranks together that talk to each other: the future work of
// "Balancing CPU Load for Irregular MPI Applications" (Keller, Majeed, Kessler). No MPI here.
#pragma once

#include "policy/placement/arrange.h"

namespace ws::policy::placement {

struct Edge {
    int from, to; // ranks
    int weight;
};
using Edges = std::vector<Edge>;

// What an edge costs for each unit of its weight: nothing within a core.
constexpr double within_node = 1, between_nodes = 4;
double distance_sum(const std::vector<int>& order, const Spots& spots, const Edges& edges);

// Ranks change places in `order` (see arrange), and in the end no domain and no core is higher than the highest was.
// Simulated annealing, the same in every run except the limit in seconds; never a larger distance_sum than before.
std::vector<int> draw_together(std::vector<int> order, const Loads& loads, const Spots& spots, const Edges& edges,
                               Domain domain, double seconds);

} // namespace ws::policy::placement
