// SPDX-License-Identifier: MIT
//
// The arithmetic of MPIX_Dist_load_create: loads that nobody knows all of come into a common order, heaviest first, and
// every place in that order has its process. No MPI here. What depends on n is spread over the processes: none needs
// more than O(classes + largest unit).
//
// From "Balancing CPU Load for Irregular MPI Applications" (Keller, Majeed, Kessler): classes of loads by powers of two
// of the average, which stand for rounds, and assigning by turns. Ours: how classes become finer, and that every second
// turn goes backwards.
#pragma once

#include <cstdint>
#include <vector>

namespace ws::policy::placement {

// Loads from 2^((count / 2 - i) step) times the average on, below what class i - 1 begins with, are class i. The first
// has no upper end, the last no lower one.
struct Classes {
    int count = 16;
    double step = 1;
    int of(double load) const; // by the average
};
constexpr int most_classes = 1024;

// The loads of a class, by the average.
struct Tally {
    int64_t count = 0;
    double least = 0, most = 0; // if there are any
};
Tally operator+(const Tally&, const Tally&);

// Within a class loads are in any order. Where that may make a difference of more than a fiftieth of what a unit has on
// average, `classes` become twice as many, for finer steps or wider ends; true then.
bool refine(Classes& classes, const std::vector<Tally>& tallies, int units);

// Units are cores, or nodes: loads are assigned to them. They are numbered by how many processes they have, ascending.
struct PlacementUnits {
    int least_room = 1;
    std::vector<int> count; // of those with least_room + i processes
};
int number_of_units(const PlacementUnits& units);
// In the order of loads, the place of that which the unit's process `slot` gets. The heaviest loads go to one unit
// after the other, full ones are left out; `snake`: every second turn the other way round.
int64_t place_of(const PlacementUnits& units, int number, int slot, bool snake);

// Returns a number for a rank in a set: two sets with the same sum of them are almost certainly equal.
uint64_t mark(int rank);

} // namespace ws::policy::placement
