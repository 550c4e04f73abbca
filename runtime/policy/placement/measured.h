// SPDX-License-Identifier: MIT
//
// What this process's own work has cost, from its load (measure/meter.h), without the calls of MPIX functions: these
// are no work of the program. In ticks of useful time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace ws::policy::placement {

// Any thread.
class MeasuredLoad {
public:
    // Since the last begin(), for a call that the program made at `entered`.
    double load(int64_t entered, double ticks_per_us)
    {
        std::lock_guard<std::mutex> guard(lock_);
        return double(std::max<int64_t>(entered - begun_ - in_calls_, 0)) / ticks_per_us * 1e-6;
    }
    // Measuring begins again.
    void begin(int64_t entered)
    {
        std::lock_guard<std::mutex> guard(lock_);
        begun_ = entered;
        in_calls_ = 0;
    }
    void call_ends(int64_t entered, int64_t now)
    {
        std::lock_guard<std::mutex> guard(lock_);
        in_calls_ += now - entered;
    }

private:
    std::mutex lock_;
    int64_t begun_ = 0, in_calls_ = 0;
};

} // namespace ws::policy::placement
