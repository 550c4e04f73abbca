// SPDX-License-Identifier: MIT
//
// Recordings: what was written is read again, and what is no recording is refused.
#include "readings.h"
#include "replay.h"
#include "text.h"

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace ws::top;
using namespace ws::observe;

namespace {

// A job of two ranks with a worker each, of which one lends its core, at `at` ms.
std::vector<JobSample> jobs_at(uint64_t at)
{
    std::vector<Reading> ranks = {rank_reading(0, 2, at * ms, 1), rank_reading(1, 2, at * ms, 1)};
    lend(ranks[1], 100 * ms, 200 * ms, 0);
    SeatReading& guest = guest_on(ranks[0], 1);
    guest.state = Seated::visiting;
    guest.other = 1;
    guest.loop = 0;
    guest.since = 200 * ms;
    guest.visit.chunks = 17;
    LoopReading loop;
    loop.name = "a.c:1:main";
    loop.cut_executions = 3;
    loop.cut_ticks = 50 * ms;
    ranks[0].loops = {loop};
    ranks[0].phases = {{"", 1, 100 * ms, 0, 0, 0}, {"step", 2, 150 * ms, 10 * ms, 0, 20 * ms}};
    ranks[0].present_phase = 1;
    ranks[0].process.tasks_run = 5;
    ranks[1].seats[0].lend.refused_ticks[0] = 30 * ms;
    return {sample(ranks, {})};
}

std::string line_of(const std::vector<JobSample>& jobs, double at, const std::vector<Problem>& problems = {})
{
    return to_json(jobs, problems, at, "1.0").dump() + "\n";
}

std::string error_of(const std::string& text)
{
    try {
        Replay(text, "");
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("a snapshot that is read again is the same, in JSON and as text")
{
    const auto jobs = jobs_at(500);
    const std::string line = line_of(jobs, 1700000000.5, {{7, "no board"}});
    const Snapshot read = from_json(line);
    CHECK(to_json(read.jobs, read.problems, read.unix_seconds, "1.0").dump() + "\n" == line);
    const auto before = list(jobs[0], View(), 120), after = list(read.jobs.at(0), View(), 120);
    REQUIRE(before.size() == after.size());
    for (size_t i = 0; i < before.size(); i++)
        CHECK(after[i].text() == before[i].text());
}

TEST_CASE("a recording is shown from its first to its last snapshot, which stays")
{
    Replay r(line_of(jobs_at(500), 1) + line_of(jobs_at(600), 2) + line_of(jobs_at(700), 3), "");
    CHECK(r.size() == 3);
    for (int i : {1, 2, 3, 3}) {
        CHECK(r.sample().size() == 1);
        CHECK(r.unix_seconds() == i);
        CHECK(r.at_end() == (i == 3));
    }
    for (auto [by, shown] : {std::pair(-1l, 1u), {-5l, 0u}, {1l, 1u}, {9l, 2u}, {1l, 2u}}) {
        r.move(by);
        r.sample();
        CHECK(r.shown() == shown);
    }
}

TEST_CASE("problems come with their snapshot, and jobs can be chosen by name")
{
    const std::string text = line_of(jobs_at(500), 1, {{7, "no board"}});
    Replay all(text, "12345678"), none(text, "ab");
    CHECK(all.sample().size() == 1);
    REQUIRE(all.problems().size() == 1);
    CHECK(all.problems()[0].what == "no board");
    CHECK(none.sample().empty());
}

TEST_CASE("half a last line is left out, half a line before it is not")
{
    const std::string line = line_of(jobs_at(500), 1);
    CHECK(Replay(line + line.substr(0, line.size() / 2), "").size() == 1);
    CHECK(error_of(line + line.substr(0, line.size() / 2) + "\n") == "line 2: it is not JSON");
}

TEST_CASE("what is no recording gets one message")
{
    CHECK(error_of("") == "there is no snapshot in it");
    CHECK(error_of("{}\n") == "line 1: it is not a snapshot of ws-top: there is no \"schema\"");
    CHECK(error_of("{\"schema\": \"workshare-top/99\"}\n") ==
          "line 1: its schema is workshare-top/99, expected workshare-top/3");
    CHECK(error_of("[1]\n").find("line 1: ") == 0);
    auto j = to_json(jobs_at(500), {}, 1, "1.0");
    j["jobs"][0]["by_rank"][0].erase("cores");
    CHECK(error_of(j.dump() + "\n") == "line 1: there is no cores");
    j = to_json(jobs_at(500), {}, 1, "1.0");
    j["jobs"][0]["by_rank"][0]["cores"][0]["state"] = "flying";
    CHECK(error_of(j.dump() + "\n") == "line 1: state is unknown");
    j["jobs"][0]["by_rank"][0]["cores"][0]["state"] = 7;
    CHECK(error_of(j.dump() + "\n") == "line 1: state is not text");
}

TEST_CASE("a snapshot of which anything is missing or changed is read or refused")
{
    const auto whole = to_json(jobs_at(500), {}, 1, "1.0");
    const auto values = whole.flatten();
    for (const auto& [path, value] : values.items())
        for (const nlohmann::ordered_json& other :
             {nlohmann::ordered_json(), nlohmann::ordered_json(-1e300), nlohmann::ordered_json("\x1b[2J"),
              nlohmann::ordered_json::array()}) {
            auto changed = whole;
            changed[nlohmann::ordered_json::json_pointer(path)] = other;
            try {
                Replay r(changed.dump() + "\n", "");
                for (const JobSample& job : r.sample())
                    for (const Line& line : list(job, View(), 120))
                        CHECK(line.text().find('\x1b') == std::string::npos);
            } catch (const std::runtime_error& error) {
                CHECK(std::string(error.what()).find("line 1: ") == 0);
            }
        }
}

TEST_CASE("counters have the names of the board's")
{
    CHECK(counter_name("blocked_s") == std::string("blocked_s"));
    CHECK(counter_name("tasks_waiting") == std::string("tasks_waiting"));
    CHECK(counter_name("other") == nullptr);
}
