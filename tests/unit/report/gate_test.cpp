// SPDX-License-Identifier: MIT
//
// What fails a run: conditions, and a baseline whose noise is known.
#include "gate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

using namespace ws::report;

namespace {

std::string error_of(const std::string& condition)
{
    try {
        parse_condition(condition);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("conditions are read")
{
    const Condition c = parse_condition("  parallel_efficiency <  90 % ");
    CHECK(c.name == "parallel_efficiency");
    CHECK(c.relation == Condition::below);
    CHECK(c.limit == Approx(0.9));
    CHECK(parse_condition("elapsed_s>=1e3").relation == Condition::at_least);
    CHECK(parse_condition("speedup<=1.5").relation == Condition::at_most);
    CHECK(parse_condition("blocked_s > -1").limit == -1);
}

TEST_CASE("what is no condition gets one message, which names the nearest figure")
{
    CHECK(error_of("paralel_eficiency < 0.9") ==
          "no figure is called 'paralel_eficiency'; did you mean parallel_efficiency?");
    CHECK(error_of("x < 1") == "no figure is called 'x'; ws-report --json FILE shows their names");
    CHECK(error_of("load_balance < much ") == "'much' is not a number like 0.03 or 3%");
    for (const char* wrong : {"", "<", "parallel_efficiency", "parallel_efficiency = 1", "parallel_efficiency <",
                              "parallel_efficiency < x", "parallel_efficiency < 1 s", "< 3", "load_balance << 1",
                              "load_balance < nan", "load_balance < inf"})
        CHECK_FALSE(error_of(wrong).empty());
}

TEST_CASE("a condition holds as it says")
{
    const auto holds_at = [](const char* text, double value) { return holds(parse_condition(text), value); };
    CHECK(holds_at("load_balance < 0.5", 0.4));
    CHECK_FALSE(holds_at("load_balance < 0.5", 0.5));
    CHECK(holds_at("load_balance <= 0.5", 0.5));
    CHECK(holds_at("load_balance > 0.5", 0.6));
    CHECK_FALSE(holds_at("load_balance > 0.5", 0.5));
    CHECK(holds_at("load_balance >= 0.5", 0.5));
}

TEST_CASE("every figure can be judged by its name in JSON")
{
    ws::observe::Report r;
    r.as_is.load_balance = 0.5;
    r.totals.chunks_stolen = 7;
    r.speedup = 1.25;
    std::map<std::string, double> all;
    for (const Figure& f : figures_of(r))
        CHECK(all.emplace(f.name, f.value).second);
    CHECK(all.at("load_balance") == 0.5);
    CHECK(all.at("chunks_stolen") == 7);
    CHECK(all.at("speedup") == 1.25);
    CHECK(all.count("elapsed_s") == 1);
}

TEST_CASE("quantiles of Student's t")
{
    CHECK(student_95(0) == INFINITY);
    CHECK(student_95(1) == 6.314);
    CHECK(student_95(20) == 1.725);
    for (size_t n = 1; n < 100; n++)
        CHECK(student_95(n + 1) < student_95(n));
    CHECK(student_95(30) == Approx(1.697).margin(0.005));
    CHECK(student_95(120) == Approx(1.658).margin(0.005));
}

TEST_CASE("slower than a baseline, and by how much chance could have done it")
{
    const Slower s = slower({1.0, 1.02, 0.98}, {1.1});
    CHECK(s.part == Approx(0.1));
    CHECK(s.noise == Approx(2.920 * 0.02 * std::sqrt(1. / 3 + 1)));
    CHECK(slower({1, 1, 1}, {1, 1}).noise == 0);
    CHECK(slower({2, 2, 2}, {1, 1}).part == Approx(-0.5));
    // more runs say it more exactly
    CHECK(slower({1.0, 1.02, 0.98, 1.0, 1.02, 0.98}, {1.1, 1.1}).noise < s.noise / 1.5);
    CHECK(slower({1, 1}, {1}).noise == INFINITY);
}
