// SPDX-License-Identifier: MIT
//
// Whom a thief helps: the policies that -workshare-victim knows, each a score. How regions are found and claimed is in lend/.
#pragma once

#include "lend/chooser.h"

#include <cstring>

namespace ws::steal {

constexpr double far_above = 1e15; // any amount of work, in ticks

// The largest share for a newcomer, near ones preferred. What a cache line costs grows with the distance; what a chunk costs grows less,
// as most of it is computing.
inline double automatic(const Candidate& c)
{
    static constexpr double nearness[farthest + 1] = {1.25, 1.25, 1.2, 1.1, 1.05, 1};
    return c.work / (c.joiners + 2) * nearness[c.distance];
}

inline double most(const Candidate& c) { return c.work; }
inline double fewest(const Candidate& c) { return c.work + far_above * (Descriptor::max_joiners - c.joiners); } // helpers; then the most work
inline double nearest(const Candidate& c) { return c.work + far_above * (farthest + 1 - c.distance); }         // then the most work
inline double random(const Candidate& c) { return double(c.random >> 1) + 1; }

// In the order of the words of WS_VICTIM in options/options.txt.
inline constexpr VictimPolicy victims[] = {
    {"auto", automatic}, {"most", most}, {"fewest", fewest}, {"nearest", nearest}, {"random", random}, {"none", nullptr},
};

// Null: none has that name.
inline const VictimPolicy* victims_by_name(const char* name)
{
    for (const VictimPolicy& v : victims)
        if (std::strcmp(v.name, name) == 0)
            return &v;
    return nullptr;
}

} // namespace ws::steal
