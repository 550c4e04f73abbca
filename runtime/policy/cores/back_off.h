// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

namespace ws::policy::cores {

// What may help an execution of a region: it is tried each time until it was in vain three times in a row, and from
// then on after pauses that double, up to `most_paused` executions.
template <unsigned most_paused> class BackOff {
public:
    // Whether this execution is to try it. Once for each.
    bool is_due()
    {
        if (pause_ == 0)
            return true;
        pause_--;
        return false;
    }
    void tried(bool helped)
    {
        vain_ = helped ? 0 : vain_ + 1;
        if (vain_ >= patient)
            pause_ = std::min(1u << std::min(vain_ - patient, 8u), most_paused);
    }

private:
    static constexpr unsigned patient = 3;
    unsigned vain_ = 0, pause_ = 0; // tries in a row in which it did not help; executions until the next
};

} // namespace ws::policy::cores
