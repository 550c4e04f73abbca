// SPDX-License-Identifier: MIT
#include "base/os.h"

#include <sys/statvfs.h>

namespace ws::base {

// How long the clock is calibrated, for an error below 0.1 %.
constexpr double calibrate_s = 1e-3;

void Clock::start()
{
    seconds0_ = seconds_now();
    ticks0_ = ticks();
}

void Clock::calibrate()
{
    double elapsed;
    while ((elapsed = seconds_now() - seconds0_) < calibrate_s)
        cpu_relax();
    ticks_per_us_ = (ticks() - ticks0_) / (elapsed * 1e6);
}

bool shm_has_room(size_t bytes)
{
    struct statvfs fs;
    return statvfs("/dev/shm", &fs) < 0 || uint64_t(fs.f_bavail) * fs.f_frsize >= 2 * uint64_t(bytes);
}

} // namespace ws::base
