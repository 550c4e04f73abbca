// SPDX-License-Identifier: MIT
//
// From loads and places to ranks: which process becomes which rank. No MPI here.
#pragma once

#include "policy/placement/balance.h"

namespace ws::policy::placement {

// Where a process computes. Cores are numbered within their node, NUMA domains too.
struct Spot {
    int node, numa, core;
};
using Spots = std::vector<Spot>;

enum class Domain { core, numa, node };

// The bins to which loads are assigned.
struct Layout {
    Bins bins;
    Assignment bin_of; // of each process
};
Layout layout(const Spots& spots, Domain domain);

// order[r] is the process that is to do the work that has loads[r]; both as many as there are spots. The loads are
// assigned to domains, then within each domain to its cores; of the ranks of a core a process keeps its own if that
// is among them.
std::vector<int> arrange(const Loads& loads, const Spots& spots, Domain domain, Algorithm algorithm);

// What the domain with most to do has to do, by its cores.
double highest(const Loads& loads, const Spots& spots, Domain domain);

// What the core with most to do has to do, by what the cores have on average; 1 if nobody has anything to do.
double imbalance(const Loads& loads, const Spots& spots);

} // namespace ws::policy::placement
