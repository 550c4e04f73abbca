// SPDX-License-Identifier: MIT
//
// What a rank's work costs in a turn of the program's outer loop, from sums that only grow. No MPI and no clock here.
//
// A sample is taken at the first region after a turn has ended: always at the same place of the program, so that the
// difference of two is that of a whole turn. When turns are found two have passed, which count, too. If none are known,
// samples are taken after a fixed time. The median of several counts, because other programs disturb some.
#pragma once

#include "measure/period.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace ws::policy::cores {

using measure::Spent;

class Turns {
public:
    static constexpr uint32_t most = 32; // that are kept: the latest

    // Without turns, or if they have stopped, a sample is taken after `fixed` ticks.
    explicit Turns(uint64_t fixed = 0) : fixed_(fixed) {}

    // From the next sample but one on, for a new deal: the turn that has begun holds a part under the deal before.
    void begin_anew()
    {
        skip_ = 2;
        periods_ = found_ = changes_ = 0;
        by_turns_ = true;
        first_ = false;
    }

    // Measures afresh under the same deal: no turn is left out.
    void go_on()
    {
        periods_ = found_ = changes_ = 0;
        by_turns_ = true;
    }

    // Turns are `calls` MPI calls long from here on, and what was measured before is none of theirs; but `past` has
    // what the last ones took under the same deal, `many` of them, after which it is `now`.
    bool are_others(unsigned calls) const { return calls != calls_; }
    void change(unsigned calls, uint64_t turns, const Spent& now, const Spent* past, unsigned many)
    {
        calls_ = calls;
        if (!calls || changes_ == most_changes)
            return;
        changes_++;
        periods_ = found_ = 0;
        by_turns_ = true;
        if (skip_ > 0 && !first_)
            return;
        skip_ = 0;
        for (unsigned k = 0; k < many; k++)
            keep(past[k], 1);
        found_ = many;
        turns_ = turns;
        then_ = now;
    }

    // `turns` in all, of which the last took `period` ticks.
    bool is_due(uint64_t turns, uint64_t period, uint64_t now) const
    {
        return are_turns(turns, period, now) || now - then_.at >= 4 * period + fixed_;
    }
    // True if there is something new to be told.
    bool sample(uint64_t turns, uint64_t period, const Spent& now)
    {
        const bool whole = are_turns(turns, period, now.at);
        if (skip_ > 0)
            skip_--;
        else {
            if (!whole && found_) // those were found by chance
                periods_ = 0;
            found_ = 0;
            by_turns_ = by_turns_ && whole;
            keep({now.at - then_.at, more(then_.useful, now.useful), more(then_.waited, now.waited)},
                 whole ? turns - turns_ : 1);
        }
        turns_ = turns;
        then_ = now;
        return periods_ > 0;
    }

    uint32_t periods() const { return periods_; }
    // Returns the last turn but `back`; zeros if that turn is not known.
    Spent turn(unsigned back) const
    {
        return back < std::min(periods_, most) ? kept_[(periods_ - 1 - back) % most] : Spent{};
    }
    // Ticks a period.
    uint64_t took() const { return median(&Spent::at); }
    uint64_t useful() const { return median(&Spent::useful); }
    uint64_t waited() const { return median(&Spent::waited); }
    bool by_turns() const { return by_turns_; }
    unsigned calls() const { return by_turns_ ? calls_ : 0; }

private:
    // Where turns change again and again what is measured has to do.
    static constexpr unsigned most_changes = 4;

    // The sums are estimates. One of them may be less than it was.
    static uint64_t more(uint64_t then, uint64_t now) { return now > then ? now - then : 0; }
    void keep(const Spent& all, uint64_t passed)
    {
        for (uint64_t turn = 0; turn < std::min<uint64_t>(passed, most); turn++) // so that ranks count alike
            kept_[periods_++ % most] = {all.at / passed, all.useful / passed, all.waited / passed};
    }
    // The time since the last sample was spent in turns, at least half of it: a few calls that look alike by chance are
    // none.
    bool are_turns(uint64_t turns, uint64_t period, uint64_t now) const
    {
        return turns > turns_ && 2 * (turns - turns_) * period >= now - then_.at;
    }
    uint64_t median(uint64_t Spent::* what) const
    {
        std::array<uint64_t, most> values = {};
        const unsigned count = std::min(periods_, most);
        for (unsigned k = 0; k < count; k++)
            values[k] = kept_[k].*what;
        const auto middle = values.begin() + count / 2;
        std::nth_element(values.begin(), middle, values.begin() + count);
        return *middle;
    }

    uint64_t fixed_;
    uint32_t skip_ = 2, periods_ = 0, found_ = 0, changes_ = 0;
    unsigned calls_ = 0;
    bool by_turns_ = true, first_ = true;
    uint64_t turns_ = 0;
    Spent then_;
    std::array<Spent, most> kept_ = {};
};

} // namespace ws::policy::cores
