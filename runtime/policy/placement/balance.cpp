// SPDX-License-Identifier: MIT
#include "policy/placement/balance.h"
#include "base/times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <queue>

namespace ws::policy::placement {

namespace {

// Differences below this are rounding.
constexpr double close_by = 1e-12;
bool lighter(double a, double b) { return a < b * (1 - close_by); }

std::vector<int> heaviest_first(const Loads& loads)
{
    std::vector<int> order(loads.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return loads[size_t(a)] > loads[size_t(b)]; });
    return order;
}

std::vector<double> sums(const Loads& loads, const Bins& bins, const Assignment& assignment)
{
    std::vector<double> sum(bins.size());
    for (size_t i = 0; i < loads.size(); i++)
        sum[size_t(assignment[i])] += loads[i];
    return sum;
}

// Exchanges of a load of the heaviest bin for a smaller one of another bin, each the best there is. The limit of
// comparisons, roughly.
void exchange(const Loads& loads, const Bins& bins, Assignment& assignment, long comparisons)
{
    std::vector<double> sum = sums(loads, bins, assignment);
    auto height = [&](size_t b, double change = 0) { return (sum[b] + change) / bins[b].width; };
    while (comparisons > 0) {
        size_t top = 0;
        for (size_t b = 1; b < bins.size(); b++)
            if (height(b) > height(top))
                top = b;
        double best = height(top);
        size_t give = 0, take = 0;
        bool found = false;
        for (size_t i = 0; i < loads.size() && comparisons > 0; i++) {
            if (size_t(assignment[i]) != top || loads[i] == 0)
                continue;
            comparisons -= long(loads.size());
            for (size_t j = 0; j < loads.size(); j++) {
                const double less = loads[i] - loads[j];
                if (less <= 0 || size_t(assignment[j]) == top)
                    continue;
                const double higher = std::max(height(top, -less), height(size_t(assignment[j]), less));
                if (lighter(higher, best)) {
                    best = higher;
                    give = i;
                    take = j;
                    found = true;
                }
            }
        }
        if (!found)
            return;
        const double less = loads[give] - loads[take];
        sum[top] -= less;
        sum[size_t(assignment[take])] += less;
        std::swap(assignment[give], assignment[take]);
    }
}

// Returns what a bin with room for `room` more loads needs of each to come up to the height `goal`.
double need(double goal, double sum, const Bin& b, int room) { return (goal * b.width - sum) / room; }

// The heaviest load first, each to the bin that prefers it most: key(sum, bin, room left), looked at where there is
// room.
template <class Key> Assignment greedy(const Loads& loads, const Bins& bins, const std::vector<int>& order, Key key)
{
    struct OpenBin {
        double key, sum;
        int room, bin;
        // Prefers the one with more room among equal bins, because the many small loads at the end will need it.
        bool operator<(const OpenBin& o) const
        {
            return key != o.key ? key < o.key : room != o.room ? room < o.room : bin > o.bin;
        }
    };
    std::priority_queue<OpenBin> open;
    for (size_t b = 0; b < bins.size(); b++)
        if (bins[b].room > 0)
            open.push({key(0, bins[b], bins[b].room), 0, bins[b].room, int(b)});
    Assignment assignment(loads.size());
    for (int i : order) {
        OpenBin s = open.top();
        open.pop();
        assignment[size_t(i)] = s.bin;
        s.sum += loads[size_t(i)];
        if (--s.room > 0) {
            s.key = key(s.sum, bins[size_t(s.bin)], s.room);
            open.push(s);
        }
    }
    return assignment;
}

class Search {
public:
    Search(const Loads& loads, const Bins& bins, const Assignment& first, double seconds)
        : bins_(bins), order_(heaviest_first(loads)), sum_(bins.size()), best_assignment_(first),
          assignment_(loads.size()), best_(heaviest(loads, bins, first)), least_(least(loads, bins)),
          until_(Time::now() + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds)))
    {
        for (const Bin& b : bins)
            room_.push_back(b.room);
        for (int i : order_)
            sorted_.push_back(loads[size_t(i)]);
        rest_.resize(loads.size() + 1);
        for (size_t i = loads.size(); i-- > 0;)
            rest_[i] = rest_[i + 1] + sorted_[i];
    }

    Exact run()
    {
        if (lighter(least_, best_))
            place(0, 0);
        return {best_assignment_, !late_};
    }

private:
    using Time = std::chrono::steady_clock;

    bool done() { return late_ || !lighter(least_, best_); }

    // Whether the loads from the i-th on may fit in below the best height that was found.
    bool hopeful(size_t i) const
    {
        const size_t n = sorted_.size();
        double takes = 0;
        for (size_t b = 0; b < bins_.size(); b++) {
            if (room_[b] == 0)
                continue;
            // The bin will be filled up, at least with the smallest loads.
            if (!lighter((sum_[b] + rest_[n - size_t(room_[b])]) / bins_[b].width, best_))
                return false;
            takes += std::min(best_ * bins_[b].width - sum_[b], room_[b] * (i < n ? sorted_[i] : 0));
        }
        return takes >= rest_[i] * (1 - close_by);
    }

    // Assigns the i-th heaviest load and those after it. The later one of equal loads goes to no bin before `from`.
    // Only the first of bins in the same state is tried, because the others give the same assignments with names
    // exchanged.
    void place(size_t i, size_t from)
    {
        if (i == sorted_.size()) {
            double height = 0;
            for (size_t b = 0; b < bins_.size(); b++)
                height = std::max(height, sum_[b] / bins_[b].width);
            if (lighter(height, best_)) {
                best_ = height;
                best_assignment_ = assignment_;
            }
            return;
        }
        if ((++steps_ & 255) == 0 && Time::now() > until_)
            late_ = true;
        if (done() || !hopeful(i))
            return;
        const double load = sorted_[i];
        std::vector<size_t> choice;
        for (size_t b = from; b < bins_.size(); b++) {
            auto same = [&](size_t c) {
                return room_[c] == room_[b] && sum_[c] == sum_[b] && bins_[c].width == bins_[b].width;
            };
            if (room_[b] > 0 && lighter((sum_[b] + load) / bins_[b].width, best_) &&
                std::none_of(choice.begin(), choice.end(), same))
                choice.push_back(b);
        }
        // Where it is needed most first: good assignments come early, and cut off more.
        auto needs = [&](size_t b) { return need(least_, sum_[b], bins_[b], room_[b]); };
        std::stable_sort(choice.begin(), choice.end(), [&](size_t a, size_t b) { return needs(a) > needs(b); });
        for (size_t b : choice) {
            if (done() || !lighter((sum_[b] + load) / bins_[b].width, best_))
                continue;
            const double before = sum_[b];
            sum_[b] += load;
            room_[b]--;
            assignment_[size_t(order_[i])] = int(b);
            place(i + 1, i + 1 < sorted_.size() && sorted_[i + 1] == load ? b : 0);
            sum_[b] = before;
            room_[b]++;
        }
    }

    const Bins& bins_;
    std::vector<int> order_;
    std::vector<double> sorted_, rest_; // heaviest first; the sum from there on
    std::vector<double> sum_;
    std::vector<int> room_;
    Assignment best_assignment_, assignment_;
    double best_, least_;
    Time::time_point until_;
    unsigned long steps_ = 0;
    bool late_ = false;
};

} // namespace

Loads scaled(const Loads& loads)
{
    double most = 0;
    for (double load : loads)
        most = std::max(most, load);
    int exponent;
    std::frexp(most, &exponent);
    Loads result = loads;
    if (most > 0)
        for (double& load : result)
            load = std::ldexp(load, -exponent);
    return result;
}

double heaviest(const Loads& loads, const Bins& bins, const Assignment& assignment)
{
    const std::vector<double> sum = sums(loads, bins, assignment);
    double most = 0;
    for (size_t b = 0; b < bins.size(); b++)
        most = std::max(most, sum[b] / bins[b].width);
    return most;
}

double least(const Loads& loads, const Bins& bins)
{
    double sum = 0, most = 0, width = 0, widest = 0;
    for (double load : loads) {
        sum += load;
        most = std::max(most, load);
    }
    for (const Bin& b : bins)
        if (b.room > 0) {
            width += b.width;
            widest = std::max(widest, b.width);
        }
    return width > 0 ? std::max(sum / width, most / widest) : 0;
}

Assignment round_robin(const Loads& loads, const Bins& bins)
{
    std::vector<int> open(bins.size()), room;
    std::iota(open.begin(), open.end(), 0);
    std::stable_sort(open.begin(), open.end(),
                     [&](int a, int b) { return bins[size_t(a)].room < bins[size_t(b)].room; });
    for (const Bin& b : bins)
        room.push_back(b.room);
    Assignment assignment(loads.size());
    size_t full = 0, at = 0; // the first of `open` are full: those with least room are first
    for (int i : heaviest_first(loads)) {
        if (at == open.size()) {
            while (full < open.size() && room[size_t(open[full])] == 0)
                full++;
            at = full;
        }
        while (room[size_t(open[at])] == 0) // without any room from the start
            at++;
        const int b = open[at++];
        room[size_t(b)]--;
        assignment[size_t(i)] = b;
    }
    return assignment;
}

Assignment largest_first(const Loads& loads, const Bins& bins)
{
    const double goal = least(loads, bins);
    const std::vector<int> order = heaviest_first(loads);
    Assignment by_sum = greedy(loads, bins, order, [](double sum, const Bin& b, int) { return -sum / b.width; });
    Assignment by_need =
        greedy(loads, bins, order, [goal](double sum, const Bin& b, int room) { return need(goal, sum, b, room); });
    for (Assignment* assignment : {&by_sum, &by_need})
        exchange(loads, bins, *assignment, 1000000);
    return lighter(heaviest(loads, bins, by_need), heaviest(loads, bins, by_sum)) ? by_need : by_sum;
}

Exact exact(const Loads& loads, const Bins& bins, const Assignment& first, double seconds)
{
    return Search(loads, bins, first, seconds).run();
}

Assignment balance(Algorithm algorithm, const Loads& given, const Bins& bins, const Assignment& present)
{
    if (given.empty())
        return {};
    const Loads loads = scaled(given);
    if (algorithm == Algorithm::round_robin)
        return round_robin(loads, bins);
    if (algorithm == Algorithm::largest_first)
        return largest_first(loads, bins);
    if (algorithm == Algorithm::exact)
        return exact(loads, bins, largest_first(loads, bins), base::times::exact_search_s).assignment;

    const double goal = least(loads, bins);
    Assignment best = present.empty() ? round_robin(loads, bins) : present;
    auto try_also = [&](Assignment assignment) {
        if (lighter(heaviest(loads, bins, assignment), heaviest(loads, bins, best)))
            best = std::move(assignment);
    };
    auto can_be_better = [&] { return lighter(goal, heaviest(loads, bins, best)); };
    if (!present.empty() && can_be_better())
        try_also(round_robin(loads, bins));
    if (can_be_better())
        try_also(largest_first(loads, bins));
    if (can_be_better() && loads.size() <= automatic_exact_loads)
        best = exact(loads, bins, best, base::times::automatic_search_s).assignment;
    return best;
}

} // namespace ws::policy::placement
