// SPDX-License-Identifier: MIT
//
// Whether one thread runs a region that is a team's: opening one may cost more than the whole loop. Learned for each
// loop from what its executions took. Arithmetic alone, so that a test can play any machine.
//
// Some of the team's regions are measured. The time of the first thread's part tells what an iteration costs; the rest
// is the price of the team. Executions that should take less time in one thread are then run by one, and each of those
// is measured. A wrong guess (iterations now cost more than before) loses time, which right guesses must have won
// before. If they have not, all regions are the team's until the loss is only one part in `repay` of the time they have
// taken since. So no program is slower than with teams by more than that.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ws::loop {

class Solo {
public:
    static constexpr int64_t measure_every = 16; // the team's regions
    // regions of one thread; then one is the team's, whose price may have changed
    static constexpr uint64_t team_every = 1024;
    static constexpr double repay = 64;

    uint64_t latest = 0;   // iterations of this execution; of the one before where the number becomes known only later
    bool numbered = false; // somebody may ask for thread numbers

    // Whether one thread is to run so many iterations, where OpenMP would use `asked` threads.
    bool takes(uint64_t iterations, unsigned asked) const { return iterations - 1 < most_ && asked == asked_; }
    uint64_t most() const { return most_; } // the most iterations that one thread is to run, as far as is known now
    unsigned threads() const { return threads_; } // of the team

    // The team runs the next region: whether it is to be measured. Counts down.
    bool wants_measure(unsigned asked) { return --until_measure_ <= 0 || (asked != asked_ && !forbidden_); }

    // `threads` have run a region in `ticks`, of which the calling one ran `own_iterations` in `own_ticks`. OpenMP
    // would have used `asked`.
    void team_took(uint64_t iterations, uint64_t ticks, uint64_t own_iterations, uint64_t own_ticks, unsigned threads,
                   unsigned asked)
    {
        if (asked != asked_)
            measured_ = 0;
        asked_ = asked;
        threads_ = threads;
        measured_++;
        until_measure_ = measured_ < enough_measures || doubts_ > 0 ? 1 : measure_every;
        doubts_ -= doubts_ > 0;
        if (credit_ < 0) // one measured region stands for many: if it was slower than usual, the others were not
            credit_ += std::min(double(ticks), 2 * price_) * double(until_measure_) / repay;
        if (iterations && measured_ > 1) { // in the first one threads may have been created
            if (own_iterations)
                learn(double(own_ticks) / double(own_iterations));
            const double price = std::max(0.0, double(ticks) - double(iterations) * unit_ / threads);
            // This measure is seldom too small and often too large, namely when a thread came late.
            taken_off_ = 0;
            price_ =
                measured_ == 2 || price < price_ ? price : std::min(price, price_ + std::max(price_ / 4, price / 64));
        }
        decide();
    }

    // One thread has run a region alone.
    void alone_took(uint64_t iterations, uint64_t ticks)
    {
        // One execution may only have been disturbed: a rise is believed when the next one shows it, too.
        const double seen = double(ticks + 1) / double(iterations), cost = std::min(seen, seen_before_), before = unit_;
        seen_before_ = seen;
        if (double(ticks) > price_ / 8) {
            learn(cost);
            // If it is more than was thought, what seemed to be the team's price was the cost of the other threads'
            // iterations; until it is less again.
            const double more = (unit_ - before) * double(iterations) / threads_,
                         off = std::clamp(more, -taken_off_, price_);
            price_ -= off;
            taken_off_ += off;
        } else // with few iterations the cost of the call makes them look expensive
            unit_ = (unit_ + cost) / 2;
        credit_ = std::min(credit_ + price_ - double(ticks) * (1 - 1.0 / threads_), most_credit * price_);
        if (++alone_ % team_every == 0) {
            most_ = 0;
            until_measure_ = 1;
            return;
        }
        decide();
        if (most_ < iterations) { // or others disturbed it: that shows soon
            doubts_ = enough_measures;
            until_measure_ = 1;
        }
    }

    // One thread must not run it. Never measured again.
    void forbid()
    {
        forbidden_ = true;
        most_ = 0;
        until_measure_ = INT64_MAX;
    }

private:
    static constexpr unsigned enough_measures = 4;
    // one thread must be expected to take at most this part of the team's time
    static constexpr double gain = 0.9;
    static constexpr double most_credit = 4096; // in prices of the team

    // A rise is believed at once.
    void learn(double cost) { unit_ = cost > unit_ ? cost : (unit_ + cost) / 2; }

    // n * unit < gain * (price + n * unit / threads)
    void decide()
    {
        const bool may = measured_ >= enough_measures && threads_ > 1 && credit_ >= 0 && !forbidden_;
        most_ = may ? uint64_t(gain * price_ / (std::max(unit_, 1e-3) * (1 - gain / threads_))) : 0;
    }

    uint64_t most_ = 0;
    int64_t until_measure_ = 1;
    unsigned asked_ = 0, threads_ = 1, measured_ = 0;
    unsigned doubts_ = 0; // of the team's next regions so many more are measured
    bool forbidden_ = false;
    double unit_ = 0;   // an iteration's cost in one thread
    double seen_before_ = 1e300; // the same, in the latest execution alone
    double price_ = 0;  // what the team takes beyond its share of the iterations
    double taken_off_ = 0; // the price, since it was measured
    double credit_ = 0; // what may be lost
    uint64_t alone_ = 0;
};

} // namespace ws::loop
