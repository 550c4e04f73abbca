// SPDX-License-Identifier: MIT
//
// Descriptors that stay open, by which other processes find something: out of the way of programs that count on small numbers.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace ws::window {

constexpr int first_lifted = 100;

// The same file under a number from there on, closed on exec; `low` itself, also -1, if there is none free.
inline int lift(int low)
{
    const int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, first_lifted);
    if (high < 0)
        return low;
    close(low);
    return high;
}

} // namespace ws::window
