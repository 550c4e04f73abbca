// SPDX-License-Identifier: MIT
//
// How many iterations a loop has, from what compiled code says of it: compared with arithmetic in 128 bits.
#include "abi/steps.h"

#include <catch2/catch.hpp>

#include <climits>

namespace {

using Wide = __int128;

// The count of a loop that goes from `start` in steps of `step` until it reaches or passes `end`.
Wide wanted(Wide start, Wide end, Wide step)
{
    const Wide way = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
    return way <= 0 ? 0 : (way + stride - 1) / stride;
}

constexpr long places[] = {LONG_MIN, LONG_MIN + 1, LONG_MIN / 2, -3,      -1, 0, 1, 2,
                           7,        LONG_MAX / 2, LONG_MAX - 1, LONG_MAX};

} // namespace

TEST_CASE("iterations of signed loops are counted without overflow", "[count]")
{
    for (long start : places)
        for (long end : places)
            for (long step : places)
                if (step != 0) {
                    INFO(start << " to " << end << " by " << step);
                    REQUIRE(Wide(ws::loop::count_signed(start, end, step)) == wanted(start, end, step));
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
                REQUIRE(Wide(ws::loop::count(start, end, start < end, step)) == wanted(start, end, step));
                // Down, as a two's complement.
                REQUIRE(Wide(ws::loop::count(end, start, end < start, step)) == wanted(start, end, -Wide(step)));
            }
}

// A loop whose variable has `bits` bits (a negative number: unsigned), as the runtime's entry point sees it.
static void check_split(int bits, Wide start, Wide end, Wide step)
{
    INFO(bits << " bits, " << long(start) << " to " << long(end) << " by " << long(step));
    const Wide n = wanted(start, end, step), last = start + (n - 1) * step, after = last + step;
    const Wide range = Wide(1) << (bits < 0 ? -bits : bits), least = bits < 0 ? 0 : -range / 2,
               most = least + range - 1;
    const bool leaves = n && (after < least || after > most);
    ws::abi::SplitLoop split = {};
    const bool found = bits == -64
                           ? ws::abi::splits_ull(step > 0, uint64_t(start), uint64_t(end), uint64_t(step), split)
                           : ws::abi::splits(long(start), long(end), long(step), long(least), long(most), split);
    REQUIRE(found == leaves);
    if (!leaves)
        return;
    REQUIRE(uint64_t(n) == split.rest.iterations + 1);
    REQUIRE(split.rest.start == uint64_t(start));
    REQUIRE(split.rest.end == uint64_t(last));
    REQUIRE(split.last == uint64_t(last));
    // The value after the last step, wrapped around as the variable's type does it.
    REQUIRE(split.after == uint64_t(after > most ? after - range : after + range));
}

TEST_CASE("a loop whose last step leaves the variable's type is split before it, in every type", "[count]")
{
    for (int bits : {8, 16, 32, 64, -8, -16, -32, -64}) {
        const Wide range = Wide(1) << (bits < 0 ? -bits : bits), least = bits < 0 ? 0 : -range / 2,
                   most = least + range - 1;
        const Wide values[] = {least, least + 1, least + 5, most / 2, most / 2 + 1, most - 4, most - 1, most};
        for (Wide start : values)
            for (Wide end : values)
                for (Wide step : {Wide(1), Wide(2), Wide(7), most / 3, most / 2, most - 1, most})
                    if (step <= most) {
                        check_split(bits, start, end, step);
                        check_split(bits, start, end, -step);
                    }
    }
}
