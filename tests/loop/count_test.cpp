// SPDX-License-Identifier: MIT
//
// How many iterations a loop has, from what compiled code says of it: compared with arithmetic in 128 bits.
#include "loop/participant.h"

#include <catch2/catch.hpp>

#include <climits>

namespace {

using Wide = __int128;

// A loop from `start` while not at or past `end`, in the direction of `step`.
Wide wanted(Wide start, Wide end, Wide step)
{
    const Wide way = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
    return way <= 0 ? 0 : (way + stride - 1) / stride;
}

constexpr long places[] = {LONG_MIN, LONG_MIN + 1, LONG_MIN / 2, -3, -1, 0, 1, 2, 7, LONG_MAX / 2, LONG_MAX - 1, LONG_MAX};

} // namespace

TEST_CASE("iterations of signed loops are counted without overflow", "[count]")
{
    for (long start : places)
        for (long end : places)
            for (long step : places)
                if (step != 0) {
                    INFO(start << " to " << end << " by " << step);
                    REQUIRE(Wide(ws::count_signed(start, end, step)) == wanted(start, end, step));
                }
}

TEST_CASE("iterations of unsigned loops are counted without overflow", "[count]")
{
    for (long a : places)
        for (long b : places)
            for (long c : places) {
                const auto start = uint64_t(a), end = uint64_t(b), step = uint64_t(c);
                if (step == 0)
                    continue;
                INFO(start << " to " << end << " by " << step);
                REQUIRE(Wide(ws::count(start, end, start < end, step)) == wanted(start, end, step));
                // Down, as a two's complement.
                REQUIRE(Wide(ws::count(end, start, end < start, step)) == wanted(start, end, -Wide(step)));
            }
}
