// SPDX-License-Identifier: MIT
//
// What a rank did over time, from the moments at which its counters were read.
#include "observe/moments.h"

#include <catch2/catch.hpp>

using namespace ws::observe;

namespace {

double sum(const std::vector<TimeSlice>& slices, double TimeSlice::*field)
{
    double all = 0;
    for (const TimeSlice& s : slices)
        all += s.*field;
    return all;
}

} // namespace

TEST_CASE("slices of a run that computes, then waits, then lends its core")
{
    Moments m;
    m.start({0, 0, 0, 0, 0}, 100);
    m.add({3200, 0, 0, 0, 1600});      // half a core helped it
    m.add({4800, 1600, 0, 0, 1600});   // waited
    const auto slices = slices_of(m, {6400, 3200, 1600, 0, 1600}); // lent
    REQUIRE(slices.size() == time_slices);
    for (unsigned i = 0; i < time_slices; i++) {
        CHECK(slices[i].computing == (i < 32 ? 1 : 0));
        CHECK(slices[i].borrowed == (i < 32 ? 0.5 : 0));
        CHECK(slices[i].lent == (i < 48 ? 0 : 1));
    }
}

TEST_CASE("waiting for helpers at the end of a loop is no computing")
{
    Moments m;
    m.start({0, 0, 0, 0, 0}, 100);
    const auto slices = slices_of(m, {6400, 0, 0, 1600, 0});
    CHECK(slices.front().computing == 0.75);
    CHECK(slices.back().computing == 0.75);
}

TEST_CASE("memory is bounded, and nothing is lost when moments go")
{
    Moments m;
    m.start({1000, 0, 0, 0, 0}, 10);
    Moment now = {1000, 0, 0, 0, 0};
    for (unsigned i = 0; i < 100000; i++) { // a wait of 5 in each 20 ticks, and 2 of it lent
        now.at += 20, now.mpi += 5, now.lent += 2, now.borrowed += 30;
        if (m.due(now.at))
            m.add(now);
        REQUIRE(m.end() - m.begin() <= Moments::most);
    }
    CHECK(m.end() - m.begin() > Moments::most / 3);
    CHECK(m.begin()->at == 1000);
    const auto slices = slices_of(m, now);
    CHECK(sum(slices, &TimeSlice::computing) == Approx(0.75 * time_slices));
    CHECK(sum(slices, &TimeSlice::lent) == Approx(0.1 * time_slices));
    CHECK(sum(slices, &TimeSlice::borrowed) == Approx(1.5 * time_slices));
}

TEST_CASE("a moment is due a step after the last, and never before the start")
{
    Moments m;
    CHECK_FALSE(m.due(UINT64_MAX - 1));
    CHECK(slices_of(m, {100, 0, 0, 0, 0}).empty());
    m.start({1000, 0, 0, 0, 0}, 50);
    CHECK_FALSE(m.due(1049));
    CHECK(m.due(1050));
    CHECK(slices_of(m, {1000, 0, 0, 0, 0}).empty()); // no time
}

TEST_CASE("counters that were read at slightly different times give no share beyond the slice")
{
    Moments m;
    m.start({0, 0, 0, 0, 0}, 100);
    for (const TimeSlice& s : slices_of(m, {6400, 6500, 6700, 0, 0})) {
        CHECK(s.computing == 0);
        CHECK(s.lent == 1);
    }
}
