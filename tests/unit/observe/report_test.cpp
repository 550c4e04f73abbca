// SPDX-License-Identifier: MIT
//
// The report's arithmetic and formats, on made-up ranks.
#include "observe/report.h"
#include "observe/verdict.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <algorithm>
#include <cstring>
#include <regex>
#include <stdexcept>
#include <sys/mman.h>

using namespace ws::observe;
using namespace ws::base;

namespace {

// Rank 1 of a node had 3 s of work, rank 0 had 1 s: with stealing both compute 2 s and the job takes 2 s.
RankFigures half(int rank, int node = 0)
{
    RankFigures r = {};
    r.rank = 2 * node + rank;
    r.node = node;
    r.node_rank = rank;
    r.host = "host" + std::to_string(node);
    r.program = "/bin/half";
    r.started_unix_ns = 1700000000000000000;
    r.counts.wall_s = 2;
    if (rank == 0) {
        r.counts.computing_s = r.counts.mpi_s = r.counts.blocked_s = r.counts.lent_s = 1;
    } else {
        r.counts.computing_s = 2;
        r.counts.borrowed_s = 1;
        r.borrowed_on[0] = 1;
        r.counts.iterations_stolen = 100;
    }
    r.lag_s = 1;
    r.counts.iterations_kept = 200;
    r.counts.steal_latency.counts[11] = 3;
    r.loops.push_back({"a.c:1:main", {}});
    r.loops.back().counts.executions = 2;
    r.loops.back().counts.longest_chunk_s = 0.25 * (1 + rank);
    r.calls.push_back({"MPI_Barrier", {2, 0.5, 1, 0.25, 0.125}});
    r.phases.push_back({"",
                        no_parent,
                        1,
                        {1, 2, r.counts.mpi_s, r.counts.blocked_s, r.counts.lent_s, r.counts.borrowed_s, 0, 1,
                         r.counts.computing_s, 0, 0, 0, 0, 0, 0, 0, {}, {}, {}}});
    return r;
}

Report half_report(int nodes = 1)
{
    ReportBuilder b;
    for (int n = nodes; n-- > 0;) // any order
        for (int r : {1, 0})
            b.add(half(r, n));
    Report report = b.finish();
    report.workshare = "0.1.0";
    report.verdict = "workshare: a verdict";
    return report;
}

std::string error_of(const std::string& json)
{
    try {
        read_report(json);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("quantiles of a histogram are true to its buckets")
{
    Histogram h = {};
    CHECK(h.total() == 0);
    CHECK(h.quantile(0.5) == 0);
    CHECK(h.longest() == 0);
    h.counts[10] = 90; // 1024 to 2047 ns
    h.counts[20] = 10; // about a millisecond
    CHECK(h.quantile(0.5) >= 1024e-9);
    CHECK(h.quantile(0.5) <= 2048e-9);
    CHECK(h.quantile(0.9) == Approx(2048e-9));
    CHECK(h.quantile(0.95) >= 1048e-6);
    CHECK(h.quantile(0.95) <= 2098e-6);
    CHECK(h.quantile(0.1) < h.quantile(0.5));
    CHECK(h.longest() == Approx(2097152e-9));
}

TEST_CASE("parallel efficiency is load balance times communication efficiency")
{
    Efficiency e = efficiency(10, {{0, 8}, {0, 4}, {1, 2}, {1, 2}});
    CHECK(e.parallel == Approx(0.4));
    CHECK(e.load_balance == Approx(0.5));
    CHECK(e.load_balance_inside == Approx(0.75));
    CHECK(e.load_balance_between == Approx(16. / 24));
    CHECK(e.communication == Approx(0.8));
    CHECK(e.parallel == Approx(e.load_balance * e.communication));
    CHECK(e.load_balance == Approx(e.load_balance_inside * e.load_balance_between));
}

TEST_CASE("efficiencies of nothing are no division by zero")
{
    for (const Efficiency& e : {efficiency(0, {}), efficiency(1, {{0, 0}, {0, 0}}), efficiency(0, {{0, 0}})}) {
        CHECK(e.parallel >= 0);
        CHECK(e.parallel <= 1);
        CHECK(e.load_balance <= 1);
    }
    CHECK(ReportBuilder().finish().ranks == 0);
}

TEST_CASE("a report of nothing has empty lists")
{
    const auto j = nlohmann::json::parse(report_json(ReportBuilder().finish()));
    for (const char* list : {"by_node", "by_rank", "by_loop", "by_call", "by_phase"})
        CHECK(j[list] == nlohmann::json::array());
}

TEST_CASE("what was computed on a lent core is the lender's help, and the owner's without stealing")
{
    const Report r = half_report();
    CHECK(r.ranks == 2);
    CHECK(r.elapsed_s == 2);
    CHECK(r.rank[0].rank == 0);
    CHECK(r.rank[0].counts.helped_s == 1);
    CHECK(r.rank[1].counts.helped_s == 0);
    CHECK(r.as_is.parallel == Approx(1));
    CHECK(r.without_stealing.elapsed_s == Approx(3));
    CHECK(r.without_stealing.parallel == Approx(4. / 6));
    CHECK(r.without_stealing.load_balance == Approx(4. / 6));
    CHECK(r.without_stealing.communication == Approx(1));
    CHECK(r.speedup == Approx(1.5));
    CHECK(r.phases.at(0).own.as_is.parallel == Approx(1));
    CHECK(r.phases.at(0).whole.without_stealing.parallel == Approx(4. / 6));
    CHECK(r.phases.at(0).own.cores == Approx(2)); // 1 s and 2 s of their own and 1 s borrowed, in 2 s
}

TEST_CASE("500 workers on 2 CPUs: the gain is that of 2, in verdict, report and JSON")
{
    // By the clock each of them was busy for the whole second, but it shared the CPUs with all others.
    Board* const board = make_board(501, 500);
    REQUIRE(board);
    Board& b = *board;
    b.size = 1;
    b.ticks_per_us = 1000;
    b.first_worker = 1;
    b.node_cpus = 2;
    b.seat(0).kind = Flag(SeatKind::home);
    for (unsigned w = 1; w <= 500; w++) {
        b.seat(w).kind = Flag(SeatKind::worker);
        b.seat(w).core = w;
        b.seat(w).visit.borrowed_ticks = 900000000;
    }
    b.lag_ticks = 160000000000;
    b.phases_made = 1;
    b.phase_row(0).parent = no_parent;
    b.phase_row(0).level = 1;
    b.phase_row(0).entered = 1;
    b.phase_row(0).wall_ticks = 1000000000;
    b.phase_row(0).borrowed_ticks = 450000000000;
    b.phase_row(0).lag_ticks = 160000000000;

    auto figures = [&] { return rank_figures(b, 1000000000, 1000, ""); };
    CHECK(figures().lag_s == Approx(1));
    ReportBuilder builder;
    builder.add(figures());
    const Report r = builder.finish();
    CHECK(r.speedup == Approx(2));
    CHECK(r.without_stealing.elapsed_s == Approx(2));
    CHECK(r.without_stealing.communication == Approx(1));
    CHECK(r.as_is.parallel == Approx(451. / 501));
    REQUIRE(r.phases.size() == 1);
    CHECK(r.phases[0].own.without_stealing.elapsed_s == Approx(2));
    CHECK(r.phases[0].own.without_stealing.communication == Approx(1));
    const auto json = nlohmann::json::parse(report_json(r));
    CHECK(json.at("without_stealing").at("speedup") == 2);
    CHECK(report_text(r).find("about 2.00 times as fast") != std::string::npos);

    Totals t = {};
    t.ranks = t.nodes = t.wall = 1;
    t.workers = 500;
    t.stolen = 450;
    t.iterations_stolen = t.chunks_stolen = 1000;
    Facts f;
    f.lag = figures().lag_s;
    const Verdict v = judge(t, f);
    CHECK(v.speedup == Approx(2));
    CHECK(v.line().find("about 2.00 times as fast") != std::string::npos);
    CHECK(nlohmann::json::parse(to_json(t, v, f, "1"))["speedup"] == 2);

    b.node_cpus = 0; // not known
    CHECK(figures().lag_s == Approx(160));
}

TEST_CASE("figures have each loop, and a row for those that found none")
{
    for (const unsigned loops : {0u, 1u, loop_rows - 1, loop_rows, loop_rows + 5}) {
        Board* const board = make_board(1, 0);
        REQUIRE(board);
        for (unsigned i = 0; i < loops; i++)
            add(new_loop_row(*board, ("a.c:" + std::to_string(i)).c_str()).whole_executions, 1);
        const RankFigures r = rank_figures(*board, 1, 1, "");
        CHECK(r.loops.size() == std::min(loops, loop_rows));
        double executions = 0;
        for (const auto& l : r.loops)
            executions += l.counts.executions;
        CHECK(executions == loops);
        munmap(board, board->bytes);
    }
}

TEST_CASE("a rank's workers are cores of their own")
{
    RankFigures r = half(1);
    r.node_rank = 0;
    r.rank = 0;
    r.workers = 1;
    r.first_worker = 1;
    r.borrowed_on = {{1u, 1.}};
    r.counts.borrowed_workers_s = 1;
    ReportBuilder b;
    b.add(std::move(r));
    const Report report = b.finish();
    CHECK(report.cores == 2);
    CHECK(report.as_is.parallel == Approx(0.75)); // 2 s and 1 s of 2 s each
    CHECK(report.rank[0].counts.helped_s == 0);
    CHECK(report.totals.worker_helped_s == 0);
    CHECK(report.phases.at(0).own.as_is.parallel == Approx(0.75));
    CHECK(report.phases.at(0).own.as_is.communication == Approx(1));
}

TEST_CASE("loops, calls and histograms add up; a longest chunk does not")
{
    const Report r = half_report(2);
    CHECK(r.nodes == 2);
    CHECK(r.loops.size() == 1);
    CHECK(r.loops[0].counts.executions == 8);
    CHECK(r.loops[0].counts.longest_chunk_s == 0.5);
    CHECK(r.calls.at(0).counts.calls == 8);
    CHECK(r.totals.steal_latency.total() == 12);
    CHECK(r.node[1].host == "host1");
    CHECK(r.node[1].counts.iterations_stolen == 100);
    CHECK(r.totals.iterations_kept + r.totals.iterations_stolen == 1000);
}

TEST_CASE("figures arrive at rank 0 as they left")
{
    const RankFigures a = half(1), b = unpack_rank(pack(a));
    CHECK(pack(b) == pack(a));
    CHECK(b.host == a.host);
    CHECK(b.loops.at(0).name == "a.c:1:main");
    CHECK(b.borrowed_on.at(0) == 1);
    CHECK(b.phases.at(0).counts.wall_s == 2);
    CHECK(b.phases.at(0).parent == no_parent);
}

TEST_CASE("a report read from its JSON is the same report")
{
    for (int nodes : {1, 2, 20}) {
        const Report r = half_report(nodes);
        const std::string json = report_json(r);
        const Report again = read_report(json);
        CHECK(report_json(again) == json);
        CHECK(report_text(again) == report_text(r));
        CHECK(report_csv(again) == report_csv(r));
    }
}

TEST_CASE("names that are not UTF-8 do not spoil the JSON, nor control characters the terminal")
{
    ReportBuilder b;
    RankFigures r = half(0);
    r.loops[0].name = "caf\xe9\x1b[31m.c:1:main";
    b.add(std::move(r));
    const Report report = b.finish();
    CHECK_NOTHROW(read_report(report_json(report)));
    CHECK(report_text(report).find('\x1b') == std::string::npos);
}

TEST_CASE("a name stays one cell of the CSV")
{
    ReportBuilder b;
    RankFigures r = half(0);
    r.loops[0].name = "a, \"b\"\nc";
    b.add(std::move(r));
    const std::string csv = report_csv(b.finish());
    CHECK(csv.find(",\"a, \"\"b\"\"\nc\",") != std::string::npos);
    CHECK(csv.compare(0, 46, "node,rank,loop,call,phase,metric,value,unit\n,,") == 0);
}

TEST_CASE("what is no report is refused with what is wrong")
{
    const std::string good = report_json(half_report());
    CHECK(error_of("").find("empty") != std::string::npos);
    CHECK(error_of(good.substr(0, good.size() / 2)).find("ends too early") != std::string::npos);
    CHECK(error_of("workshare: 2 ranks").find("not JSON, at byte 1") != std::string::npos);
    CHECK(error_of("{}").find("not a report of Workshare") != std::string::npos);
    CHECK(error_of("[1]").find("not a report of Workshare") != std::string::npos);
    CHECK(error_of("{\"schema\": \"talp/1\"}").find("its schema is talp/1") != std::string::npos);
    CHECK(error_of("{\"schema\": \"workshare-report/3\"}").find("newer version") != std::string::npos);
    CHECK(error_of("{\"schema\": \"workshare-report/2\"}") == "there is no workshare");
    CHECK(error_of("{\"schema\": \"workshare-report/1\"}") == "there is no workshare");
    auto changed = [&](const std::string& from, const std::string& to) {
        std::string s = good;
        const size_t at = s.find(from);
        REQUIRE(at != std::string::npos);
        return s.replace(at, from.size(), to);
    };
    CHECK(error_of(changed("\"wall_s\"", "\"wall\"")) == "there is no totals.wall_s");
    CHECK(error_of(changed("\"elapsed_s\": 2.0", "\"elapsed_s\": \"2\"")) == "elapsed_s is not a number");
    CHECK(error_of(changed("\"by_rank\": [", "\"by_rank\": 3, \"x\": [")) == "by_rank is not a list");
    CHECK(error_of(changed("\"to_ns\": 4096", "\"to_ns\": 4095")).find("to_ns is not a bound of a bucket") !=
          std::string::npos);
    CHECK(error_of(changed("\"program\"", "\"later\": [1], \"program\"")).empty()); // fields only grow
}

TEST_CASE("many ranks are summarised, with the extremes named")
{
    ReportBuilder b;
    for (int n = 0; n < 256; n++)
        for (int r : {0, 1}) {
            RankFigures f = half(r, n);
            if (f.rank == 77)
                f.counts.computing_s = 9;
            b.add(std::move(f));
        }
    const Report report = b.finish();
    const std::string text = report_text(report);
    CHECK(std::count(text.begin(), text.end(), '\n') < 80);
    CHECK(text.find("9.00 s    77") != std::string::npos);
    CHECK(report.rank.size() == 512);
    CHECK_FALSE(report.rank_loops_omitted);
}

TEST_CASE("with very many loops of ranks a report holds those of the job alone")
{
    ReportBuilder b;
    for (int rank = 0; rank < 70; rank++) {
        RankFigures r = half(0);
        r.rank = rank;
        for (int i = 0; i < 1000; i++)
            r.loops.push_back({"loop " + std::to_string(i), {}});
        b.add(std::move(r));
    }
    const Report report = b.finish();
    CHECK(report.rank_loops_omitted);
    CHECK(report.loops.size() == 1001);
    for (const RankRow& r : report.rank)
        CHECK(r.loops.empty());
    CHECK(read_report(report_json(report)).rank_loops_omitted);
}

TEST_CASE("the text fits 100 columns, but for names")
{
    for (int nodes : {1, 2, 20}) {
        Report r = half_report(nodes);
        r.phases.push_back(r.phases[0]);
        r.phases[1].path = {"x"};
        for (double& s : r.phases[1].whole.counts.refused_s)
            s = 1;
        const std::string text = report_text(r);
        for (size_t at = 0, end; at < text.size(); at = end + 1) {
            end = text.find('\n', at);
            INFO(text.substr(at, end - at));
            CHECK(end - at <= 100);
        }
    }
}

namespace {

// Figures of a rank that was in the phases of `list`: name, index of the phase that it is in, seconds of its own.
struct MadeUp {
    const char* name;
    int64_t parent;
    double wall_s, mpi_s;
};
RankFigures in_phases(int rank, const std::vector<MadeUp>& list)
{
    RankFigures r = {};
    r.rank = r.node_rank = rank;
    for (const MadeUp& p : list) {
        r.counts.wall_s += p.wall_s;
        r.counts.mpi_s += p.mpi_s;
        PhaseCounts c = {};
        c.entered = 1 + rank;
        c.wall_s = p.wall_s;
        c.mpi_s = p.mpi_s;
        c.computing_s = p.wall_s - p.mpi_s;
        c.refused_s[0] = p.mpi_s;
        r.phases.push_back({p.name, p.parent, p.parent == no_parent ? 1 : named_phase, c});
    }
    r.counts.computing_s = r.counts.wall_s - r.counts.mpi_s;
    return r;
}

using Path = std::vector<std::string>;

} // namespace

TEST_CASE("phases of ranks are put together by their paths; what is inside a phase is part of it")
{
    ReportBuilder b;
    b.add(in_phases(0, {{"", no_parent, 1, 0}, {"step", 0, 2, 1}, {"solve", 1, 4, 0}, {"solve", 0, 8, 0}}));
    b.add(in_phases(
        1, {{"", no_parent, 3, 0}, {"solve", 0, 1, 0}, {"step", 0, 2, 0}, {"solve", 2, 2, 2}, {"io", 2, 8, 0}}));
    const Report r = b.finish();
    REQUIRE(r.phases.size() == 5);
    // Behind the phase that it is in; the longest first: "step" takes 12 s on rank 1, "solve" 8 s on rank 0.
    CHECK(r.phases[0].path == Path{});
    CHECK(r.phases[1].path == Path{"step"});
    CHECK(r.phases[2].path == Path{"step", "io"});
    CHECK(r.phases[3].path == Path{"step", "solve"});
    CHECK(r.phases[4].path == Path{"solve"});
    CHECK(r.phases[0].own.counts.wall_s == 3);
    CHECK(r.phases[0].whole.counts.wall_s == 16);
    CHECK(r.phases[0].whole.counts.wall_s == r.elapsed_s);
    CHECK(r.phases[1].own.counts.wall_s == 2);
    CHECK(r.phases[1].whole.counts.wall_s == 12);
    CHECK(r.phases[1].whole.counts.entered == 2);
    CHECK(r.phases[1].own.counts.mpi_s == 1);
    CHECK(r.phases[1].whole.counts.mpi_s == 3);
    CHECK(r.phases[1].whole.counts.refused_s[0] == 3);
    CHECK(r.phases[1].whole.counts.computing_s == 15); // 5 and 10 of 12 s each
    CHECK(r.phases[1].whole.as_is.parallel == Approx(15. / 24));
    CHECK(r.phases[1].whole.as_is.load_balance == Approx(7.5 / 10));
    CHECK(r.phases[2].own.as_is.parallel == Approx(1)); // of the one rank that was there
    CHECK(r.phases[3].own.counts.wall_s == 4);
    double own = 0;
    for (const PhaseRowFigures& p : r.phases)
        own += p.own.counts.computing_s;
    CHECK(own == Approx(r.totals.computing_s));
}

TEST_CASE("the figures of ranks in phases add up to those of each rank and of each phase")
{
    ReportBuilder b; // rank 1 first: rows are found by rank
    b.add(in_phases(1, {{"", no_parent, 3, 0}, {"solve", 0, 1, 0}, {"step", 0, 2, 0}, {"solve", 2, 4, 3}}));
    b.add(in_phases(0, {{"", no_parent, 1, 0}, {"step", 0, 2, 1}, {"solve", 1, 4, 0}}));
    const Report made = b.finish(), read = read_report(report_json(made));
    for (const Report* r : {&made, &read}) {
        CHECK(r->rank_phases_omitted == 0);
        REQUIRE(r->rank.size() == 2);
        REQUIRE(r->rank[0].phases.size() == 3);
        REQUIRE(r->rank[1].phases.size() == 4);
        for (size_t i = 0; i < r->phases.size(); i++) {
            INFO(path_text(r->phases[i].path));
            const PhasePart& all = r->phases[i].own;
            double computing = 0, useful = 0, mpi = 0, best = 0, n = 0;
            for (const RankRow& rank : r->rank)
                for (const RankPhase& p : rank.phases)
                    if (size_t(p.phase) == i) {
                        n++;
                        computing += p.counts.computing_s;
                        mpi += p.counts.mpi_s;
                        useful += p.useful_s;
                        best = std::max(best, p.load_balance);
                        CHECK(p.counts.entered == 1 + rank.rank);
                        CHECK(p.parallel == Approx(p.load_balance * all.as_is.communication));
                    }
            CHECK(computing == Approx(all.counts.computing_s));
            CHECK(mpi == Approx(all.counts.mpi_s));
            CHECK(useful / (n * all.as_is.elapsed_s) == Approx(all.as_is.parallel));
            CHECK(best == Approx(1));
        }
        const RankPhase& solve = r->rank[1].phases[2]; // in step: 4 s, 3 of them in MPI, while rank 0 computed
        CHECK(r->phases[size_t(solve.phase)].path == Path{"step", "solve"});
        CHECK(solve.counts.wall_s == 4);
        CHECK(solve.counts.refused_s[0] == 3);
        CHECK(solve.parallel == Approx(0.25));
        CHECK(solve.load_balance == Approx(0.25));
        CHECK(solve.cores == Approx(0.25));
    }
    const std::string csv = report_csv(made), text = report_text(made);
    CHECK(csv.find("\n0,1,,,step/solve,mpi,3,s\n") != std::string::npos);
    CHECK(csv.find("\n0,1,,,step/solve,parallel_efficiency,0.25,ratio\n") != std::string::npos);
    CHECK(text.find("RANKS IN PHASES") != std::string::npos);
    const std::regex row("\n +1 +4.00 s +1.00 s +0 +0 +0 +0.25 +25.0 % +solve\n");
    CHECK(std::regex_search(text, row));
}

TEST_CASE("a core that was lent in a phase did useful work there")
{
    ReportBuilder b;
    for (int rank : {0, 1}) {
        RankFigures r = half(rank);
        PhaseCounts c = r.phases[0].counts;
        r.phases[0].counts = {};
        r.phases.push_back({"solve", 0, named_phase, c});
        b.add(std::move(r));
    }
    const Report r = b.finish();
    REQUIRE(r.rank[0].phases.size() == 2);
    const RankPhase &lender = r.rank[0].phases[1], &owner = r.rank[1].phases[1];
    CHECK(lender.counts.lent_s == 1);
    CHECK(lender.useful_s == Approx(2)); // 1 s for itself, 1 s for rank 1
    CHECK(lender.parallel == Approx(1));
    CHECK(lender.cores == Approx(0.5));
    CHECK(owner.useful_s == Approx(2));
    CHECK(owner.counts.borrowed_s == 1);
    CHECK(owner.cores == Approx(1.5));
}

TEST_CASE("of many ranks and phases a report has the phases in which ranks spent most time")
{
    ReportBuilder b;
    constexpr unsigned ranks = 5, names = 10000;
    for (unsigned rank = 0; rank < ranks; rank++) {
        RankFigures r = in_phases(int(rank), {{"", no_parent, 1, 0}});
        for (unsigned i = 0; i < names; i++) {
            PhaseCounts c = {};
            c.entered = 1;
            c.wall_s = c.computing_s = 1e-6 * (1 + i);
            r.phases.push_back({"name " + std::to_string(i), 0, named_phase, c});
        }
        b.add(std::move(r));
    }
    const Report r = b.finish(), again = read_report(report_json(r));
    CHECK(r.phases.size() == names + 1);
    for (const Report* of : {&r, &again}) {
        size_t rows = 0;
        for (const RankRow& rank : of->rank) {
            rows += rank.phases.size();
            for (const RankPhase& p : rank.phases) // the run, and those that took longest
                CHECK((p.phase == 0 || p.counts.wall_s > 1e-6 * (names - most_rank_phases / ranks)));
        }
        CHECK(rows <= most_rank_phases);
        CHECK(rows > most_rank_phases - ranks);
        CHECK(of->rank_phases_omitted == double(names + 1 - rows / ranks));
    }
    CHECK(report_text(r).find("RANKS IN PHASES") == std::string::npos);
}

TEST_CASE("a loop is of the phase that it ran in on all ranks, or of several")
{
    ReportBuilder b;
    for (int rank : {0, 1}) {
        RankFigures r =
            in_phases(rank, {{"", no_parent, 1, 0}, {rank ? "b" : "a", 0, 1, 0}, {rank ? "a" : "b", 0, 3, 0}});
        for (const auto& [name, phase] :
             std::vector<std::pair<const char*, int64_t>>{{"in a", rank ? 2 : 1},
                                                          {"in both", 1},
                                                          {"several", rank ? 1 : several_phases},
                                                          {"unknown", no_phase_known}}) {
            r.loops.push_back({name, {}, LoopCause::unknown, phase});
            r.loops.back().counts.executions = 1;
        }
        b.add(std::move(r));
    }
    const Report r = b.finish(), again = read_report(report_json(r));
    for (const Report* of : {&r, &again})
        for (const LoopFigures& l : of->loops) {
            INFO(l.name);
            if (l.name == "in a")
                CHECK(of->phases.at(size_t(l.phase)).path == Path{"a"});
            else
                CHECK(l.phase == (l.name == "unknown" ? no_phase_known : several_phases));
        }
    REQUIRE(again.rank.at(1).loops.at(0).name == "in a");
    CHECK(again.phases.at(size_t(again.rank[1].loops[0].phase)).path == Path{"a"});
    CHECK(report_text(r).find("  in a in a\n") != std::string::npos);
}

TEST_CASE("of many phases the text has those that took longest, and the files have all")
{
    Report r = half_report();
    const PhaseRowFigures one = r.phases[0];
    for (int i = 1; i <= 10000; i++) {
        r.phases.push_back(one);
        r.phases.back().path = {"step, " + std::to_string(i)};
        r.phases.back().level = named_phase;
        r.phases.back().whole.counts.wall_s = i / 1e4;
    }
    const std::string text = report_text(r), shown = text.substr(text.find("\nPHASES "));
    CHECK(std::count(shown.begin(), shown.end(), '\n') == 24 + 23);
    CHECK(shown.find("\n  step, 9982\n") == std::string::npos);
    CHECK(shown.find("  step, 9982\n") < shown.find("  step, 9983\n"));
    CHECK(shown.find("  step, 9981\n") == std::string::npos);
    CHECK(shown.find("... and 9981 phases that took less") != std::string::npos);
    CHECK(report_csv(r).find("\n,,,,\"step, 10000\",whole_wall,1,s\n") != std::string::npos);
    const Report again = read_report(report_json(r));
    CHECK(again.phases.size() == 10001);
    CHECK(again.phases.back().path == Path{"step, 10000"});
    CHECK(again.phases.back().level == named_phase);
    CHECK(report_json(again) == report_json(r));
}

TEST_CASE("two reports are compared by ratios")
{
    Report a = half_report(), b = half_report();
    b.elapsed_s = b.as_is.elapsed_s = 1;
    b.loops[0].name = "b.c:2:main";
    b.loops[0].counts.computing_s = 3;
    const std::string text = report_comparison(a, b, "one.json", "two.json");
    CHECK(text.find("A: one.json") != std::string::npos);
    CHECK(text.find("2.00 s   1.00 s    0.5\n") != std::string::npos);
    CHECK(text.find("new") != std::string::npos);
}

TEST_CASE("cores over time: a line for each change, when all ranks of the node had it")
{
    const auto report = [](const std::vector<std::vector<CoresFrom>>& cores, int nodes = 1) {
        ReportBuilder b;
        for (int n = 0; n < nodes; n++)
            for (int r : {0, 1}) {
                RankFigures f = half(r, n);
                f.cores = cores[size_t(r)];
                f.counts.openmp_cores = f.cores.empty() ? 0 : f.cores.back().cores;
                b.add(std::move(f));
            }
        return b.finish();
    };
    const auto has = [](const Report& r, const std::string& line) {
        return report_text(r).find(line + "\n") != std::string::npos;
    };
    const Report two = report({{{0, 0, 0, 8}, {1, 1.2, 3, 11}}, {{0, 0, 0, 8}, {1, 0.9, 3, 5}}});
    CHECK(has(two, "  after 3 periods, 1.20 s: 8+8 -> 11+5"));
    CHECK(has(report({{{0, 0, 0, 8}}, {{0, 0, 0, 4}}}), "  8+4, from begin to end"));
    CHECK_FALSE(has(report({{}, {}}), "CORES OF PARALLEL REGIONS"));
    // A deal that one of them never had, as the next came before.
    const Report passed_over = report({{{0, 0, 0, 8}, {1, 1, 3, 10}, {2, 2, 6, 9}}, {{0, 0, 0, 8}, {2, 1.9, 6, 7}}});
    CHECK(has(passed_over, "  after 3 periods, 1.00 s: 8+8 -> 10+8"));
    CHECK(has(passed_over, "  after 6 periods, 2.00 s: 10+8 -> 9+7"));
    const Report nodes = report({{{0, 0, 0, 8}, {1, 1.2, 1, 9}}, {{0, 0, 0, 8}, {1, 0.9, 1, 7}}}, 2);
    CHECK(has(nodes, "  node 1: after 1 period, 1.20 s: 8+8 -> 9+7"));

    // The first ones and the last of very many changes.
    std::vector<CoresFrom> more = {{0, 0, 0, 8}}, less = more;
    for (int i = 1; i <= 20; i++) {
        more.push_back({i, double(i), 3. * i, 8. + i % 2});
        less.push_back({i, double(i), 3. * i, 8. - i % 2});
    }
    const Report many = report({more, less});
    CHECK(has(many, "  after 24 periods, 8.00 s: 9+7 -> 8+8"));
    CHECK_FALSE(has(many, "  after 27 periods, 9.00 s: 8+8 -> 9+7"));
    CHECK(has(many, "  ... 12 changes more; the last: after 60 periods, 20.0 s: 9+7 -> 8+8"));

    const auto json = nlohmann::json::parse(report_json(two));
    CHECK(json["by_rank"][1]["openmp_cores_over_time"][1] ==
          nlohmann::json({{"deal", 1}, {"at_s", 0.9}, {"periods", 3}, {"cores", 5}}));
    CHECK(report_text(read_report(report_json(many))) == report_text(many));
    CHECK(report_csv(read_report(report_json(many))) == report_csv(many));
    CHECK(report_csv(two).find("\n0,1,,,,openmp_deal_1_at,0.9,s\n0,1,,,,openmp_deal_1_periods,3,count\n"
                               "0,1,,,,openmp_deal_1_cores,5,count\n") != std::string::npos);
    const std::string both = report_comparison(two, passed_over, "a", "b");
    CHECK(both.find("cores of parallel regions, A: after 3 periods, 1.20 s: 8+8 -> 11+5\n") != std::string::npos);
    CHECK(both.find("cores of parallel regions, B: after 6 periods, 2.00 s: 10+8 -> 9+7\n") != std::string::npos);
}

TEST_CASE("a loop's executions that were cut into chunks are told from those that ran whole")
{
    LoopRow row = {};
    row.whole_executions = row.timed_executions = 1000;
    row.whole_iterations = row.timed_iterations = 3000;
    row.timed_ticks = 2000000;
    row.cut_executions = 4;
    row.cut_ticks = 50000000;
    row.close_wait_ticks = 1000000;
    const LoopCounts c = loop_counts(row, 1e-9);
    CHECK(c.executions == 1004);
    CHECK(c.executions_cut == 4);
    CHECK(c.computing_s == Approx(0.051));
    CHECK(c.cut_s == Approx(0.049));
}
