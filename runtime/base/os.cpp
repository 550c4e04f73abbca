// SPDX-License-Identifier: MIT
#include "base/os.h"

#include <sys/statvfs.h>

namespace ws::base {

namespace {

// The same moment on both clocks, the best of some tries: one may be interrupted.
struct Moment {
    Moment()
    {
        constexpr int tries = 5;
        for (int i = 0; i < tries; i++) {
            const uint64_t began = base::ticks();
            const double read = seconds_now();
            if (const uint64_t took = base::ticks() - began; took < apart) {
                apart = took;
                ticks = began + took / 2;
                seconds = read;
            }
        }
    }
    double seconds = 0;
    uint64_t ticks = 0, apart = UINT64_MAX; // ticks between the two readings
};
// When libws was loaded: mostly long before a clock is calibrated, so that nobody waits for that.
const Moment loaded;

} // namespace

void Clock::calibrate()
{
    constexpr double error = 1e-3;
    for (;;) {
        const Moment now;
        const double passed = double(now.ticks - loaded.ticks);
        if (passed * error >= 1 + 0.5 * double(now.apart + loaded.apart)) { // 1: a slow counter's step
            ticks_per_us_ = passed / ((now.seconds - loaded.seconds) * 1e6);
            return;
        }
        cpu_relax();
    }
}

bool shm_has_room(size_t bytes)
{
    struct statvfs fs;
    return statvfs("/dev/shm", &fs) < 0 || uint64_t(fs.f_bavail) * fs.f_frsize >= 2 * uint64_t(bytes);
}

} // namespace ws::base
