// SPDX-License-Identifier: MIT
//
// What the tasks of a kind take: mean and tail of those that ran lately; and what they bring with them. Not for several
// threads at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ws::policy::tasks {

class Prediction {
public:
    // Adds `tasks` tasks that have run, each for about `seconds`. Tasks that ran long ago count less and less: half
    // after some 700.
    void add(double seconds, double tasks = 1)
    {
        const double kept = std::max(0.0, 1 - tasks / memory);
        weight_ = weight_ * kept + tasks;
        sum_ = sum_ * kept + seconds * tasks;
        for (double& w : weights_)
            w *= kept;
        weights_[bucket_of(seconds)] += tasks;
    }

    bool is_known() const { return weight_ > 0; }
    double tasks() const { return weight_; } // that it remembers
    double mean_s() const { return weight_ > 0 ? sum_ / weight_ : 0; }
    // Nine of ten take no longer; true to a factor of sqrt(2), never below the mean.
    double tail_s() const
    {
        double left = 0.1 * weight_;
        for (unsigned b = buckets; b-- > 0;)
            if ((left -= weights_[b]) < 0)
                return std::max(mean_s(), least_s * std::exp2(0.5 * (b + 1)));
        return mean_s();
    }

private:
    static constexpr unsigned buckets = 72; // from 16 ns on, two for each doubling: to 1000 s and beyond
    static constexpr double memory = 1000;
    static const double least_s;
    static unsigned bucket_of(double seconds)
    {
        const double place = 2 * std::log2(std::max(seconds, least_s) / least_s);
        return std::min(unsigned(place), buckets - 1);
    }
    double weight_ = 0, sum_ = 0; // tasks, seconds
    double weights_[buckets] = {};
};

inline const double Prediction::least_s = 16e-9;

// How many tasks the tasks of a rank put. Where each puts one on average, as in the midst of a tree, the few that wait
// are work for long: counted by their own run times no node would ever seem to have too much.
class Growth {
public:
    // Adds that `run` tasks have run since the last call, and have put `put` tasks.
    void add(double run, double put)
    {
        const double kept = std::max(0.0, 1 - run / memory);
        run_ = run_ * kept + run;
        put_ = put_ * kept + put;
    }
    // How many run in the end for one that waits, itself included, if it goes on like this.
    double tasks() const { return run_ - put_ > run_ / most ? run_ / (run_ - put_) : run_ > 0 ? most : 1; }

private:
    // More than `most` nobody counts on: those that run next may be leaves.
    static constexpr double memory = 1000, most = 30;
    double run_ = 0, put_ = 0;
};

} // namespace ws::policy::tasks
