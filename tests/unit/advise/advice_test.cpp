// SPDX-License-Identifier: MIT
//
// What ws-doctor advise recommends, of made-up runs whose times are known.
#include "advice.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

using namespace doctor;
using namespace ws::observe;

namespace {

// A run without help whose ranks compute for `computing_s` seconds, in `turns` equal turns: all wait for the longest.
Report run_of(const std::vector<double>& computing_s, double turns = 1, double ranks_of_node = 1000)
{
    ReportBuilder b;
    const double longest = *std::max_element(computing_s.begin(), computing_s.end());
    for (size_t i = 0; i < computing_s.size(); i++) {
        RankFigures r = {};
        r.rank = int64_t(i);
        r.node = int64_t(double(i) / ranks_of_node);
        r.node_rank = r.rank % int64_t(ranks_of_node);
        r.host = "node" + std::to_string(r.node);
        r.program = "/home/me/app";
        RankCounts& c = r.counts;
        c.wall_s = longest;
        c.computing_s = computing_s[i];
        c.mpi_s = c.blocked_s = longest - computing_s[i];
        c.refused_s[unsigned(Refusal::nothing_shared)] = c.blocked_s;
        r.calls.push_back({"MPI_Allreduce", {turns, c.blocked_s, c.blocked_s > 0 ? turns : 0, c.blocked_s, 0}});
        for (unsigned s = 0; s < time_slices; s++)
            r.over_time.push_back({computing_s[i] / longest, 0, 0});
        b.add(std::move(r));
    }
    Report r = b.finish();
    r.workshare = "1.0.0";
    r.conditions.openmp = "hint";
    r.conditions.victim = "auto";
    r.conditions.openmp_threads = 1;
    r.conditions.cpus = 16;
    r.conditions.rank_cpus = 1;
    return r;
}

// All that the ranks computed was in `regions` parallel regions each, of `threads` threads.
Report with_regions(Report r, double regions, double threads = 1)
{
    r.conditions.openmp_threads = threads;
    r.totals.openmp_regions = regions * r.ranks;
    r.totals.openmp_regions_s = r.totals.computing_s;
    for (RankRow& row : r.rank)
        row.counts.openmp_regions_s = row.counts.computing_s;
    return r;
}

const Advice* advice_of(const Counsel& c, const char* kind)
{
    for (const Advice& a : c.advice)
        if (std::strcmp(a.kind, kind) == 0)
            return &a;
    return nullptr;
}
const NotAdvised* rejected_of(const Counsel& c, const char* kind)
{
    for (const NotAdvised& n : c.not_advised)
        if (std::strcmp(n.kind, kind) == 0)
            return &n;
    return nullptr;
}
bool is_unknown(const Counsel& c, const char* part)
{
    return std::any_of(c.unknown.begin(), c.unknown.end(), [&](const Unknown& u) {
        return (u.about + " " + u.because).find(part) != std::string::npos;
    });
}

// time = serial + work / cores, no waiting.
Report scaled(double ranks, double threads, double serial_s, double work_s)
{
    const double each = serial_s + work_s / (ranks * threads);
    Report r = run_of(std::vector<double>(size_t(ranks), each));
    r.conditions.openmp_threads = threads;
    r.totals.openmp_regions = ranks;
    r.totals.openmp_regions_s = ranks * work_s / (ranks * threads);
    return r;
}

} // namespace

TEST_CASE("loops are marked if one rank has more work: 3 s and 1 s become 2 s each, and a little")
{
    const Counsel c = advise({run_of({3, 1})});
    const Advice* a = advice_of(c, "mark_loops");
    REQUIRE(a);
    CHECK(a->gain.high == Approx(1.5 * 1.05)); // how far an estimate may be wrong
    CHECK(a->gain.expected == Approx(3 / (2 + 0.03)).epsilon(1e-4));
    CHECK(a->gain.low == Approx(3 / (2 + 0.06) / 1.05).epsilon(1e-4));
    CHECK(a->commands.back() == "mpirun -workshare -bind-to core -n 2 /home/me/app");
    CHECK(a->basis.find("MPI_Allreduce") != std::string::npos);
    CHECK(is_unknown(c, "one run shows no scaling"));
}

TEST_CASE("a balanced run, one alone on its node, and one that waits for messages get no advice")
{
    CHECK(advise({run_of({1, 1})}).advice.empty());
    CHECK(rejected_of(advise({run_of({1, 0.99})}), "sharing"));
    CHECK(rejected_of(advise({run_of({3, 1}, 1, 1)}), "sharing"));
    Report r = run_of({1, 1});
    r.elapsed_s = 2;
    r.totals.blocked_s = 2;
    r.totals.refused_s[unsigned(Refusal::all_wait)] = 2;
    const Counsel c = advise({r});
    CHECK(c.advice.empty());
    CHECK(rejected_of(c, "sharing"));
}

TEST_CASE("what costs more than it brings is not advised: 3 s and 1 s in 100,000 turns of 30 us, and in 5,000")
{
    const Counsel short_turns = advise({run_of({3, 1}, 100000)});
    CHECK(short_turns.advice.empty());
    CHECK(rejected_of(short_turns, "mark_loops"));
    const Counsel long_turns = advise({run_of({3, 1}, 5000)});
    REQUIRE(advice_of(long_turns, "mark_loops")); // 12 us of 600 us are lost in each
    // Only 40 % of waits below 1 ms is sure, because data has to move; how much, the run does not tell.
    const Gain& gain = advice_of(long_turns, "mark_loops")->gain;
    CHECK(gain.low == Approx(3 / (3 - 0.4 + 2 * 0.09) / 1.05).epsilon(1e-3));
    CHECK(gain.expected == Approx(3 / (3 - 0.7 + 0.03 + 0.06)).epsilon(1e-3));
    CHECK(gain.high == Approx(1.5 * 1.05).epsilon(1e-3));
    CHECK(is_unknown(long_turns, "a run with sharing tells"));
    CHECK_FALSE(is_unknown(advise({run_of({3, 1})}), "a run with sharing tells"));
}

TEST_CASE("one region per turn is shared, because a lent core comes too late for it; of many, lent cores get most")
{
    const Counsel one = advise({with_regions(run_of({3, 1}, 10), 10)});
    REQUIRE(advice_of(one, "share"));
    CHECK(advice_of(one, "share")->gain.expected < 1.5);
    CHECK(std::strcmp(one.advice[0].kind, "share") == 0);
    CHECK_FALSE(advice_of(one, "lend"));
    const Counsel many = advise({with_regions(run_of({3, 1}, 10), 1000)});
    REQUIRE(advice_of(many, "lend"));
    CHECK(advice_of(many, "lend")->gain.expected > 1.45);
    CHECK(advice_of(many, "lend")->commands[0] ==
          "OMP_NUM_THREADS=1 mpirun -workshare-openmp=lend -bind-to core -n 2 /home/me/app");
    // one region per turn: lent cores come too late, but a deal of 6 and 2 cores lasts
    const Counsel balanced = advise({with_regions(run_of({3, 1}, 10), 10, 4)});
    REQUIRE(advice_of(balanced, "auto"));
    CHECK(advice_of(balanced, "auto")->gain.expected == Approx(1.5));
    CHECK(advice_of(balanced, "auto")->gain.low == Approx(3 / (3 - 0.8)));
    CHECK_FALSE(advice_of(balanced, "share")); // a waiting rank lends one core of four there
    CHECK(is_unknown(balanced, "several threads"));
    const Counsel threads = advise({with_regions(run_of({3, 1}, 10), 1000, 4)});
    REQUIRE(advice_of(threads, "auto"));
    CHECK(advice_of(threads, "auto")->commands[0] ==
          "OMP_NUM_THREADS=4 mpirun -workshare-openmp=auto -bind-to core:4 -n 2 /home/me/app");
}

TEST_CASE("regions that create tasks are not shared, but get lent cores")
{
    Report r = with_regions(run_of({3, 1}, 10), 1000);
    r.totals.openmp_tasks_s = r.totals.openmp_regions_s;
    const Counsel c = advise({r});
    CHECK_FALSE(advice_of(c, "share"));
    CHECK_FALSE(advice_of(c, "mark_loops"));
    CHECK(advice_of(c, "lend"));
}

TEST_CASE("regions in which little was computed gain little, whatever the waiting")
{
    Report r = with_regions(run_of({3, 1}, 10), 1000);
    r.totals.openmp_regions_s = 0.05;
    const Counsel c = advise({r});
    CHECK_FALSE(advice_of(c, "share"));
    CHECK_FALSE(advice_of(c, "lend"));
}

TEST_CASE("a run with help is kept as it is, or not, by its own estimate")
{
    Report r = run_of({2, 2});
    r.totals.iterations_stolen = 100;
    r.speedup = 1.4;
    const Counsel kept = advise({r});
    const Advice* keep = advice_of(kept, "keep");
    REQUIRE(keep);
    CHECK(keep->gain.expected == 1.4);
    CHECK(keep->gain.low == Approx(1.4 / 1.05));
    r.speedup = 1.04; // within its error
    CHECK(advise({r}).advice.empty());
    CHECK(rejected_of(advise({r}), "keep"));
    r.speedup = 0.8; // it was slower
    const Counsel off = advise({r});
    REQUIRE(advice_of(off, "off"));
    CHECK(advice_of(off, "off")->gain.low == Approx(1.25 / 1.05));
    CHECK(advice_of(off, "off")->gain.low < advice_of(off, "off")->gain.high);
}

TEST_CASE("loops of a run with help that could be shared better are named with their remedy and a bound")
{
    Report r = run_of({3, 1});
    r.totals.iterations_stolen = 1;
    LoopFigures l = {"a.c:1:main", {}, LoopCause::coarse};
    l.counts.computing_s = 4;
    r.loops = {l, {"b.c:2:main", {}, LoopCause::helped}};
    const Counsel c = advise({r});
    REQUIRE(c.loops.size() == 1);
    CHECK(c.loops[0].loop == "a.c:1:main");
    CHECK(c.loops[0].most_speedup == Approx(1.5));
}

TEST_CASE("what a run does not tell is said, and not guessed")
{
    Report noisy = run_of({3, 1});
    noisy.conditions.others = 0.5;
    noisy.totals.kept_off_s = 1;
    CHECK(advise({noisy}).advice.empty());
    CHECK(is_unknown(advise({noisy}), "other programs used 50 %"));
    Report none = run_of({3, 1});
    none.conditions.victim = "none";
    CHECK(advise({none}).advice.empty());
    CHECK(is_unknown(advise({none}), "-workshare-victim none"));
    Report crowded = run_of({3, 1});
    crowded.conditions.cpus = 1;
    CHECK(advise({crowded}).advice.empty());
    CHECK(is_unknown(advise({crowded}), "2 ranks for 1 CPUs"));
    Report inactive = run_of({3, 1});
    inactive.rank[1].inactive = "no window";
    CHECK(advise({inactive}).advice.empty());
    CHECK(is_unknown(advise({inactive}), "no window"));
    Report free = run_of({3, 1});
    free.conditions.rank_cpus = 16;
    free.totals.kept_off_s = 0.3;
    CHECK(is_unknown(advise({free}), "what binding would gain"));
}

TEST_CASE("three runs of time = serial + work / cores give that model, and the best shape within a factor of two")
{
    const Counsel c = advise({scaled(1, 1, 0.1, 8), scaled(2, 1, 0.1, 8), scaled(2, 2, 0.1, 8)});
    REQUIRE(c.model);
    CHECK(c.model->elapsed_s(4, 2) == Approx(0.1 + 1).epsilon(1e-6));
    REQUIRE(c.model->error);
    CHECK(*c.model->error == Approx(0.03)); // of the runs themselves; the model has none here
    REQUIRE(c.advice.size() == 2);
    CHECK(c.advice[0].measured); // the third is the fastest of those measured
    CHECK(c.advice[0].gain.expected == Approx(8.1 / 2.1));
    CHECK(c.advice[1].what == "Start 4 ranks x 4 threads");
    CHECK(c.advice[1].run == 2);
    CHECK(c.advice[1].gain.expected == Approx(2.1 / 0.6));
    CHECK(c.advice[1].gain.low == Approx(2.1 / 0.6 / 1.06)); // beyond what was measured, the error counts twice
    CHECK(c.advice[1].commands[0] ==
          "OMP_NUM_THREADS=4 mpirun -workshare -bind-to core:4 -n 4 /home/me/app");
}

TEST_CASE("a run is no measure of the error if the others cannot tell its time: of 2 x 2, 4 x 2 and 2 x 4, the first")
{
    const Counsel c = advise({scaled(2, 2, 0, 20), scaled(4, 2, 0, 20), scaled(2, 4, 0, 20)});
    REQUIRE(c.model);
    REQUIRE(c.model->error);
    CHECK(*c.model->error == Approx(0.03));
    CHECK(c.advice.back().what == "Start 4 ranks x 4 threads");
    CHECK(c.advice.back().gain.expected == Approx(2));
    // One of the other two takes longer than in proportion: the model does not explain that.
    const Counsel d = advise({scaled(2, 2, 0, 20), scaled(4, 2, 0, 20), scaled(2, 4, 0, 28)});
    CHECK(*d.model->error > 0.15);
}

TEST_CASE("no more threads than CPUs, and nothing that is serial, is advised")
{
    std::vector<Report> runs = {scaled(1, 1, 0.1, 8), scaled(2, 1, 0.1, 8), scaled(2, 2, 0.1, 8)};
    for (Report& r : runs)
        r.conditions.cpus = 4;
    const Counsel full = advise(runs);
    for (const Advice& a : full.advice)
        CHECK(a.measured);
    const Counsel serial = advise({scaled(1, 1, 5, 0.01), scaled(2, 1, 5, 0.01), scaled(2, 2, 5, 0.01)});
    CHECK(serial.advice.empty());
}

TEST_CASE("runs that the model does not explain give a large error, and no advice beyond them")
{
    const Counsel c = advise({scaled(1, 1, 0, 8), scaled(2, 1, 0, 12), scaled(4, 1, 0, 8)});
    REQUIRE(c.model);
    CHECK(*c.model->error > 0.2);
    for (const Advice& a : c.advice)
        CHECK(a.measured);
}

TEST_CASE("two runs tell which is faster, and that a third is needed for more")
{
    const Counsel c = advise({scaled(1, 1, 0.1, 8), scaled(2, 1, 0.1, 8)});
    REQUIRE(c.advice.size() == 1);
    CHECK(c.advice[0].measured);
    CHECK(c.advice[0].gain.expected == Approx(8.1 / 4.1));
    REQUIRE(c.model);
    CHECK_FALSE(c.model->error);
    CHECK(is_unknown(c, "a third gives it"));
    // the same job twice: what differs is noise
    const Counsel same = advise({scaled(2, 1, 0.1, 8), scaled(2, 1, 0.1, 7.9)});
    CHECK(same.advice.empty());
    CHECK_FALSE(same.model);
}

TEST_CASE("the faster of two modes is advised")
{
    Report off = with_regions(run_of({3, 1}, 10), 10), share = run_of({2.1, 2.1});
    share.conditions.openmp = "share";
    share.totals.iterations_stolen = 100;
    share.speedup = 1.5;
    const Counsel c = advise({off, share});
    REQUIRE(advice_of(c, "mode"));
    CHECK(advice_of(c, "mode")->measured);
    CHECK(advice_of(c, "mode")->gain.expected == Approx(3 / 2.1));
    CHECK(advice_of(c, "mode")->commands[0].find("-workshare-openmp=share") != std::string::npos);
}

TEST_CASE("ranks are assigned to nodes by loads that last, and not by those that change")
{
    Report lasting = run_of({4, 4, 1, 1}, 1, 2); // the busiest node has 8 of 10 s
    lasting.totals.iterations_stolen = 1;        // each node is balanced inside
    const Counsel c = advise({lasting});
    REQUIRE(advice_of(c, "reorder"));
    CHECK(advice_of(c, "reorder")->gain.expected == Approx(4 / (4 - (8 - 5) / 2.0)));
    Report changing = lasting;
    for (RankRow& r : changing.rank) // others were busy in the first half
        for (size_t s = 0; s < r.over_time.size() / 2; s++)
            r.over_time[s].computing = r.rank % 2 == 0 ? 1 : 0.25;
    CHECK_FALSE(advice_of(advise({changing}), "reorder"));
    Report plain = lasting;
    plain.totals.iterations_stolen = 0;
    CHECK_FALSE(advice_of(advise({plain}), "reorder"));
    CHECK(is_unknown(advise({plain}), "share first"));
}

TEST_CASE("runs of two programs, and reports without conditions, are refused")
{
    Report a = run_of({3, 1}), b = a;
    b.program = "/home/me/other";
    CHECK_THROWS_WITH(advise({a, b}), "the runs are of different programs: app and other");
    b.program = "/elsewhere/app";
    CHECK_NOTHROW(advise({a, b}));
    CHECK(why_useless(a).empty());
    b.conditions = {};
    CHECK(why_useless(b).find("run the job again") != std::string::npos);
    CHECK_FALSE(why_useless(Report{}).empty());
}

TEST_CASE("words of commands are quoted for the shell")
{
    Report r = run_of({3, 1});
    r.conditions.arguments = {"--file", "a b", "it's", ""};
    CHECK(advise({r}).advice[0].commands.back() ==
          "mpirun -workshare -bind-to core -n 2 /home/me/app --file 'a b' 'it'\\''s' ''");
}

TEST_CASE("whatever the runs, no advice has a lower bound below a gain of 2 %, and bounds are in order")
{
    std::mt19937 random(7);
    const auto any = [&](double most) { return std::uniform_real_distribution<>(0, most)(random); };
    for (int turn = 0; turn < 3000; turn++) {
        std::vector<Report> runs;
        for (int i = 0; i <= turn % 3; i++) {
            std::vector<double> s(size_t(1 + any(6)));
            for (double& x : s)
                x = any(3);
            Report r = run_of(s, 1 + any(1e5), 1 + std::floor(any(4)));
            r.conditions.openmp_threads = 1 + std::floor(any(4));
            r.conditions.cpus = std::floor(any(20));
            r.conditions.rank_cpus = std::floor(any(4));
            r.totals.kept_off_s = any(0.2);
            if (any(1) < 0.5) {
                r.totals.openmp_regions = 1 + any(1e5);
                r.totals.openmp_regions_s = any(r.totals.computing_s);
                r.totals.openmp_tasks_s = any(r.totals.openmp_regions_s);
            }
            if (any(1) < 0.3) {
                r.totals.iterations_stolen = 1;
                r.speedup = 0.5 + any(2);
            }
            runs.push_back(r);
        }
        const Counsel c = advise(runs);
        for (const Advice& a : c.advice) {
            CHECK(a.gain.low >= least_gain);
            CHECK(a.gain.expected >= a.gain.low);
            CHECK(a.gain.high >= a.gain.expected);
            CHECK(std::isfinite(a.gain.high));
            CHECK((!a.commands.empty() || std::strcmp(a.kind, "reorder") == 0));
        }
    }
}
