// SPDX-License-Identifier: MIT
//
// What the report says in every format: parts of the time, causes of loops, comparisons; and the page that is made of
// them.
#include "observe/loop_cause.h"
#include "observe/parts.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace ws::observe;

namespace {

RankCounts waited()
{
    RankCounts c = {};
    c.wall_s = 10;
    c.computing_s = 3;
    c.close_wait_s = 1;
    c.mpi_s = 6;
    c.blocked_s = 5;
    c.lent_s = 2;
    c.helped_s = 1.5;
    c.lends = 7;
    c.refused_s[unsigned(Refusal::all_wait)] = 2;
    c.refused[unsigned(Refusal::all_wait)] = 4;
    return c;
}

double sum(const std::vector<TimePart>& parts)
{
    double all = 0;
    for (const TimePart& p : parts)
        all += p.seconds;
    return all;
}

LoopFigures loop(double executions, double seconds, double shared, double helped)
{
    LoopFigures l = {"a.c:1:main", {}};
    l.counts.executions = l.counts.executions_cut = executions;
    l.counts.computing_s = l.counts.cut_s = seconds;
    l.counts.executions_shared = shared;
    l.counts.executions_helped = helped;
    return l;
}

nlohmann::json data_of(const std::string& page)
{
    const std::string begin = "type=\"application/json\">";
    const size_t at = page.find(begin) + begin.size();
    return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
}

// The numbers of a text with two letters for each, as page.html reads them.
std::vector<int> numbers_of(const std::string& letters)
{
    std::vector<int> numbers;
    for (size_t i = 0; i + 1 < letters.size(); i += 2)
        numbers.push_back((letters[i] - 93) * 34 + letters[i + 1] - 93);
    return numbers;
}

} // namespace

TEST_CASE("the parts of waiting add up to the time blocked, those of the time to the time elapsed")
{
    const auto waiting = waiting_parts(waited()), all = time_parts(waited());
    CHECK(sum(waiting) == Approx(5));
    CHECK(sum(all) == Approx(10));
    CHECK(waiting.front().seconds == 1.5);
    CHECK(waiting[1].seconds == Approx(0.5)); // handing over
    CHECK(waiting[1].times == 7);
    CHECK(waiting.back().seconds == Approx(1)); // spun
    const auto found =
        std::find_if(all.begin(), all.end(), [](const TimePart& p) { return p.name == std::string("all_wait"); });
    REQUIRE(found != all.end());
    CHECK(found->seconds == 2);
    CHECK(found->times == 4);
}

TEST_CASE("no part is below 0, though counters are read one after the other")
{
    RankCounts c = waited();
    c.refused_s[0] = 3; // more than was left
    c.helped_s = 2.5;   // more than was lent
    c.mpi_s = 4.5;      // less than the waits in it
    for (const TimePart& p : time_parts(c))
        CHECK(p.seconds >= 0);
}

TEST_CASE("why a loop was not helped more")
{
    const double cores = 4;
    CHECK(loop_cause(loop(100, 10, 100, 90), cores) == LoopCause::helped);
    CHECK(loop_cause(loop(100, 10, 100, 0), cores) == LoopCause::not_helped);
    CHECK(loop_cause(loop(100, 10, 0, 0), cores) == LoopCause::none_waited);
    CHECK(loop_cause(loop(1000000, 1, 0, 0), cores) == LoopCause::too_short);
    LoopFigures l = loop(100, 10, 100, 90);
    l.counts.longest_chunk_s = 0.05; // half of an execution
    l.counts.close_wait_s = 1;
    CHECK(loop_cause(l, cores) == LoopCause::coarse);
    LoopFigures fine = l;
    fine.counts.iterations_kept = 10000 * fine.counts.executions;
    CHECK(loop_cause(fine, cores) == LoopCause::long_chunk);
    LoopFigures without_cpu = l;
    without_cpu.counts.longest_chunk_s = 0.2; // longer than an execution
    without_cpu.counts.close_wait_s = 3;
    CHECK(loop_cause(without_cpu, cores) == LoopCause::long_chunk);
    l.counts.close_wait_s = 0.1; // one chunk in hundreds
    CHECK(loop_cause(l, cores) == LoopCause::helped);
    l.counts.executions_unpaid = 60;
    CHECK(loop_cause(l, cores) == LoopCause::gained_nothing);
    l.counts.executions_with_tasks = 60;
    CHECK(loop_cause(l, cores) == LoopCause::tasks);
}

TEST_CASE("each cause but one has words")
{
    for (unsigned i = 1; i < unsigned(LoopCause::kinds); i++)
        CHECK(*words_of(LoopCause(i)).text);
    CHECK_FALSE(*words_of(LoopCause::unknown).text);
}

TEST_CASE("runs are compared figure by figure, and loop by loop")
{
    Report a, b;
    a.elapsed_s = 2, b.elapsed_s = 1;
    a.as_is.parallel = 0.5, b.as_is.parallel = 1;
    a.loops = {loop(1, 1, 0, 0)};
    b.loops = {loop(1, 3, 0, 0), loop(1, 1, 0, 0)};
    b.loops[1].name = "b.c:2:only";
    b.loops[0].counts.iterations_kept = b.loops[0].counts.iterations_stolen = 5;
    const auto rows = compare({&a, &b});
    CHECK(rows[0].text == "elapsed");
    CHECK(rows[0].values == std::vector<double>{2, 1});
    const auto level =
        std::find_if(rows.begin(), rows.end(), [](const Compared& c) { return c.text == "parallel efficiency"; });
    REQUIRE(level != rows.end());
    CHECK(level->values == std::vector<double>{0.5, 1});
    for (const Compared& c : rows)
        CHECK(c.text != "between nodes");
    const auto loops = compare_loops({&a, &b});
    REQUIRE(loops.size() == 2);
    CHECK(loops[0].name == "a.c:1:main");
    CHECK(loops[0].seconds == std::vector<double>{1, 3});
    CHECK(loops[0].stolen == std::vector<double>{0, 0.5});
    CHECK(loops[1].seconds == std::vector<double>{0, 1});
    b.nodes = 2;
    CHECK(compare({&a, &b}).size() == rows.size() + 2);
}

TEST_CASE("computation scaling is the product of instructions, instructions per cycle and frequency")
{
    // As many cores; B runs a tenth more instructions, half of them per cycle, at 4/5 of the frequency.
    const auto run = [](double instructions, double per_cycle, double hertz) {
        Report r;
        r.cores = r.ranks = 2;
        r.totals.computing_s = instructions / per_cycle / hertz;
        r.totals.counted_s = r.totals.computing_s / 2; // half of it was counted
        r.totals.instructions = instructions / 2;
        r.totals.cycles = instructions / per_cycle / 2;
        r.elapsed_s = r.totals.computing_s / 2 / 0.8;
        r.as_is.parallel = 0.8;
        return r;
    };
    Report a = run(8e9, 2, 4e9), b = run(8.8e9, 1, 3.2e9);
    CHECK(counters_of(a.totals).per_cycle == Approx(2));
    CHECK(counters_of(b.totals).hertz == Approx(3.2e9));
    CHECK(counters_of(b.totals).instructions == Approx(8.8e9));
    const auto value = [](const std::vector<Compared>& rows, const std::string& text) {
        for (const Compared& c : rows)
            if (c.text.compare(0, text.size(), text) == 0)
                return c.values[1];
        return -1.0;
    };
    const auto rows = compare({&a, &b});
    CHECK(value(rows, "computation scaling") == Approx(1 / 1.1 * 0.5 * 0.8));
    const auto factor = [&](const char* text) {
        for (const Compared& c : rows)
            if (c.text == text)
                return c.values[1];
        return -1.0;
    };
    CHECK(factor("instructions") == Approx(1 / 1.1));
    CHECK(factor("instructions per cycle") == Approx(0.5));
    CHECK(factor("frequency") == Approx(0.8));
    CHECK(value(rows, "global efficiency") == Approx(0.8 / 1.1 * 0.5 * 0.8));
    a.totals.cycles = a.totals.counted_s = 0; // refused there: the tree ends above them
    const auto without = compare({&a, &b});
    CHECK(without.size() == rows.size() - 3);
    CHECK(value(without, "computation scaling") == Approx(1 / 1.1 * 0.5 * 0.8));
    CHECK(compare({&a}).size() == without.size() - 2); // one run has nothing to scale from
}

TEST_CASE("threads that are idle outside of regions: 1 s of 4 s serial leaves 13/16 of four threads")
{
    Report r;
    r.ranks = 1;
    r.totals.computing_s = 4;
    r.totals.openmp_regions = 10;
    r.totals.openmp_regions_s = 3;
    CHECK(openmp_efficiency(r).parallel == 1);
    r.conditions.openmp_threads = 4;
    OpenMPEfficiency e = openmp_efficiency(r);
    CHECK(e.serialisation == Approx(13. / 16));
    CHECK(e.parallel == Approx(e.serialisation));
    CHECK(e.load_balance == 1); // threads were not timed
    CHECK(e.scheduling == 1);
    r.totals.mpi_s = 4; // is work of the rank's own thread
    CHECK(openmp_efficiency(r).serialisation == Approx(17. / 20));
    r.totals.openmp_regions = r.totals.openmp_regions_s = 0; // not counted
    CHECK(openmp_efficiency(r).parallel == 1);
}

TEST_CASE("each loss of OpenMP's threads is taken away by one level, and the product is what is useful")
{
    Report r;
    r.ranks = 1;
    r.conditions.openmp_threads = 4;
    r.totals.computing_s = 10;
    r.totals.openmp_regions = 10;
    r.totals.openmp_regions_s = 8;
    r.totals.openmp_threads_s = 24; // of 32: some regions had fewer threads
    r.totals.openmp_imbalance_s = 5;
    r.totals.openmp_scheduling_s = 1;
    OpenMPEfficiency e = openmp_efficiency(r);
    // Useful are 2 s outside and 18 inside; idle 6 outside and 8 inside; 40 in all.
    CHECK(e.serialisation == Approx(20. / 34));
    CHECK(e.load_balance == Approx(34. / 39));
    CHECK(e.scheduling == Approx(39. / 40));
    CHECK(e.parallel == Approx(20. / 40));
    CHECK(e.parallel == Approx(e.serialisation * e.load_balance * e.scheduling));
    r.totals.openmp_tasks_s = 2; // regions of tasks, whose threads were not timed
    r.totals.openmp_regions_s = 10;
    r.totals.computing_s = 12;
    e = openmp_efficiency(r);
    CHECK(e.parallel == Approx(28. / 48));
    CHECK(e.parallel == Approx(e.serialisation * e.load_balance * e.scheduling));
}

TEST_CASE("losses larger than the time of the threads, as clocks may say, leave efficiencies between 0 and 1")
{
    Report r;
    r.ranks = 1;
    r.conditions.openmp_threads = 2;
    r.totals.computing_s = 1;
    r.totals.openmp_regions = 1;
    r.totals.openmp_regions_s = 1.5;
    r.totals.openmp_threads_s = 3;
    r.totals.openmp_imbalance_s = 2;
    r.totals.openmp_scheduling_s = 2;
    const OpenMPEfficiency e = openmp_efficiency(r);
    for (const OpenMPLevel& level : openmp_levels) {
        CHECK(e.*level.value >= 0);
        CHECK(e.*level.value <= 1);
    }
}

TEST_CASE("a page has the report's figures, and names cannot leave their place in it")
{
    Report r;
    r.program = "/bin/<i>&\xff";
    r.verdict = "workshare: twice as fast (1 rank); because </script>";
    r.workshare = "1.0";
    r.elapsed_s = 2;
    r.as_is.parallel = 0.875;
    r.loops = {loop(2, 1, 2, 1)};
    r.loops[0].name = "</script><script>alert(1)";
    r.loops[0].cause = LoopCause::coarse;
    r.rank.push_back({0, 0, 0, "", waited(), {}, {}, {{1, 0, 0.5}, {0.25, 0.75, 0}}, {}});
    const std::string page = report_html({{"a.json", &r}});
    CHECK(page.find("@DATA@") == page.npos);
    CHECK(page.find("@TITLE@") == page.npos);
    size_t ends = 0;
    for (size_t at = 0; (at = page.find("</script>", at)) != page.npos; at++)
        ends++;
    CHECK(ends == 2); // of the data, of the script
    const auto run = data_of(page)["runs"][0];
    CHECK(run["verdict"] == nlohmann::json{"twice as fast (1 rank)", "because </script>"});
    CHECK(run["tree"][0][2] == 0.875);
    CHECK(run["loops"]["rows"][0][0] == "</script><script>alert(1)");
    CHECK(run["loops"]["rows"][0][8] == unsigned(LoopCause::coarse));
    CHECK(numbers_of(run["over_time"]["computing"]) == std::vector<int>{1000, 250});
    CHECK(numbers_of(run["over_time"]["borrowed"]) == std::vector<int>{500, 0});
    CHECK(run["over_time"]["units"]["borrowed"] == 0.001);
    CHECK(run["openmp_cores"].is_null());
    CHECK_FALSE(data_of(page).contains("comparison"));
    CHECK(data_of(report_html({{"a.json", &r}, {"b.json", &r}})).contains("comparison"));
}

TEST_CASE("the ending of a file is its format")
{
    CHECK(report_format("a.html") == ReportFormat::html);
    CHECK(report_format("a.json") == ReportFormat::json);
    CHECK(report_format("html") == ReportFormat::text);
    CHECK(report_as(ReportFormat::html, Report{}).compare(0, 9, "<!DOCTYPE") == 0);
}
