// SPDX-License-Identifier: MIT
#include "policy/cores/assign.h"

namespace ws::policy::cores {

using window::Place;

namespace {

// The less the better.
unsigned rate(const Located& p, unsigned to, const Place& home)
{
    return p.first == to ? 0 : 1 + window::distance(p.place, home);
}

} // namespace

std::vector<Move> moves_to(const Deal& deal, const std::vector<Located>& processors)
{
    std::vector<Located> now = processors;
    std::vector<int> missing(deal.begin(), deal.end());
    std::vector<Place> home(deal.size());
    for (const Located& p : now) {
        missing[p.owner]--;
        if (p.home)
            home[p.owner] = p.place;
    }
    std::vector<bool> moved(now.size());
    std::vector<Move> moves;
    for (;;) {
        // The nearest pair of all: a rank that takes first does not take what suits another better.
        size_t best = now.size();
        unsigned taker = 0, least = ~0u;
        for (size_t i = 0; i < now.size(); i++)
            for (unsigned to = 0; to < deal.size() && !now[i].home && !moved[i] && missing[now[i].owner] < 0; to++)
                if (missing[to] > 0 && rate(now[i], to, home[to]) < least) {
                    least = rate(now[i], to, home[to]);
                    best = i;
                    taker = to;
                }
        if (best == now.size())
            return moves;
        moves.push_back({unsigned(best), now[best].owner, taker});
        missing[now[best].owner]++;
        missing[taker]--;
        now[best].owner = taker;
        moved[best] = true;
    }
}

} // namespace ws::policy::cores
