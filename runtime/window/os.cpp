// SPDX-License-Identifier: MIT
#include "window/os.h"

namespace ws::window {

void Clock::start()
{
    seconds0_ = seconds_now();
    ticks0_ = ticks();
}

void Clock::calibrate()
{
    double elapsed;
    while ((elapsed = seconds_now() - seconds0_) < 1e-3)
        cpu_relax();
    ticks_per_us_ = (ticks() - ticks0_) / (elapsed * 1e6);
}

} // namespace ws::window
