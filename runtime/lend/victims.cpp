// SPDX-License-Identifier: MIT
#include "lend/victims.h"

namespace ws::lend {

using loop::Descriptor;
using window::farthest;

namespace {

constexpr double far_above = 1e15; // any amount of work, in ticks

// The largest share for a newcomer, near ones preferred. What a cache line costs grows with the distance; what a chunk
// costs grows less, as most of it is computing.
double automatic(const Candidate& c)
{
    static constexpr double nearness[farthest + 1] = {1.25, 1.25, 1.2, 1.1, 1.05, 1};
    return c.work / (c.joiners + 2) * nearness[c.distance];
}

double most(const Candidate& c) { return c.work; }
// helpers; then the most work
double fewest(const Candidate& c) { return c.work + far_above * (Descriptor::max_joiners - c.joiners); }
// then the most work
double nearest(const Candidate& c) { return c.work + far_above * (farthest + 1 - c.distance); }
double random(const Candidate& c) { return double(c.random >> 1) + 1; }

} // namespace

const Score victims[victim_policies] = {automatic, most, fewest, nearest, random, nullptr};

} // namespace ws::lend
