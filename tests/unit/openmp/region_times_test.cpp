// SPDX-License-Identifier: MIT
#include "openmp/library/region_times.h"

#include <catch2/catch.hpp>

using ws::openmp::RegionTimes;
using ws::openmp::region_times;

TEST_CASE("what all threads of a region lose is scheduling, and what the others lose besides is imbalance")
{
    // 100 ticks; four threads were useful for 90, 50, 50 and 10.
    const RegionTimes t = region_times(100, 4, 200, 90);
    CHECK(t.all == 400);
    CHECK(t.scheduling == 4 * 10);
    CHECK(t.imbalance == 40 + 40 + 80);
    CHECK(t.all - t.scheduling - t.imbalance == 200);
}

TEST_CASE("a thread alone has no imbalance, and one that is useful all the time loses nothing")
{
    CHECK(region_times(100, 1, 70, 70).imbalance == 0);
    CHECK(region_times(100, 1, 70, 70).scheduling == 30);
    CHECK(region_times(100, 3, 300, 100).scheduling == 0);
    CHECK(region_times(100, 3, 300, 100).imbalance == 0);
}

TEST_CASE("clocks of two cores that differ by some ticks make no loss below zero")
{
    const RegionTimes t = region_times(100, 2, 203, 102);
    CHECK(t.scheduling == 0);
    CHECK(t.imbalance == 0);
}
