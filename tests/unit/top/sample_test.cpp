// SPDX-License-Identifier: MIT
#include "readings.h"

#include <catch2/catch.hpp>

using namespace ws::top;
using ws::observe::Seated;

namespace {

const std::map<int, Reading> never;

} // namespace

TEST_CASE("what goes on counts before it is over")
{
    SeatReading s;
    s.lend.blocked_ticks = 100;
    s.lend.lent_ticks = 40;
    s.lend.naps_ticks = 3;
    s.visit.borrowed_ticks = 7;
    CHECK(live_blocked(s, 1000) == 100);
    s.waits_since = 900;
    s.since = 950;
    s.state = Seated::lent;
    CHECK(live_blocked(s, 1000) == 200);
    CHECK(live_lent(s, 1000) == 90);
    CHECK(live_asleep(s, 1000) == 3);
    s.state = Seated::asleep;
    CHECK(live_lent(s, 1000) == 40);
    CHECK(live_asleep(s, 1000) == 53);
    CHECK(live_busy(s, 1000) == 7);
    s.state = Seated::visiting;
    CHECK(live_busy(s, 1000) == 57);
    s.since = 2000; // written since `at` was read
    CHECK(live_busy(s, 1000) == 7);
}

TEST_CASE("a rank that computes, helped by one that lends its core all the time")
{
    // 100 ms: rank 0 computes; rank 1 waits throughout and is lent from 20 ms on; rank 0's guest computes as long.
    std::map<int, Reading> before;
    before[0] = rank_reading(0, 2, 1000 * ms);
    before[1] = rank_reading(1, 2, 1000 * ms);
    before[1].seats[0].state = Seated::blocked;
    before[1].seats[0].waits_since = before[1].seats[0].since = 990 * ms;
    Reading owner = rank_reading(0, 2, 1100 * ms), thief = rank_reading(1, 2, 1100 * ms);
    lend(thief, 990 * ms, 1020 * ms, 0);
    SeatReading& guest = guest_on(owner, 1);
    guest.state = Seated::visiting;
    guest.since = 1020 * ms;
    guest.other = 1;
    guest.loop = 0;
    guest.visit.chunks = 30;
    owner.loops.resize(1);
    owner.loops[0].name = "x.c:3 f";
    owner.loops[0].chunks_stolen = 30;
    owner.loops[0].borrowed_ticks = 50 * ms;
    const JobSample job = sample({thief, owner}, before);

    REQUIRE(job.ranks.size() == 2);
    const RankSample &r0 = job.ranks[0], &r1 = job.ranks[1];
    CHECK(r0.rank == 0);
    CHECK(r0.interval.computing == Approx(1));
    CHECK(r0.interval.borrowed == Approx(0.8));
    CHECK(r0.own_efficiency == Approx(1));
    CHECK(r0.efficiency == Approx(1.8));
    CHECK(r0.steals_per_s == Approx(300));
    CHECK(r0.chunks_stolen == 30);
    REQUIRE(r0.guests.size() == 1);
    CHECK(r0.guests[0].on == 1);
    CHECK(r0.guests[0].loop == "x.c:3 f");
    CHECK(r0.guests[0].visit_s == Approx(0.08));
    CHECK(r1.interval.computing == Approx(0).margin(1e-9));
    CHECK(r1.interval.lent == Approx(0.8));
    CHECK(r1.interval.waiting == Approx(0.2));
    REQUIRE(r1.cores.size() == 1);
    CHECK(r1.cores[0].tenant == 0);
    CHECK(r1.cores[0].call == "MPI_Recv");
    CHECK(r1.cores[0].loop == "x.c:3 f"); // from the tenant's board
    CHECK(r1.cores[0].wait_s == Approx(0.11));
    CHECK(r1.cores[0].state_s == Approx(0.08));
    CHECK(r1.cores[0].lends_per_s == Approx(10));
    CHECK(job.interval.seconds == Approx(0.1));
    CHECK(job.interval.parallel_efficiency == Approx(0.9));
    CHECK(job.interval.load_balance == Approx(0.9));
    // All 180 ms of work were rank 0's: alone it would have taken them all, and rank 1 would have waited.
    CHECK(job.interval.load_balance_without == Approx(0.5));
    CHECK(job.interval.parallel_efficiency_without == Approx(0.5));
    CHECK(job.interval.shares.borrowed == Approx(0.4));
    CHECK_FALSE(job.over);
    CHECK_FALSE(job.partial());
    REQUIRE(job.loops.size() == 1);
    CHECK(job.loops[0].guest_share == Approx(0.25));
    CHECK(job.loops[0].steals_per_s == Approx(300));
}

TEST_CASE(
    "more guests than CPUs: without stealing the job would not have lasted longer than the CPUs can have computed")
{
    std::vector<Reading> job;
    for (int rank = 0; rank < 9; rank++) {
        job.push_back(rank_reading(rank, 9, 1000 * ms));
        job.back().node_cpus = 2;
        if (rank > 0 && rank < 8)
            lend(job.back(), 1, 1, 0);
    }
    for (unsigned core = 1; core < 8; core++) { // all of them at work all the time, by the clock
        SeatReading& guest = guest_on(job[0], core);
        guest.state = Seated::visiting;
        guest.since = 1;
    }
    job[0].lag_ticks = 8000 * ms;
    const Metrics total = sample(job, {}).total;
    // Rank 0 would have computed for 2 s, rank 8 for 1 s as it did.
    CHECK(total.parallel_efficiency_without == Approx(3. / (2 * 9)));
    CHECK(total.load_balance_without == Approx(3. / (2 * 9)));
    for (Reading& r : job)
        r.node_cpus = 0; // not known
    CHECK(sample(job, {}).total.parallel_efficiency_without == Approx(9. / (9 * 9)));
}

TEST_CASE("nothing is stolen: with and without are the same")
{
    std::map<int, Reading> before{{0, rank_reading(0, 2, 1000 * ms)}, {1, rank_reading(1, 2, 1000 * ms)}};
    std::vector<Reading> after{rank_reading(0, 2, 1100 * ms), rank_reading(1, 2, 1100 * ms)};
    after[1].seats[0].lend.blocked_ticks = 50 * ms;
    const JobSample job = sample(after, before);
    CHECK(job.interval.parallel_efficiency == Approx(0.75));
    CHECK(job.interval.parallel_efficiency_without == Approx(0.75));
    CHECK(job.interval.load_balance == Approx(0.75));
    CHECK(job.interval.load_balance_without == Approx(0.75));
    CHECK(job.interval.steals_per_s == 0);
}

TEST_CASE("all wait for a while: communication, not imbalance, and stealing has no part in it")
{
    std::map<int, Reading> before{{0, rank_reading(0, 2, 1000 * ms)}, {1, rank_reading(1, 2, 1000 * ms)}};
    std::vector<Reading> after{rank_reading(0, 2, 1100 * ms), rank_reading(1, 2, 1100 * ms)};
    for (Reading& r : after)
        r.seats[0].lend.blocked_ticks = 50 * ms;
    const JobSample job = sample(after, before);
    CHECK(job.interval.load_balance == Approx(1));
    CHECK(job.interval.parallel_efficiency == Approx(0.5));
    CHECK(job.interval.parallel_efficiency_without == Approx(0.5));
}

TEST_CASE("why ranks waited")
{
    std::map<int, Reading> before{{0, rank_reading(0, 2, 1000 * ms)}, {1, rank_reading(1, 2, 1000 * ms)}};
    std::vector<Reading> after{rank_reading(0, 2, 1100 * ms), rank_reading(1, 2, 1100 * ms)};
    before[1].seats[0].lend.refused_ticks[unsigned(ws::observe::Refusal::all_wait)] = 500 * ms;
    after[1].seats[0].lend.refused_ticks[unsigned(ws::observe::Refusal::all_wait)] = 510 * ms;
    after[1].seats[0].lend.refused_ticks[unsigned(ws::observe::Refusal::nothing_shared)] = 30 * ms;
    const JobSample job = sample(after, before);
    CHECK(job.interval.waited_because[unsigned(ws::observe::Refusal::all_wait)] == Approx(0.25));
    CHECK(job.interval.waited_because[unsigned(ws::observe::Refusal::nothing_shared)] == Approx(0.75));
    CHECK(job.total.waited_because[unsigned(ws::observe::Refusal::all_wait)] == Approx(510. / 540));
    CHECK(std::string(refusal_name(ws::observe::Refusal::all_wait)) == "all_wait");
}

TEST_CASE("a worker")
{
    std::map<int, Reading> before{{0, rank_reading(0, 1, 1000 * ms, 1)}};
    Reading r = rank_reading(0, 1, 1100 * ms, 1);
    r.seats[1].visit.borrowed_ticks = 30 * ms;
    r.seats[1].visit.chunks = 5;
    r.seats[1].state = Seated::computing;
    r.seats[1].since = 1080 * ms;
    const JobSample job = sample({r}, before);
    REQUIRE(job.ranks.size() == 1);
    REQUIRE(job.ranks[0].cores.size() == 2);
    CHECK(job.cores == 2);
    CHECK(job.ranks[0].cores[1].kind == ws::observe::SeatKind::worker);
    CHECK(job.ranks[0].cores[1].interval.computing == Approx(0.5));
    CHECK(job.ranks[0].cores[1].interval.waiting == Approx(0.5));
    CHECK(job.ranks[0].interval.borrowed == Approx(0.5));
    CHECK(job.interval.parallel_efficiency == Approx(0.75));
}

TEST_CASE("shares stay shares whatever was read")
{
    // A wait that ended between the reads: its time is in the counter and, as it seems, still going on.
    std::map<int, Reading> before{{0, rank_reading(0, 1, 1000 * ms)}};
    Reading r = rank_reading(0, 1, 1100 * ms);
    r.seats[0].lend.blocked_ticks = 100 * ms;
    r.seats[0].lend.lent_ticks = 150 * ms;
    r.seats[0].waits_since = 1000 * ms;
    r.seats[0].since = 1000 * ms;
    r.seats[0].state = Seated::lent;
    const JobSample once = sample({r}, before);
    const Shares& s = once.ranks[0].interval;
    CHECK(s.computing >= 0);
    CHECK(s.computing + s.lent + s.waiting == Approx(1));
    // And counters that seem to shrink.
    before[0] = r;
    const JobSample again = sample({rank_reading(0, 1, 1200 * ms)}, before);
    CHECK(again.ranks[0].interval.computing == Approx(1));
    CHECK(again.ranks[0].interval.lent == 0);
    // No time between the readings.
    const JobSample none = sample({r}, before);
    CHECK(none.interval.seconds == 0);
    CHECK(none.ranks[0].interval.computing == 0);
    CHECK(none.total.seconds > 0);
    CHECK(sample({}, never).ranks.empty());
}

TEST_CASE("ranks that end")
{
    Reading finished = rank_reading(0, 4, 2000 * ms), dead = rank_reading(1, 4, 2000 * ms);
    finished.ended_at = 1000 * ms;
    dead.alive = false;
    JobSample job = sample({finished, dead}, never);
    CHECK(job.over);
    CHECK(job.died == 1);
    CHECK(job.partial());
    CHECK(job.ranks[0].condition == RankCondition::finished);
    CHECK(job.ranks[0].seconds == Approx(1)); // not until it was looked at
    CHECK(job.ranks[1].condition == RankCondition::died);
    job = sample({finished, rank_reading(1, 4, 2000 * ms)}, never);
    CHECK_FALSE(job.over);
}

TEST_CASE("ranks of two nodes of one machine use the cores of their own")
{
    std::vector<Reading> all;
    for (int rank = 0; rank < 4; rank++) {
        all.push_back(rank_reading(rank, 4, 100 * ms));
        all.back().node = rank / 2;
        all.back().node_rank = rank % 2;
        all.back().node_ranks = 2;
        all.back().node_cores = 2;
        all.back().seats.resize(3);
        all.back().seats[0].core = unsigned(rank % 2);
    }
    lend(all[3], 1, 1, 2);
    SeatReading& guest = guest_on(all[2], 1);
    guest.state = Seated::visiting;
    guest.since = 1;
    guest.loop = 0;
    all[2].loops.resize(1);
    all[2].loops[0].name = "right";
    all[0].loops.resize(1);
    all[0].loops[0].name = "wrong";
    SeatReading& other = guest_on(all[0], 1);
    other.state = Seated::visiting;
    other.since = 1;
    other.loop = 0;
    const JobSample job = sample(all, never);
    CHECK(job.nodes_seen == 2);
    CHECK(job.ranks[3].cores[0].loop == "right");
}

TEST_CASE("loops of all ranks, the longest first")
{
    std::vector<Reading> all{rank_reading(0, 2, 101 * ms), rank_reading(1, 2, 101 * ms)};
    for (Reading& r : all) {
        r.loops.resize(2);
        r.loops[0].name = "short";
        r.loops[0].whole_executions = 160;
        r.loops[0].whole_iterations = 1600;
        r.loops[0].timed_iterations = 100;
        r.loops[0].timed_ticks = ms; // one in 16 is timed
        r.loops[1].name = "long";
        r.loops[1].cut_executions = 2;
        r.loops[1].cut_ticks = 50 * ms;
        r.loops[1].kept_chunks = 7;
    }
    const JobSample job = sample(all, never);
    REQUIRE(job.loops.size() == 2);
    CHECK(job.loops[0].name == "long");
    CHECK(job.loops[0].owner_share == Approx(0.5).epsilon(0.02));
    CHECK(job.loops[0].chunks_kept == 14);
    CHECK(job.loops[1].owner_share == Approx(0.16).epsilon(0.02));
    CHECK(job.loops[1].executions == 320);
}
