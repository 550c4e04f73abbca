// SPDX-License-Identifier: MIT
#include "policy/cores/deal.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace ws::policy::cores {

namespace {

unsigned limit(const Measured& m) { return std::max(1u, m.most); }
double work(const Measured& m) { return m.useful * std::min(m.cores, limit(m)); }

// The fewest processors with which a rank takes no longer than `time`.
unsigned needed(const Measured& m, double time)
{
    if (work(m) <= 0)
        return 1;
    const double cores = work(m) / time;
    return std::clamp(unsigned(std::ceil(cores - 1e-9 * cores)), 1u, std::max(limit(m), 1u));
}

// Minimizes the time of the slowest rank: each processor goes to the rank that is slowest then.
double best_time(const std::vector<Measured>& ranks, unsigned cores)
{
    using Next = std::pair<double, size_t>; // time, rank
    std::priority_queue<Next> slowest_first;
    std::vector<unsigned> deal(ranks.size(), 1);
    for (size_t r = 0; r < ranks.size(); r++)
        slowest_first.push({work(ranks[r]), r});
    for (unsigned left = cores - unsigned(ranks.size()); left > 0; left--) {
        const size_t r = slowest_first.top().second;
        if (deal[r] >= limit(ranks[r]))
            break; // nothing makes it faster
        slowest_first.pop();
        deal[r]++;
        slowest_first.push({work(ranks[r]) / deal[r], r});
    }
    return slowest_first.top().first;
}

} // namespace

void scale_to_equal_work(std::vector<Measured>& ranks)
{
    double all = 0;
    for (const Measured& m : ranks)
        all += work(m);
    for (Measured& m : ranks)
        if (all > 0) {
            m.useful /= all;
            m.waited /= all;
        }
}

void scale_to_equal_time(std::vector<Measured>& ranks, const std::vector<double>& took)
{
    constexpr double as_long = 1.5; // turns of that much more are not one
    const double longest = ranks.empty() ? 0 : *std::max_element(took.begin(), took.end());
    for (size_t r = 0; r < ranks.size(); r++)
        if (took[r] > 0 && longest > as_long * took[r]) {
            ranks[r].useful *= longest / took[r];
            ranks[r].waited *= longest / took[r];
        }
}

Deal dealt(const std::vector<Measured>& ranks)
{
    Deal deal;
    for (const Measured& m : ranks)
        deal.push_back(m.cores);
    return deal;
}

double slowest(const std::vector<Measured>& ranks, const Deal& deal)
{
    double time = 0;
    for (size_t r = 0; r < ranks.size(); r++)
        time = std::max(time, work(ranks[r]) / std::min(deal[r], std::max(limit(ranks[r]), 1u)));
    return time;
}

double period_of(const std::vector<Measured>& ranks)
{
    double period = 0;
    for (const Measured& m : ranks)
        period = std::max(period, m.useful + m.waited);
    return period;
}

Deal paper_deal(const std::vector<Measured>& ranks)
{
    Deal deal = dealt(ranks);
    if (ranks.empty())
        return deal;
    const auto less = [](const Measured& a, const Measured& b) { return a.useful < b.useful; };
    const size_t high = size_t(std::max_element(ranks.begin(), ranks.end(), less) - ranks.begin());
    size_t victim = high;
    for (size_t r = 0; r < ranks.size(); r++)
        if (r != high && ranks[r].cores > 1 && (victim == high || less(ranks[r], ranks[victim])))
            victim = r;
    const Measured &h = ranks[high], &v = ranks[victim];
    if (victim == high)
        return deal;
    const double next = h.useful - (v.waited - h.waited) / 2;
    if (next >= h.useful)
        return deal;
    // no time at all: as many as there are
    const double wanted = next > 0 ? h.cores * h.useful / next - h.cores : HUGE_VAL;
    const unsigned room = h.most > h.cores ? h.most - h.cores : 0;
    const unsigned moved = unsigned(std::min({std::round(wanted), double(v.cores - 1), double(room)}));
    deal[high] += moved;
    deal[victim] -= moved;
    return deal;
}

Deal whole_deal(const std::vector<Measured>& ranks)
{
    Deal now = dealt(ranks), deal;
    const unsigned cores = std::accumulate(now.begin(), now.end(), 0u);
    if (cores <= ranks.size())
        return now;
    const double time = best_time(ranks, cores);
    unsigned left = cores;
    for (const Measured& m : ranks) {
        deal.push_back(needed(m, time));
        left -= deal.back();
    }
    // Processors that no rank needs stay where they are, as far as they fit; the rest go to the ranks that gain most.
    for (size_t r = 0; r < ranks.size() && left > 0; r++) {
        const unsigned kept = now[r] > deal[r] ? std::min(left, now[r] - deal[r]) : 0;
        deal[r] += kept;
        left -= kept;
    }
    for (; left > 0; left--) {
        size_t most = 0;
        for (size_t r = 1; r < ranks.size(); r++)
            if (work(ranks[r]) / deal[r] > work(ranks[most]) / deal[most])
                most = r;
        deal[most]++;
    }
    return deal;
}

namespace {

// By how much the slowest rank gets faster. The paper's rule helps one at a time, and others may be as slow: there it
// is of the two between which processors move.
double gain_of(Rule rule, const std::vector<Measured>& ranks, const Deal& next)
{
    std::vector<Measured> some;
    Deal deal;
    for (size_t r = 0; r < ranks.size(); r++)
        if (rule != paper_deal || next[r] != ranks[r].cores) {
            some.push_back(ranks[r]);
            deal.push_back(next[r]);
        }
    return 1 - slowest(some, deal) / slowest(some, dealt(some));
}

// Returns whether `next` would have made the last turns together shorter than they were.
bool wins_in(const TurnsOfRanks& turns, std::vector<Measured> ranks, const Deal& next)
{
    const Deal now = dealt(ranks);
    double was = 0, would = 0;
    for (const std::vector<double>& turn : turns) {
        for (size_t r = 0; r < ranks.size(); r++)
            ranks[r].useful = turn[r];
        was += slowest(ranks, now);
        would += slowest(ranks, next);
    }
    return turns.empty() || would < was;
}

void pause(History& history)
{
    history.pause = std::min(longest_pause, 1u << std::min(history.undone, 16u));
    history.undone++;
    history.paused = 1;
}

} // namespace

bool Watch::add(double took, double first, double before, bool is_longer)
{
    // A disturbed turn is long, too, and `first` in proportion: it gains nothing beyond what was measured before.
    const double gain = (before > 0 ? std::min(first, std::max(before, took)) : first) - took;
    time += took;
    gained += gain;
    since += gain;
    turns++;
    slow = is_longer && took > first * (1 + least_gain) ? slow + 1 : 0;
    return slow > 1 || (slow && since < 0 && turns > 1);
}

void Watch::take_back(double took, double first)
{
    const double late = delay * (took - first);
    gained -= late;
    risk = std::max(risk, late * (1 + slow / delay));
    backs++;
    begin();
}

bool loses(const std::vector<Measured>& so_far, const Deal& first, double wall, double first_wall)
{
    // A little more than noise: the turn before this one was a good one.
    constexpr double much = 1.3, longer = 1.1;
    if (so_far.empty() || !(first_wall > 0) || !(wall > longer * first_wall))
        return false;
    size_t last = 0;
    for (size_t r = 1; r < so_far.size(); r++)
        if (so_far[r].useful > so_far[last].useful)
            last = r;
    return so_far[last].cores < first[last] && so_far[last].useful > much * slowest(so_far, first);
}

Turn believed(double took, double first, double wall, double first_wall)
{
    constexpr double much = 1.3;
    if (first_wall > 0 && wall > much * first_wall && !(took > first * (1 + least_gain)))
        return {wall, first_wall};
    return {took, first};
}

Deal cautious(const std::vector<Measured>& ranks, const Deal& next, const Deal& first, double allowed)
{
    double most = 0;
    for (const Measured& m : ranks)
        most = std::max(most, work(m));
    if (!(most > 0))
        return next;
    Deal deal = next, least;
    unsigned given = 0;
    for (size_t r = 0; r < ranks.size(); r++) {
        const double cores = most / (allowed + most / first[r]);
        const unsigned has = std::max(ranks[r].cores, 1u); // `cores` may be no number: other processes may write there
        least.push_back(!(cores > 1) ? 1 : cores < has ? unsigned(std::ceil(cores - 1e-9 * cores)) : has);
        if (deal[r] < least[r]) {
            given += least[r] - deal[r];
            deal[r] = least[r];
        }
    }
    // From the rank that is fastest without it.
    for (; given > 0; given--) {
        size_t from = ranks.size();
        const auto time_without = [&](size_t r) { return work(ranks[r]) / (deal[r] - 1); };
        for (size_t r = 0; r < ranks.size(); r++)
            if (deal[r] > least[r] && (from == ranks.size() || time_without(r) < time_without(from)))
                from = r;
        if (from == ranks.size())
            return dealt(ranks);
        deal[from]--;
    }
    return deal;
}

void taken_back(History& history)
{
    history.before = history.hoped = 0;
    pause(history);
}

Deal decide(Rule rule, const std::vector<Measured>& ranks, History& history, uint16_t* former,
            const TurnsOfRanks& turns, const Limits& limits)
{
    const Deal now = dealt(ranks);
    Deal last(former, former + ranks.size());
    if (std::find(last.begin(), last.end(), 0u) != last.end() ||
        std::accumulate(last.begin(), last.end(), 0u) != std::accumulate(now.begin(), now.end(), 0u))
        last = now; // there is none yet; or another process has written there, and it can be no deal
    const double period = period_of(ranks);
    const auto change_to = [&](const Deal& next, double before, double hoped) {
        history.before = before;
        history.hoped = hoped;
        std::copy(now.begin(), now.end(), former);
        return next;
    };
    if (history.before > 0) {
        const bool in_vain = history.before - period < history.hoped / 2 * history.before;
        history.in_vain =
            in_vain ? std::min(most_in_vain, history.in_vain + 1) : history.in_vain - (history.in_vain > 0);
        if (period > history.before * (1 + least_gain) && last != now) {
            pause(history);
            return change_to(last, 0, 0);
        }
    }
    history.before = 0; // the last change has proved good
    if (history.pause > 0) {
        history.pause--;
        return now;
    }
    const Deal best = rule(ranks);
    const Deal next = limits.first.empty() ? best : cautious(ranks, best, limits.first, limits.allowed);
    const double gain = gain_of(rule, ranks, next);
    // The paper's rule makes each change that is not worse.
    const double least = rule == paper_deal ? 0 : least_gain * (1 + history.in_vain);
    if (next == now || !(gain >= least) || !limits.may_try || !wins_in(turns, ranks, next))
        return now;
    if (next == last) {
        if (!history.paused) {
            pause(history);
            return now;
        }
    } else
        history.undone = 0;
    history.paused = 0;
    return change_to(next, period, gain);
}

} // namespace ws::policy::cores
