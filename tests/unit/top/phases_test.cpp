// SPDX-License-Identifier: MIT
#include "readings.h"
#include "text.h"

#include <catch2/catch.hpp>

using namespace ws::top;
using Catch::Contains;

namespace {

// At 1000 ms. Rank 0 computed for 200 ms in no phase and has been in "solve" ever since; rank 1 computed for 200 ms in
// no phase, for 200 ms in "solve", and has waited there since 400 ms. Since 500 ms its core is lent to rank 0, whose
// guest computes on it.
std::vector<Reading> solving(uint64_t at)
{
    std::vector<Reading> ranks = {rank_reading(0, 2, at * ms), rank_reading(1, 2, at * ms)};
    for (Reading& r : ranks) {
        r.attached_at = 0;
        r.phases = {{"", 1, 200 * ms, 0, 0, 0}, {"solve", 1, 0, 0, 0, 0}};
        r.present_phase = 1;
    }
    lend(ranks[1], 400 * ms, 500 * ms, 0);
    SeatReading& guest = guest_on(ranks[0], 1);
    guest.state = ws::observe::Seated::visiting;
    guest.since = 500 * ms;
    return ranks;
}

} // namespace

TEST_CASE("a program without phases has none")
{
    std::vector<Reading> ranks = {rank_reading(0, 1, 1000 * ms)};
    CHECK(sample(ranks, {}).phases.empty());
    ranks[0].phases = {{"", 1, 0, 0, 0, 0}}; // the run itself
    CHECK(sample(ranks, {}).phases.empty());
}

TEST_CASE("what no row has yet belongs to the present phase")
{
    const std::vector<PhaseSample> phases = sample(solving(1000), {}).phases;
    REQUIRE(phases.size() == 2);
    const PhaseSample &solve = phases[0], &run = phases[1];
    CHECK(solve.path == "solve");
    CHECK(solve.ranks_now == 2);
    CHECK(solve.longest_s == Approx(0.8));
    CHECK(run.path.empty());
    CHECK(run.ranks_now == 0);
    CHECK(run.longest_s == Approx(0.2));
    CHECK(run.total.parallel_efficiency == Approx(1));
    CHECK(run.total.load_balance == Approx(1));
    CHECK(run.total.time_share == Approx(0.2));
    const PhaseMetrics& m = solve.total;
    CHECK(m.time_share == Approx(0.8));
    CHECK(m.shares.computing == Approx(1.0 / 1.6)); // 800 and 200 of twice 800 ms
    CHECK(m.shares.lent == Approx(0.5 / 1.6));
    CHECK(m.shares.waiting == Approx(0.1 / 1.6));
    CHECK(m.shares.borrowed == Approx(0.5 / 1.6));
    CHECK(m.parallel_efficiency == Approx(1.5 / 1.6)); // rank 1's core computed for 200 + 500
    CHECK(m.load_balance == Approx(1.5 / 1.6));
    CHECK(m.load_balance_without == Approx(1.5 / 2.6)); // 1300 and 200
}

TEST_CASE("an interval has what was added in it")
{
    std::map<int, Reading> before;
    for (const Reading& r : solving(900))
        before[r.rank] = r;
    const std::vector<PhaseSample> phases = sample(solving(1000), before).phases;
    REQUIRE(phases.size() == 2);
    const PhaseMetrics& m = phases[0].interval;
    CHECK(m.time_share == Approx(1));
    CHECK(m.shares.computing == Approx(0.5));
    CHECK(m.shares.lent == Approx(0.5));
    CHECK(m.parallel_efficiency == Approx(1));
    CHECK(phases[1].interval.time_share == 0);
    CHECK(phases[1].interval.load_balance == 0);
}

TEST_CASE("rows that were brought up to date between two reads leave nothing below 0")
{
    std::vector<Reading> ranks = solving(1000);
    ranks[0].phases[1].wall_ticks = 2000 * ms;
    ranks[0].phases[1].lent_ticks = 3000 * ms;
    ranks[0].phases[1].blocked_ticks = 3000 * ms;
    for (const PhaseSample& p : sample(ranks, {}).phases)
        for (double x : {p.total.shares.computing, p.total.shares.lent, p.total.shares.waiting, p.total.load_balance,
                         p.total.parallel_efficiency, p.total.time_share}) {
            CHECK(x >= 0);
            CHECK(x <= 1);
        }
}

TEST_CASE("a table of phases")
{
    const std::vector<JobSample> jobs = {sample(solving(1000), {})};
    View view;
    const auto text = [&](unsigned width) {
        std::string all;
        for (const Line& line : lay_out(jobs, view, width, 24))
            all += line.text() + "\n";
        return all;
    };
    CHECK_THAT(text(100), !Contains("PHASE"));
    view.phases = true;
    CHECK_THAT(text(100), Contains("RANKS TIME%  COMP  LENT  WAIT  BORR   EFF    LB  ENTERED"));
    CHECK_THAT(text(100), Contains("\nsolve") && Contains("     2    80    62    31     6    31    94    94        1"));
    CHECK_THAT(text(100), Contains("(in no phase)"));
    CHECK_THAT(text(60), Contains("RANKS TIME%  COMP  LENT") && !Contains("ENTERED"));
}
