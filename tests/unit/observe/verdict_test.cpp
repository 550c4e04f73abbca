// SPDX-License-Identifier: MIT
//
// The summary: the gain, or what held it back.
#include "observe/verdict.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

using namespace ws::observe;

namespace {

// Two ranks for a second; rank 0 waits half of it.
struct Job {
    Totals t = {};
    Facts f;

    Job()
    {
        t.ranks = 2;
        t.nodes = 1;
        t.wall = 1;
        t.idle = 0.5;
        t.computing = 1.5;
        t.loops = 1.4;
        t.regions = 100;
        t.regions_shared = 50;
        LoopFigures l = {"app.c:13:main", {}};
        l.counts.executions = 100;
        l.counts.executions_shared = 50;
        l.counts.computing_s = l.counts.cut_s = 1;
        l.counts.executions_cut = 100;
        l.counts.iterations_kept = 100000;
        l.counts.longest_chunk_s = 30e-6;
        f.loops = {l};
        f.calls = {{"MPI_Allreduce", {10, 0.5, 10, 0.5, 0}}};
    }
    Job& lost(Refusal why, double seconds)
    {
        t.refused[unsigned(why)] = seconds;
        return *this;
    }
    Job& stole(double seconds)
    {
        t.stolen = t.stolen_home = t.lent = f.loops[0].counts.borrowed_s = seconds;
        t.iterations_stolen = t.chunks_stolen = t.lends = f.loops[0].counts.iterations_stolen = 7;
        return *this;
    }
    Job& runs_whole(double runs)
    {
        LoopCounts& c = f.loops[0].counts;
        c.executions = runs;
        c.executions_cut = c.cut_s = 0;
        return *this;
    }
    std::string line() const { return judge(t, f).line(); }
    std::string hint() const
    {
        const std::string last = judge(t, f).lines.back();
        return last.rfind("hint: ", 0) == 0 ? last.substr(6) : "";
    }
};

bool has(const std::string& text, const std::string& part)
{
    INFO(text);
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
    return text.find('\n') == std::string::npos;
}

} // namespace

TEST_CASE("a good gain: how much, from where, and what it bought")
{
    Job j;
    j.stole(0.48).f.lag = 0.48;
    const Verdict v = judge(j.t, j.f);
    CHECK(v.text() ==
          "workshare: about 1.48 times as fast as without sharing (2 ranks on 1 node, 1.000 s)\n"
          "workshare: ranks waited in MPI 25.0 % of the time; helpers used 96 % of that (7 chunks, 0.480 s)\n"
          "workshare: most helped: app.c:13:main\n");
    CHECK(v.line() == "workshare: about 1.48 times as fast as without sharing (2 ranks on 1 node, 1.000 s); "
                      "ranks waited in MPI 25.0 % of the time; helpers used 96 % of that (7 chunks, 0.480 s); "
                      "most helped: app.c:13:main");
    CHECK(v.reason.empty());
    CHECK(v.rest.empty());
    CHECK(v.speedup == Approx(1.48));
}

TEST_CASE("no gain to speak of is not given as a ratio")
{
    Job j;
    j.stole(0.45).f.lag = 0.005;
    CHECK(j.line().find("times as fast") == std::string::npos);
    CHECK(has(j.line(), "workshare: loops were shared (2 ranks on 1 node, 1.000 s); "));
}

TEST_CASE("a middling gain names the largest cause of the rest")
{
    Job j;
    j.stole(0.2).f.lag = 0.2;
    SECTION("serial code")
    {
        j.lost(Refusal::nothing_shared, 0.28).lost(Refusal::too_little, 0.02);
        j.f.outside = 0.3;
        j.f.serial = {1, 0.3, 0.9};
        CHECK(
            has(j.line(),
                "; most helped: app.c:13:main; not more, because 56 % of the waiting passed while no shared loop ran: "
                "rank 1 computed 300 ms of 900 ms outside of ws loops while others waited, mostly in "
                "MPI_Allreduce"));
        CHECK_FALSE(judge(j.t, j.f).rest.empty());
    }
    SECTION("short loops")
    {
        j.lost(Refusal::nothing_shared, 0.3).f.unshared = 0.3;
        j.runs_whole(1e6);
        CHECK(has(j.line(),
                  "app.c:13:main was too short to share (1 us per execution; a sleeping rank is woken for 100 us or "
                  "more)"));
    }
    SECTION("loops that are long enough")
    {
        j.lost(Refusal::nothing_shared, 0.3).f.unshared = 0.3;
        CHECK(has(j.line(), "app.c:13:main was not shared: no rank waited when its executions began (12 ms each)"));
    }
    SECTION("noise")
    {
        j.lost(Refusal::nothing_shared, 0.3).f.unshared = 0.3;
        j.f.others = {0.4, 1, 2};
        j.t.kept_off = 0.2;
        CHECK(has(j.line(), "executions began"));
        j.t.kept_off = 0.3;
        CHECK(has(j.line(), "not more, because ranks waited for ranks whose CPU other programs used (40 % of CPU 1)"));
        CHECK(j.hint() == "measure on a quiet machine");
        j.t.crowded = 2; // they keep each other off
        CHECK(j.line().find("ranks whose CPU") == std::string::npos);
    }
    SECTION("sharing did not pay")
    {
        j.lost(Refusal::nothing_shared, 0.3).f.unshared = 0.3;
        j.f.loops[0].counts.executions_unpaid = 90;
        CHECK(has(j.line(), "sharing app.c:13:main did not pay"));
    }
    SECTION("a long iteration")
    {
        j.lost(Refusal::nothing_shared, 0.15).lost(Refusal::too_little, 0.15);
        j.f.loops[0].counts.longest_chunk_s = 9e-3;
        j.f.loops[0].counts.iterations_kept = 1600;
        CHECK(has(j.line(),
                  "60 % of the waiting was at the ends of shared loops: a chunk of app.c:13:main took up to "
                  "9 ms of 12 ms per execution, which has 16 iterations; its iterations are too long or too few"));
        j.f.loops[0].counts.iterations_kept = 2e6;
        CHECK(has(j.line(),
                  "9 ms of 12 ms per execution, which has 20000 iterations; one iteration or a chosen chunk is too "
                  "long, or its thread had no CPU"));
        j.f.loops[0].counts.executions_with_tasks = 90;
        CHECK(has(j.line(),
                  "60 % of the waiting was at the ends of shared loops: app.c:13:main runs OpenMP tasks, which "
                  "sharing does not divide"));
        CHECK(j.hint() == "-workshare-openmp=lend gives its threads the cores of waiting ranks");
        j.f.loops[0].counts.executions_with_tasks = 0;
        j.f.loops[0].counts.executions = 1000; // one was disturbed: in each they would have come to 9 s
        CHECK(has(j.line(), "60 % of the waiting was at the ends of shared loops, when a hand-over takes longer"));
    }
    SECTION("short ends")
    {
        j.lost(Refusal::too_little, 0.25).lost(Refusal::lost_race, 0.05);
        CHECK(has(j.line(), "when a hand-over takes longer than the work that is left"));
    }
    SECTION("communication")
    {
        j.lost(Refusal::all_wait, 0.3);
        CHECK(has(
            j.line(),
            "60 % of the waiting was for communication, while no rank of the node computed, mostly in MPI_Allreduce"));
    }
    SECTION("hand-overs")
    {
        j.t.lent = 0.45;
        j.lost(Refusal::too_little, 0.05);
        CHECK(has(j.line(), "50 % of the waiting was spent on handing cores over and back, 7 times"));
    }
    SECTION("cores taken")
    {
        j.lost(Refusal::core_taken, 0.3);
        CHECK(has(j.line(), "no core was free: there are more ranks than cores"));
    }
    SECTION("guests")
    {
        j.lost(Refusal::no_guest, 0.3);
        CHECK(has(j.line(), "the loops ended before each waiting rank had a helper thread"));
        j.t.guests_refused = 1;
        CHECK(has(j.line(), "the system refused helper threads"));
        CHECK(has(j.hint(), "raise the limit on threads"));
    }
    SECTION("cpusets")
    {
        j.lost(Refusal::barred, 0.3);
        CHECK(has(j.line(), "may not use each other's cores"));
        CHECK(has(j.hint(), "one cpuset"));
    }
}

TEST_CASE("nothing stolen: the most basic cause")
{
    Job j;
    const std::string head = "workshare: no rank helped another (2 ranks on 1 node, 1.000 s); "
                             "ranks waited in MPI 25.0 % of the time; ";
    SECTION("one rank")
    {
        j.t.ranks = 1;
        CHECK(has(j.line(), "of the time; there is one rank"));
        CHECK(j.hint().empty());
        j.f.jobs_of_one = 4;
        CHECK(has(j.line(),
                  "one rank: srun started 4 jobs of one rank each; hint: srun --mpi=pmi2 makes one job of them"));
        j.f.is_open_mpi = true;
        CHECK(has(j.line(), "hint: srun --mpi=pmix makes one job of them"));
        j.f.pmi = true;
        CHECK(has(j.line(), "one rank: the mpirun of another MPI started 4 jobs of one rank each; hint: Open MPI's "
                            "mpirun makes one job of them"));
        j.f.is_open_mpi = j.f.pmi = false;
        j.f.pmix = true;
        CHECK(has(j.line(),
                  "one rank: srun --mpi=pmix started 4 jobs of one rank each, because this MPI does not know PMIx; "
                  "hint: srun --mpi=pmi2"));
        j.f.jobs_of_one = unknown_jobs;
        CHECK(has(j.line(), "one rank: each process is a job of its own, because PMIx started it"));
        j.t.workers = 1;
        j.t.iterations_stolen = 100;
        CHECK(has(j.line(), "; each process is a job of its own"));
        CHECK(has(j.hint(), "srun --mpi=pmi2, or this MPI's mpirun"));
    }
    SECTION("alone on its node")
    {
        j.t.alone_on_node = 2;
        CHECK(has(j.line(), head + "every rank is alone on its node"));
    }
    SECTION("no loop")
    {
        j.t.regions = 0;
        CHECK(has(j.line(), "times as fast (2 ranks on 1 node, 1.000 s); ranks waited in MPI 25.0 % of the time; no ws "
                            "loop ran"));
        j.t.regions_off = 1;
        CHECK(has(j.line(), head + "its ws loops ran on other threads"));
    }
    SECTION("no waiting")
    {
        j.t.idle = 0.001;
        CHECK(has(j.line(), "of the time; no rank had to wait"));
        j.t.polls = 1e6;
        CHECK(has(j.line(), "of the time; no rank waited in a call that blocks, but ranks polled (MPI_Test"));
        CHECK(has(j.hint(), "-workshare-poll"));
        j.t.idle = 0.01; // the ends of the run
        j.t.regions_shared = 0;
        CHECK(has(j.line(), "but ranks polled (MPI_Test"));
    }
    SECTION("no threads")
    {
        j.t.guests_refused = 1;
        CHECK(has(j.line(), head + "the system refused helper threads"));
    }
    SECTION("no cores")
    {
        j.t.refusals = 3;
        j.lost(Refusal::core_taken, 0.3);
        CHECK(has(j.line(), head + "no core was free"));
        j.lost(Refusal::core_taken, 0.01).lost(Refusal::all_wait, 0.45); // refused now and then, and communication
        CHECK(has(j.line(), head + "90 % of the waiting was for communication"));
        j.lost(Refusal::all_wait, 0.05).lost(Refusal::core_taken, 0.15).lost(Refusal::nothing_shared, 0.3);
        CHECK(has(j.line(), head + "60 % of the waiting was at the ends of shared loops"));
        j.t.crowded = 2; // they share a CPU: none of them can have another's
        CHECK(has(j.line(), head + "no core was free: there are more ranks than cores"));
    }
    SECTION("unpaid")
    {
        j.f.loops[0].counts.executions_unpaid = 60;
        CHECK(has(j.line(), head + "sharing its loops did not pay"));
        j.f.loops[0].counts.executions_with_tasks = 90;
        CHECK(has(j.line(), head + "app.c:13:main runs OpenMP tasks, which sharing does not divide"));
        j.f.loops[0].counts.executions_with_tasks = 10; // they are not what its time goes into
        CHECK(has(j.line(), head + "sharing its loops did not pay"));
        j.lost(Refusal::all_wait, 0.5);
        LoopFigures other = j.f.loops[0]; // where most of the time was spent, in few executions
        other.counts.computing_s = other.counts.cut_s = 5;
        other.counts.executions = other.counts.executions_cut = 20;
        other.counts.executions_unpaid = 0;
        j.f.loops.push_back(other);
        CHECK(has(j.line(), head + "100 % of the waiting was for communication"));
    }
    SECTION("short")
    {
        j.t.regions_shared = 0;
        j.runs_whole(1e6);
        CHECK(has(j.line(), head + "app.c:13:main was too short to share (1 us per execution"));
        j.lost(Refusal::core_taken, 0.3);
        CHECK(has(j.line(), head + "no core was free: there are more ranks than cores"));
    }
    SECTION("not short")
    {
        j.t.regions_shared = 0;
        j.f.loops[0].counts.executions = j.f.loops[0].counts.executions_cut = 146; // 6.85 ms
        CHECK(has(j.line(), head + "app.c:13:main was not shared: no rank waited when its executions began (6.85 ms"));
        j.f.loops[0].counts.executions_with_tasks = 140;
        CHECK(has(j.line(), head + "app.c:13:main runs OpenMP tasks, which sharing does not divide"));
    }
    SECTION("not short, among many that are")
    {
        j.t.regions_shared = 0;
        j.f.loops[0].counts.computing_s = 1.4; // of it 1 s in 100
        j.f.loops[0].counts.executions = 100000;
        CHECK(has(j.line(), head + "app.c:13:main was not shared: no rank waited when its executions began (10 ms"));
        j.f.loops[0].counts.computing_s = 2.4;
        CHECK(has(j.line(), head + "app.c:13:main was too short to share (14 us"));
    }
    SECTION("short, where others have the CPUs")
    {
        j.t.regions_shared = 0;
        j.t.loops = 0.2; // of what it computed for; the rest of the time it had no CPU
        j.lost(Refusal::nothing_shared, 0.5).f.outside = 0.1;
        j.runs_whole(1e6);
        const std::string reason = "app.c:13:main was too short to share (1 us per execution; a sleeping rank is woken "
                                   "for 100 us or more)";
        CHECK_FALSE(judge(j.t, j.f).reason == reason);
        j.t.kept_off = 1.2;
        CHECK(judge(j.t, j.f).reason == reason);
        CHECK(
            has(j.line(),
                reason +
                    "; note: ranks had no CPU for 80 % of the time in which they computed, so the cause is uncertain"));
        j.t.kept_off = 0.1;
        j.t.loops = 1.4;
        CHECK(j.line().find("no CPU") == std::string::npos);
    }
    SECTION("serial code, and a little loop")
    {
        j.t.regions_shared = 0;
        j.t.loops = 0.01;
        j.f.outside = 0.5;
        j.lost(Refusal::nothing_shared, 0.5).f.serial = {1, 0.99, 1};
        CHECK(
            has(j.line(),
                head + "100 % of the waiting passed while no shared loop ran: rank 1 computed 990 ms of 1 s outside"));
    }
    SECTION("inactive")
    {
        j.t.inactive = 2;
        j.f.why_inactive = "because";
        CHECK(has(j.line(), "no rank helped another (2 ranks on 1 node, 1.000 s); because"));
        j.stole(0.3).t.inactive = 1;
        CHECK(has(j.line(), "; 1 rank ran without sharing: because"));
    }
}

TEST_CASE("a run to compare with")
{
    Job j;
    j.f.helps_nobody = true;
    CHECK(has(j.line(), "of the time; -workshare-victim none lets no rank help another"));
    j.stole(0.3); // by workers, for their own rank
    j.t.stolen_home = 0;
    CHECK(has(j.line(), "not more, because -workshare-victim none lets no rank help another"));
}

TEST_CASE("who else used the CPUs")
{
    Job j;
    j.t.lends = 0;
    j.lost(Refusal::core_taken, 0.3);
    CHECK(has(j.line(), "no core was free: there are more ranks than cores"));
    j.f.other_jobs = true;
    CHECK(has(j.line(), "no core was free: other jobs of yours computed on them"));
    j.t.crowded = 2;
    CHECK(has(j.line(), "there are more ranks than cores"));
    j = {};
    const size_t length = j.line().size();
    j.f.others = {0.09, 1, 2};
    CHECK(j.line().size() == length);
    j.f.others = {0.4, 1, 2};
    CHECK(has(j.line(), "; note: other programs used 40 % of CPU 1"));
    j.f.others = {0.25, -1, 2};
    CHECK(has(j.line(), "; note: other programs used 25 % of the 2 CPUs"));
    j.stole(0.3);
    CHECK(has(j.line(), "; note: other programs used 25 % of the 2 CPUs"));
}

TEST_CASE("what stealing won is said with how far others' use of the CPUs may make it wrong, if that is far")
{
    Job j;
    j.stole(0.48).f.lag = 0.48;
    const double time = j.t.wall * j.t.ranks;
    const std::string said = "times as fast as without sharing";
    j.t.kept_off = 0.04 * time;
    j.f.virtual_threads = 8;
    CHECK(has(j.line(), "times as fast as its 8 OpenMP threads without help"));
    j.f.virtual_threads = 0;
    CHECK(has(j.line(), said));
    CHECK(j.line().find("give or take") == std::string::npos);
    j.t.kept_off = 0.114 * time;
    CHECK(has(j.line(), said + ", give or take 12 % (2 ranks on 1 node, 1.000 s); "));
    CHECK(has(j.line(), "; note: the gain is uncertain, because ranks had no CPU for 12 % of the time"));
    j.t.crowded = 2; // they keep each other off
    CHECK(j.line().find("give or take") == std::string::npos);
    CHECK(j.line().find("uncertain") == std::string::npos);
}

TEST_CASE("a program without ws loops is told what they could win at most")
{
    Job j;
    j.t.regions = j.t.regions_shared = j.t.loops = 0;
    j.f.loops.clear();
    const std::string tail = " (2 ranks on 1 node, 1.000 s); ranks waited in MPI 25.0 % of the time; "
                             "no ws loop ran (compiled without -fws?)";
    // 1.5 s of computing on 2 cores: 0.75 s at best.
    CHECK(has(j.line(), "workshare: sharing loops could make this up to 1.33 times as fast" + tail));
    CHECK(j.line().find("noise") == std::string::npos);
    j.lost(Refusal::all_wait, 0.25); // 0.125 s in which nobody computes stay
    CHECK(has(j.line(), "up to 1.14 times as fast"));
    j.lost(Refusal::all_wait, 0.49);
    CHECK(
        has(j.line(),
            "workshare: sharing loops would gain nothing: while ranks waited, no other of their node computed" + tail));
    j.t.idle = 0.01;
    j.lost(Refusal::all_wait, 0);
    CHECK(has(j.line(), "workshare: sharing loops would gain next to nothing ("));
}

TEST_CASE("of a program without ws loops on a disturbed machine what may be noise is called so")
{
    Job j;
    j.t.regions = j.t.regions_shared = 0;
    j.t.kept_off = 0.2;
    CHECK(has(j.line(), "up to 1.33 times as fast, if that is not noise"));
    j.t.kept_off = 0.4;
    CHECK(has(j.line(), "note: ranks had no CPU for 27 % of the time in which they computed"));
    j.t.kept_off = 0.01;
    CHECK(j.line().find("noise") == std::string::npos);
}

TEST_CASE("where ranks share cores nothing is said of what could be won, nor where a rank is alone, nor where loops "
          "were shared")
{
    Job j;
    j.t.regions = j.t.regions_shared = 0;
    j.t.crowded = 2;
    CHECK(has(j.line(), "how much sharing loops could gain is unknown, because there are more ranks than cores"));
    j.t.crowded = 0;
    j.t.alone_on_node = 2;
    CHECK(j.line().find("times as fast") == std::string::npos);
    Job shared;
    CHECK(shared.line().find("up to") == std::string::npos);
}

TEST_CASE("a sum of counts that 64 bits cannot hold is the most that they can")
{
    Job j;
    j.stole(0.48).t.iterations_stolen = 0x1p63 * 1.5;
    const auto json = [&] { return to_json(j.t, judge(j.t, j.f), j.f, "0"); };
    CHECK(json().find("\"iterations_stolen\":13835058055282163712") != std::string::npos);
    j.t.iterations_stolen = 0x1p65;
    CHECK(json().find("\"iterations_stolen\":18446744073709551615") != std::string::npos);
}

TEST_CASE("an OpenMP program whose regions are not shared is told what sharing them could gain")
{
    Job j;
    j.t.regions = j.t.regions_shared = 0;
    j.f.loops.clear();
    j.f.parallel_s = 1.4;
    CHECK(judge(j.t, j.f).text() ==
          "workshare: up to 1.33 times as fast with -workshare-openmp=share (2 ranks on 1 node, 1.000 s)\n"
          "workshare: ranks waited in MPI 25.0 % of the time; no parallel region was shared\n"
          "workshare: parallel regions computed for 1.4 s while ranks waited 500 ms\n");
    j.f.parallel_tasks_s = 1.4;
    CHECK(has(j.line(), "workshare: -workshare-openmp=share would gain next to nothing ("));
    CHECK(
        has(j.line(), "computed for 1.4 s, mostly in tasks, which sharing does not divide, while ranks waited 500 ms"));
}

TEST_CASE("no line of the summary has more than 100 columns, but for names that are longer")
{
    Job j;
    j.stole(0.2).f.lag = 0.2;
    j.t.kept_off = 0.4;
    j.f.others = {0.4, 1, 2};
    j.f.loops[0].name = "src/solver/multigrid.cpp:213:smooth<float>(Grid const&, Vector&, Vector const&)";
    j.lost(Refusal::too_little, 0.3).f.policies = {std::string(300, 'x'), "XMPI moved no rows"};
    const Verdict v = judge(j.t, j.f);
    std::istringstream text(v.text());
    std::string joined;
    unsigned longest = 0;
    for (std::string line; std::getline(text, line);) {
        REQUIRE(line.rfind("workshare: ", 0) == 0);
        const bool continues = line.rfind("workshare:   ", 0) == 0;
        joined += (joined.empty() ? "workshare: " : continues ? " " : "; ") + line.substr(continues ? 13 : 11);
        if (line.find(std::string(300, 'x')) == std::string::npos)
            longest = std::max(longest, unsigned(line.size()));
    }
    CHECK(joined == v.line());
    CHECK(v.text().find("give or take 20 % (2 ranks on 1 node,\nworkshare:   1.000 s)\n") != std::string::npos);
    CHECK(longest <= 100);
    CHECK(longest > 80);
}
