// SPDX-License-Identifier: MIT
#include "base/os.h"

#include <sys/statvfs.h>

namespace ws::base {

namespace {

// How long the clock is calibrated, for an error below 0.1 %.
constexpr double calibrate_s = 1e-3;

struct Moment {
    double seconds = seconds_now();
    uint64_t ticks = base::ticks();
};
// When libws was loaded: mostly long before a clock is calibrated, so that nobody waits for that.
const Moment loaded;

} // namespace

void Clock::calibrate()
{
    double elapsed;
    while ((elapsed = seconds_now() - loaded.seconds) < calibrate_s)
        cpu_relax();
    ticks_per_us_ = double(ticks() - loaded.ticks) / (elapsed * 1e6);
}

bool shm_has_room(size_t bytes)
{
    struct statvfs fs;
    return statvfs("/dev/shm", &fs) < 0 || uint64_t(fs.f_bavail) * fs.f_frsize >= 2 * uint64_t(bytes);
}

} // namespace ws::base
