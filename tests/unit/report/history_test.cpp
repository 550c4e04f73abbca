// SPDX-License-Identifier: MIT
//
// Histories: noise, changes, and which runs belong together.
#include "history.h"
#include "history_page.h"

#include <catch2/catch.hpp>
#include <random>

using namespace ws::report;

namespace {

std::vector<double> with_noise(const std::vector<double>& levels, double noise, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> by(0, noise);
    std::vector<double> v;
    for (double level : levels)
        v.push_back(level + by(random));
    return v;
}

std::vector<double> steps(std::initializer_list<std::pair<size_t, double>> parts)
{
    std::vector<double> v;
    for (const auto& [count, level] : parts)
        v.insert(v.end(), count, level);
    return v;
}

std::vector<std::vector<double>> each_once(const std::vector<double>& v)
{
    std::vector<std::vector<double>> all;
    for (double x : v)
        all.push_back({x});
    return all;
}

Run run_of(const char* commit, int64_t second, double elapsed, const char* program = "/bin/a", double ranks = 4)
{
    Run r = {commit, std::string(commit) + ".json", {}};
    r.report.program = program;
    r.report.ranks = ranks;
    r.report.nodes = 1;
    r.report.started_unix_ns = second * 1000000000;
    r.report.elapsed_s = elapsed;
    r.report.as_is.parallel = 0.5;
    return r;
}

} // namespace

TEST_CASE("medians")
{
    CHECK(median({}) == 0);
    CHECK(median({3}) == 3);
    CHECK(median({5, 1, 3}) == 3);
    CHECK(median({4, 1, 3, 2}) == 2.5);
}

TEST_CASE("noise is that between commits, and no step makes more of it")
{
    CHECK(noise_of(each_once(with_noise(steps({{200, 10}}), 0.1, 1))) == Approx(0.1).epsilon(0.3));
    CHECK(noise_of(each_once(with_noise(steps({{100, 10}, {100, 20}}), 0.1, 2))) == Approx(0.1).epsilon(0.3));
    CHECK(noise_of(each_once({1, 1, 1, 1})) == 0);
    CHECK(noise_of({{1}, {2}}) == 0); // not known
}

TEST_CASE("noise is that between runs of a commit if commits show none")
{
    // the median of 3 runs varies by the deviation of one, divided by the square root of 3
    const std::vector<std::vector<double>> same(10, {0.9, 1.0, 1.1});
    CHECK(noise_of(same) == Approx(0.1 / std::sqrt(3.0)));
}

TEST_CASE("a step is found where it is, whatever the seed")
{
    for (unsigned seed = 0; seed < 50; seed++) {
        const auto v = with_noise(steps({{12, 1.0}, {15, 1.1}}), 0.01, seed);
        const auto changes = changes_in(v, noise_of(each_once(v)));
        REQUIRE(changes.size() == 1);
        CHECK(changes[0] == 12);
    }
}

TEST_CASE("several steps, in both directions")
{
    const auto v = with_noise(steps({{10, 1.0}, {8, 1.3}, {9, 0.9}}), 0.01, 3);
    CHECK(changes_in(v, 0.01) == std::vector<size_t>{10, 18});
}

TEST_CASE("noise alone is no change")
{
    unsigned found = 0;
    for (unsigned seed = 0; seed < 500; seed++) {
        const auto v = with_noise(steps({{40, 1.0}}), 0.05, seed);
        found += !changes_in(v, noise_of(each_once(v))).empty();
    }
    CHECK(found <= 10);
}

TEST_CASE("one run that was disturbed is no change, and neither is less than a hundredth")
{
    auto v = steps({{20, 1.0}});
    v[10] = 3;
    CHECK(changes_in(v, 0.01).empty());
    CHECK(changes_in(steps({{10, 1.0}, {10, 1.005}}), 0).empty());
    CHECK(changes_in(steps({{10, 1.0}, {10, 1.02}}), 0) == std::vector<size_t>{10});
}

TEST_CASE("histories of nothing and of little")
{
    CHECK(changes_in({}, 0).empty());
    CHECK(changes_in({1, 2, 3}, 0).empty());
    CHECK(changes_in({1, 1, 2, 2}, 0) == std::vector<size_t>{2});
    CHECK(experiments_of({}).empty());
}

TEST_CASE("runs of a program on as many ranks are one experiment, in the order of their commits")
{
    const std::vector<Run> runs = {run_of("b", 200, 2.0), run_of("a", 100, 1.0), run_of("b", 201, 2.2),
                                   run_of("a", 101, 1.1), run_of("b", 202, 2.1), run_of("a", 100, 9, "/bin/other"),
                                   run_of("a", 100, 9, "/bin/a", 8)};
    const std::vector<Experiment> all = experiments_of(runs);
    REQUIRE(all.size() == 3);
    const Experiment& e = all[0];
    CHECK(e.program == "a");
    CHECK(e.ranks == 4);
    REQUIRE(e.commits.size() == 2);
    CHECK(e.commits[0].name == "a");
    CHECK(e.commits[1].runs.size() == 3);
    REQUIRE(e.curves.size() == followed.size());
    CHECK(e.curves[0].medians == std::vector<double>{1.05, 2.1});
    CHECK(e.curves[0].levels.size() == 2);
}

TEST_CASE("each commit has a page, whatever its name is")
{
    std::vector<Run> runs = {run_of("a/b", 1, 1), run_of("a<b", 2, 1), run_of("index", 3, 1)};
    std::vector<std::string> names;
    for (const PageFile& f : history_pages(experiments_of(runs), "1.0"))
        names.push_back(f.name);
    CHECK(names == std::vector<std::string>{"a-b.html", "a-b-2.html", "index-2.html", "badge.svg", "index.html"});
}

TEST_CASE("a badge has its value, and a colour for it")
{
    const std::string good = badge("a & b", 0.95), fair = badge("a", 0.8), poor = badge("a", 0.2);
    CHECK(good.find(">95 %<") != good.npos);
    CHECK(good.find("a &amp; b: 95 %") != good.npos);
    CHECK(good.find("#2b7a3d") != good.npos);
    CHECK(fair.find("#8a6100") != fair.npos);
    CHECK(poor.find("#b3261e") != poor.npos);
}
