// SPDX-License-Identifier: MIT
//
// How many processes are to have rows, for a goal of the program: iterations of a certain time, or a certain
// efficiency. Arithmetic, without MPI or clock: all processes come to the same number from the same measurements.
//
//   G. Martin, D. E. Singh, M.-C. Marinescu, J. Carretero: Enhancing the performance of malleable MPI applications by
//   using performance-aware dynamic reconfiguration. Parallel Computing 46, 2015.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace ws::policy::rows {

class Goal {
public:
    enum class Aim { none, time, efficiency };

    // `value`: seconds of an iteration, or the part of the processes' time in which they compute.
    void set(Aim aim, double value);
    bool is_set() const { return aim_ != Aim::none; }
    Aim aim() const { return aim_; }
    double value() const { return value_; }

    // `beyond`: seconds that an iteration with `active` processes took beyond what its slowest process computed. It is
    // the time of the exchange of data.
    void measured(size_t active, double beyond);
    // Seconds of an iteration of `units` units of work with the first n processes, if each has its share of it. What is
    // beyond computing lies between what was measured of the next smaller and the next larger number of processes.
    double predicted(size_t n, double units, const std::vector<double>& rates) const;
    // The number for the next interval, from 1 to `most`; `active`: it stays. Once per interval, after measured(). Only
    // what two intervals in a row ask for is done, so that one that was disturbed changes nothing.
    //   time: the smallest number that is fast enough; if none is, the fastest, if it is faster by `margin`. It shrinks
    //   only if iterations stay shorter than the goal by `margin`.
    //   efficiency: the largest number that has it, and has some more if it is larger than `active`. If none has, 1.
    size_t choose(size_t active, size_t most, double units, const std::vector<double>& rates);
    // What the other number gains, in seconds of an iteration in which `active` processes take part: time, if they are
    // more; else the time of those that have no rows any more.
    double gain(size_t active, size_t to, double units, const std::vector<double>& rates) const;

    static constexpr double margin = 0.1;

private:
    double beyond(size_t n) const;
    size_t best(size_t active, size_t most, double units, const std::vector<double>& rates) const;
    double efficiency(size_t n, double units, const std::vector<double>& rates) const;

    Aim aim_ = Aim::none;
    double value_ = 0;
    int leaning_ = 0; // the last interval asked for more (1) or fewer (-1)
    std::map<size_t, double> beyond_; // of each number that there was, as it was last
};

} // namespace ws::policy::rows
