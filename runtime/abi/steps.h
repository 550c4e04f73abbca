// SPDX-License-Identifier: MIT
//
// Loops whose last step leaves the type of their variable (abi/abi.h). The test is inlined, at the cost of a few
// instructions a region, and only for loops whose step is not 1 or -1; everything else is cold.
#pragma once

#include "loop/participant.h"

namespace ws::abi {

// Such a loop: all iterations but the last, and the last, of which the variable is `last` before and `after` after the
// step.
struct SplitLoop {
    loop::LoopBounds rest;
    uint64_t last, after;
};

// Whether a step from `value` leaves the type.
inline bool step_leaves(long value, long incr, long least, long most)
{
    long next;
    return __builtin_add_overflow(value, incr, &next) || next < least || next > most;
}
inline bool step_leaves_ull(bool up, uint64_t value, uint64_t incr)
{
    return up ? value + incr < value : value + incr > value;
}

// Whether the step of the loop's last iteration does. The end is at most a step further on: most often it tells.
inline bool splits(long start, long end, long incr, long least, long most, SplitLoop& split)
{
    if (WS_LIKELY(!step_leaves(end, incr, least, most)))
        return false;
    const uint64_t n = loop::count_signed(start, end, incr), last = uint64_t(start) + (n - 1) * uint64_t(incr);
    // The variable wraps around: in its type, `after` is the value that lies `values` further back. With 64 bits it is
    // `after` itself.
    const uint64_t values = least == 0 && most == INT64_MAX ? 0 : uint64_t(most) - uint64_t(least) + 1;
    const uint64_t after = last + uint64_t(incr);
    split = {{uint64_t(start), uint64_t(incr), last, n - 1}, last, incr > 0 ? after - values : after + values};
    return n && step_leaves(long(last), incr, least, most);
}

inline bool splits_ull(bool up, uint64_t start, uint64_t end, uint64_t incr, SplitLoop& split)
{
    if (WS_LIKELY(!step_leaves_ull(up, end, incr)))
        return false;
    const uint64_t n = loop::count_unsigned(up, start, end, incr), last = start + (n - 1) * incr;
    split = {{start, incr, last, n - 1}, last, last + incr};
    return n && step_leaves_ull(up, last, incr);
}

} // namespace ws::abi
