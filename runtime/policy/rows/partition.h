// SPDX-License-Identifier: MIT
//
// Assigns rows to processes: contiguous ranges by the processes' speeds and the rows' costs. Arithmetic, without MPI.
//
//   G. Martin, M.-C. Marinescu, D. Singh, J. Carretero: FLEX-MPI: an MPI extension for supporting dynamic load
//   balancing on heterogeneous non-dedicated systems. Euro-Par 2013. Section 3.2, equations 1 and 2.
//
// The paper gives a process rows in proportion to its rate. Here rows have costs: what was measured of a process's
// work in the last interval is the cost of the rows that it had, whatever was thought of them before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ws::policy::rows {

using Rows = int64_t;
// Process r has the rows starts[r] to starts[r + 1] - 1; one number more than there are processes, from 0 to all rows,
// never falling. A process may have none.
using Starts = std::vector<Rows>;

// Rows [begin, end) of the whole.
struct Range {
    Rows begin = 0, end = 0;
    Rows size() const { return end - begin; }
    bool empty() const { return begin >= end; }
};
inline Range range_of(const Starts& starts, size_t process) { return {starts[process], starts[process + 1]}; }
inline Range common(Range a, Range b)
{
    const Rows begin = std::max(a.begin, b.begin);
    return {begin, std::max(begin, std::min(a.end, b.end))};
}

// Counts that differ by one at most, the larger ones first, of the first `active` of `processes` processes. The others
// have none.
Starts equal_parts(Rows rows, size_t active, size_t processes);
inline Starts equal_parts(Rows rows, size_t processes) { return equal_parts(rows, processes, processes); }

// What one process did in an interval.
struct Work {
    double units = 0; // FLOP, or what else is counted; of all its rows, and the same for all processes
    double real = 0;  // seconds that it took, without waiting in MPI
};
// Equation 1, in units per second. A process that had nothing to do keeps the rate that it had before. A process with
// no known rate gets the mean of the others. Keeps known rates in `known`, 0 for none.
std::vector<double> rates_of(const std::vector<Work>& all, std::vector<double>& known);
// Equation 2: shares of 1. All equal where no rate is known.
std::vector<double> relative_power(const std::vector<double>& rates);

// An expensive row and a slow processor look alike in one measurement. The paper takes all for the processor;
// after a move it can be seen which of the two has changed hands with the rows.
class Attribution {
public:
    // Returns the part (0 to 1) of the time that rows took longer than elsewhere that is taken for their own cost.
    double of_rows() const { return square_ > 0 ? std::clamp(product_ / square_, 0.0, 1.0) : 0; }
    // What `all` did cost: the units, corrected by that part.
    std::vector<Work> costs(const std::vector<Work>& all) const;
    // Measured before and after the partition changed; the less, the longer ago.
    void learn(const Starts& before, const std::vector<Work>& then, const Starts& after, const std::vector<Work>& now);

private:
    double product_ = 0, square_ = 0; // of a regression by one parameter
};

// Where the whole cost is to be cut: the place of each start but the first, in units; one number for each share, the
// first one 0. Shares may be fewer than processes: those behind get no rows.
std::vector<double> cuts_of(const std::vector<Work>& all, const std::vector<double>& shares);

// Where the next starts lie in the rows of process `me`: those cuts that fall into its part of the whole cost, which
// begins at `first`, the sum of the processes before it. `before(i)` is the weight of the first i of its rows, in any
// unit: what was measured is spread over the rows by it. Sets found[j] for these; found has -1 for what nobody has set.
// The largest of all processes' is the next partition, once settled. Costs: O((1 + cuts) * log(rows)).
template <class Before>
void place_cuts(Range mine, double units, double first, const std::vector<double>& cuts, Before before, Starts& found)
{
    const Rows count = mine.size();
    const double weight = count ? double(before(count)) : 0;
    if (!(units > 0) || !(weight > 0))
        return;
    for (size_t j = size_t(std::upper_bound(cuts.begin(), cuts.end(), first) - cuts.begin());
         j < cuts.size() && cuts[j] <= first + units; j++) {
        const double wanted = (cuts[j] - first) / units * weight;
        Rows low = 0, high = count; // before(low) < wanted <= before(high)
        while (high - low > 1) {
            const Rows middle = low + (high - low) / 2;
            (double(before(middle)) < wanted ? low : high) = middle;
        }
        const bool nearer_low = wanted - double(before(low)) < double(before(high)) - wanted;
        found[j] = std::max(found[j], mine.begin + (nearer_low ? low : high));
    }
}

// What a process has of a partition that is to be one of other processes, too; `rows`: of the whole, -1 if it has none
// yet.
struct Part {
    Rows rows = -1, begin = 0, count = 0;
};
// The partition of processes with these parts, or empty: their rows do not follow each other, are not all, or are not
// of one whole.
Starts joined(const std::vector<Part>& parts);

// Makes what was found a partition of all rows among the first `active` processes: first and last start, none falling,
// and at least one row for each of these where there are as many. One that has none is never measured.
void settle(Starts& starts, Rows rows, size_t active);

// All of the above for rows of equal weight within each process. Where processes have few rows, a row too many is felt:
// if all rows cost the same, no partition that leaves a row to each has a faster slowest process, by more than 0.2 %.
// Equal parts, if nothing is known of the cost.
Starts next_partition(const Starts& now, const std::vector<Work>& all, const std::vector<double>& shares);
// How long the slowest process takes for the rows of `next`, if it does `rates` units a second, of rows that cost what
// they did in `now`, alike within each process.
double slowest(const Starts& now, const std::vector<Work>& all, const std::vector<double>& rates, const Starts& next);

} // namespace ws::policy::rows
