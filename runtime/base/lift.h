// SPDX-License-Identifier: MIT
//
// For descriptors that stay open because other processes find something by them: moves them out of the way of programs
// that expect small numbers.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace ws::base {

// Below 64: up to there the kernel's table of a process has room from the start. To make it larger in a process with
// threads takes some 10 ms.
constexpr int first_lifted = 48;

// The same file under a high number, closed on exec. `low` itself if no such number is free, or if it is -1.
inline int lift(int low)
{
    const int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, first_lifted);
    if (high < 0)
        return low;
    close(low);
    return high;
}

} // namespace ws::base
