// SPDX-License-Identifier: MIT
//
// An epidemic on a social graph with heavy-tailed degrees: who is susceptible looks at all acquaintances each step, so
// the work moves through the population, all the run long. Those of some people, or of all.
#pragma once

#include "flex_random.h"

#include <algorithm>
#include <vector>

namespace flex {

struct People {
    long rows; // all people; [displ, displ + count) are here
    std::vector<int64_t> starts;
    std::vector<int32_t> others;             // acquaintances
    std::vector<int8_t> weights, state, all; // of the acquaintances; of own people: steps left; of all

    static constexpr uint64_t graph_seed = 5, chance_seed = 6;
    static constexpr long acquaintances = 8; // that each person brings along
    static constexpr int8_t susceptible = 0, steps_ill = 60, recovered = 100;
    static constexpr double infects = 0.006; // whom it meets in a step

    explicit People(long n) : rows(n) {}
    // Person i brings acquaintances among those before, early ones more often; and as many nearby.
    template <class F> void edges(F f) const
    {
        for (long i = 1; i < rows; i++)
            for (long k = 0; k < acquaintances; k++) {
                const double u = random_unit(graph_seed, uint64_t(i), uint64_t(k));
                const long j = k % 2 ? std::max(0L, i - 1 - long(u * 50)) : long(double(i) * u * u);
                if (i != j)
                    f(i, j);
            }
    }
    void make(long count, long displ)
    {
        starts.assign(size_t(count) + 1, 0);
        const auto mine = [&](long p) { return p >= displ && p < displ + count; };
        edges([&](long i, long j) {
            starts[size_t(mine(i) ? i - displ + 1 : 0)] += mine(i);
            starts[size_t(mine(j) ? j - displ + 1 : 0)] += mine(j);
        });
        starts[0] = 0;
        for (size_t i = 1; i < starts.size(); i++)
            starts[i] += starts[i - 1];
        others.resize(size_t(starts.back()));
        std::vector<int64_t> at(starts);
        edges([&](long i, long j) {
            if (mine(i))
                others[size_t(at[size_t(i - displ)]++)] = int32_t(j);
            if (mine(j))
                others[size_t(at[size_t(j - displ)]++)] = int32_t(i);
        });
        weights.assign(others.size(), 1);
        state.assign(size_t(count), susceptible);
        all.assign(size_t(rows), susceptible);
        for (long p = 0; p < rows; p += std::max(1L, rows / 20)) // twenty who have come from elsewhere
            if (p >= rows / 2) {
                all[size_t(p)] = steps_ill;
                if (mine(p))
                    state[size_t(p - displ)] = steps_ill;
            }
    }
    // A step of those people; tell(i, units) is called for each.
    template <class F> void live(long count, long displ, long step, F tell)
    {
        for (long i = 0; i < count; i++) {
            int8_t& s = state[size_t(i)];
            if (s > 0 && s != recovered && --s == 0)
                s = recovered;
            const bool looks = s == susceptible;
            tell(i, looks ? 1 + starts[size_t(i) + 1] - starts[size_t(i)] : 1);
            if (!looks)
                continue;
            for (int64_t e = starts[size_t(i)]; e < starts[size_t(i) + 1]; e++) {
                const int8_t other = all[size_t(others[size_t(e)])];
                if (other > 0 && other != recovered &&
                    random_unit(chance_seed + uint64_t(step), uint64_t(displ + i), uint64_t(others[size_t(e)])) <
                        infects) {
                    s = steps_ill;
                    break;
                }
            }
        }
    }
};

} // namespace flex
