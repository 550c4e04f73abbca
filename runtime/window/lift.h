// SPDX-License-Identifier: MIT
//
// For descriptors that stay open because other processes find something by them: moves them out of the way of programs
// that expect small numbers.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace ws::window {

constexpr int first_lifted = 100;

// The same file under a high number, closed on exec. `low` itself if no such number is free, or if it is -1.
inline int lift(int low)
{
    const int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, first_lifted);
    if (high < 0)
        return low;
    close(low);
    return high;
}

} // namespace ws::window
