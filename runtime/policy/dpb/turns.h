// SPDX-License-Identifier: MIT
//
// What a rank's work costs in a turn of the program's outer loop, from sums that only grow. No MPI and no clock here.
//
// A sample is taken at the first region after a turn has ended: always at the same place of the program, so that the
// difference of two is that of a whole turn. Where no turns are known samples are taken after a fixed time. Of several
// the median counts: other programs disturb some.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace ws::policy::dpb {

class Turns {
public:
    static constexpr uint32_t most = 32; // that are kept: the latest

    // Without turns, or if they have stopped, a sample after so many ticks.
    explicit Turns(uint64_t fixed = 0) : fixed_(fixed) {}

    // From the next sample but one on, for a new deal: the turn that has begun holds a part under the deal before.
    void begin_anew()
    {
        skip_ = 2;
        periods_ = 0;
        by_turns_ = true;
    }

    // `turns` in all, of which the last took `period` ticks.
    bool is_due(uint64_t turns, uint64_t period, uint64_t now) const
    {
        return are_turns(turns, period, now) || now - at_ >= 4 * period + fixed_;
    }
    // Sums in ticks; `cores`: that the rank has. True if there is something new to be told.
    bool sample(uint64_t turns, uint64_t period, uint64_t now, uint64_t useful, uint64_t waited, unsigned cores)
    {
        const bool whole = are_turns(turns, period, now);
        const uint64_t passed = whole ? turns - turns_ : 1;
        if (skip_ > 0)
            skip_--;
        else {
            by_turns_ = by_turns_ && whole;
            useful_[periods_ % most] = (useful - useful_then_ + extra_ / cores) / passed;
            waited_[periods_ % most] = (waited - waited_then_) / passed;
            periods_++;
        }
        turns_ = turns;
        at_ = now;
        useful_then_ = useful;
        waited_then_ = waited;
        extra_ = 0;
        return periods_ > 0;
    }
    // A region has had more threads than the rank has processors: what they did, in ticks of one processor.
    void add_extra(uint64_t ticks) { extra_ += ticks; }

    uint32_t periods() const { return periods_; }
    // Ticks a period.
    uint64_t useful() const { return median(useful_); }
    uint64_t waited() const { return median(waited_); }
    bool by_turns() const { return by_turns_; }

private:
    // The time since the last sample was spent in turns, at least half of it: a few calls that look alike by chance are
    // none.
    bool are_turns(uint64_t turns, uint64_t period, uint64_t now) const
    {
        return turns > turns_ && 2 * (turns - turns_) * period >= now - at_;
    }
    uint64_t median(std::array<uint64_t, most> values) const
    {
        const auto end = values.begin() + std::min(periods_, most),
                   middle = values.begin() + (end - values.begin()) / 2;
        std::nth_element(values.begin(), middle, end);
        return *middle;
    }

    uint64_t fixed_;
    uint32_t skip_ = 2, periods_ = 0;
    bool by_turns_ = true;
    uint64_t turns_ = 0, at_ = 0, useful_then_ = 0, waited_then_ = 0, extra_ = 0;
    std::array<uint64_t, most> useful_ = {}, waited_ = {};
};

} // namespace ws::policy::dpb
