// SPDX-License-Identifier: MIT
//
// The arithmetic of rank reordering: which load goes to which core, so that the core with most to do has as little as
// can be. No MPI here. A bin is that to which loads are assigned: a core, a NUMA domain, a node. It takes exactly as
// many loads as it has processes.
//
// From "Balancing CPU Load for Irregular MPI Applications" (Keller, Majeed, Kessler): round_robin(). The others are
// ours.
#pragma once

#include <cstddef>
#include <vector>

namespace ws::policy::placement {

struct Bin {
    int room;         // processes there
    double width = 1; // cores that share its load
};

// The bin of each load. The rooms add up to the number of loads.
using Assignment = std::vector<int>;
using Loads = std::vector<double>;
using Bins = std::vector<Bin>;

enum class Algorithm { automatic, round_robin, largest_first, exact };

// The loads times a power of two, so that the largest is in [0.5, 1): sums of them stay finite and tiny ones do not
// vanish.
Loads scaled(const Loads& loads);

// What the bin with most to do has to do: its load by its width. What reordering lowers.
double heaviest(const Loads& loads, const Bins& bins, const Assignment& assignment);
// No assignment is lighter: the average, or the largest load alone.
double least(const Loads& loads, const Bins& bins);

// The paper: bins in ascending order of their room, the heaviest load first, one to each bin in turn, full ones
// skipped.
Assignment round_robin(const Loads& loads, const Bins& bins);

// The heaviest load first, each to the bin with least that has room, or, if that comes out lighter, to the one that
// needs most for each load it has still room for; then two loads of different bins change places as long as that makes
// the heaviest bin lighter.
Assignment largest_first(const Loads& loads, const Bins& bins);

// Branch and bound: the lightest assignment, or the best that was found in the time limit, never one heavier than
// `first`. proven: it is the lightest.
struct Exact {
    Assignment assignment;
    bool proven;
};
Exact exact(const Loads& loads, const Bins& bins, const Assignment& first, double seconds);

// With more loads than this the search does not get far enough to be worth starting as a part of `automatic`.
constexpr size_t automatic_exact_loads = 128;

// One of them, for loads that are not negative and finite. `automatic`: the lightest of `present`, if not empty, and
// what all the others give; `present` if it is as light as any.
Assignment balance(Algorithm, const Loads& loads, const Bins& bins, const Assignment& present = {});

} // namespace ws::policy::placement
