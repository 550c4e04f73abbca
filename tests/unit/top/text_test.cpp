// SPDX-License-Identifier: MIT
#include "json.h"
#include "readings.h"
#include "text.h"

#include <catch2/catch.hpp>

using namespace ws::top;
using ws::observe::Seated;
using Catch::Contains;

namespace {

std::string shown(const std::vector<Line>& lines)
{
    std::string all;
    for (const Line& line : lines)
        all += line.text() + "\n";
    return all;
}

// Rank 0 computes with a guest on the core of rank 1; the others wait.
std::vector<JobSample> job_of(int ranks, unsigned workers = 0)
{
    std::map<int, Reading> before;
    std::vector<Reading> after;
    for (int i = 0; i < ranks; i++) {
        before[i] = rank_reading(i, ranks, 1000 * ms, workers);
        after.push_back(rank_reading(i, ranks, 2000 * ms, workers));
        if (i)
            lend(after[size_t(i)], 1500 * ms, 1600 * ms, 0);
    }
    if (ranks > 1) {
        SeatReading& guest = guest_on(after[0], 1);
        guest.state = Seated::visiting;
        guest.since = 1600 * ms;
        guest.other = 1;
        guest.loop = 0;
    }
    after[0].loops.resize(1);
        after[0].loops[0].name = "/long/path/prog.c:10:main";
    after[0].loops[0].cut_ticks = 10 * ms;
    return {sample(after, before)};
}

} // namespace

TEST_CASE("durations and widths")
{
    CHECK(duration(0.00034) == "340us");
    CHECK(duration(0.0123) == "12ms");
    CHECK(duration(4.5) == "4.5s");
    CHECK(duration(187) == "3:07");
    CHECK(duration(7387) == "2:03:07");
    CHECK(duration(59.97) == "1:00");
    CHECK(width_of("\xc3\xa4x") == 2);
    Line line;
    line.add("\xc3\xa4\xc3\xb6\xc3\xbc" "def");
    line.fit(4);
    CHECK(line.text() == "\xc3\xa4\xc3\xb6\xc3\xbc>");
    line.fit(0);
    CHECK(line.text() == "");
    Line blanks;
    blanks.add("ab   ");
    blanks.fit(2);
    CHECK(blanks.text() == "ab");
}

TEST_CASE("intervals step up and down and back")
{
    CHECK(next_interval(1, true) == 2);
    CHECK(next_interval(1, false) == 0.5);
    CHECK(next_interval(0.1, false) == 0.1);
    CHECK(next_interval(60, true) == 60);
    CHECK(next_interval(0.7, true) == 1);
    CHECK(next_interval(0.7, false) == 0.5);
}

TEST_CASE("beside a state a loop has no folders, but a name that was given stays")
{
    std::vector<JobSample> jobs = job_of(2);
    std::string& loop = jobs[0].ranks[0].guests[0].loop;
    View view;
    for (const auto& [name, shown_as] :
         {std::pair<const char*, const char*>{"../a/b.c:1:f", "b.c:1:f"}, {"a/b: c", "a/b: c"}, {"a/b", "a/b"}}) {
        loop = name;
        CHECK_THAT(shown(lay_out(jobs, view, 100, 24)), Contains(std::string("computing +1 on 1: ") + shown_as + " "));
    }
}

TEST_CASE("a job on a usual terminal")
{
    View view;
    const std::string text = shown(lay_out(job_of(4), view, 80, 24));
    CHECK_THAT(text, Contains("prog  job 12345678  4 ranks on host  2.0s"));
    CHECK_THAT(text, Contains("computing +1 on 1: prog.c"));
    CHECK_THAT(text, Contains("lent to 0, MPI_Recv"));
    CHECK_THAT(text, Contains("\nprog.c:10:main"));
    CHECK_THAT(text, Contains("efficiency 72 %, load balance 72 %"));
    CHECK_THAT(text, Contains("without stealing"));
    CHECK_THAT(text, !Contains(">"));
    CHECK_THAT(text, Contains("LOOP"));
    CHECK_THAT(text, Contains("q quit"));
    CHECK_THAT(text, !Contains("cannot be seen"));
}

TEST_CASE("tasks that wait are shown where a program has tasks")
{
    View view;
    auto jobs = job_of(2);
    CHECK_THAT(shown(lay_out(jobs, view, 80, 24)), !Contains("TASKS"));
    jobs[0].ranks[0].counters = {{"tasks_run", 5}, {"tasks_waiting", 1234}};
    jobs[0].ranks[1].counters = {{"tasks_run", 0}, {"tasks_waiting", 0}};
    const std::string text = shown(lay_out(jobs, view, 80, 24));
    CHECK_THAT(text, Contains("TASKS") && Contains("  1234 "));
}

TEST_CASE("any size of window gets no more than fits")
{
    for (int ranks : {1, 3, 70})
        for (unsigned workers : {0u, 2u}) {
            const auto jobs = job_of(ranks, workers);
            for (unsigned height = 0; height <= 50; height += height < 20 ? 1 : 15)
                for (unsigned width = 1; width <= 200; width += width < 40 ? 3 : 23)
                    for (int mode = 0; mode < 4; mode++) {
                        View view;
                        view.summary = mode == 1;
                        view.help = mode == 2;
                        view.message = mode == 3 ? "process 1: a file" : "";
                        view.scroll = 1000000;
                        const auto lines = lay_out(jobs, view, width, height);
                        if (lines.size() > height)
                            FAIL(lines.size() << " lines in " << height);
                        for (const Line& line : lines)
                            if (line.width() > width)
                                FAIL(line.width() << " columns in " << width << ": " << line.text());
                    }
        }
}

TEST_CASE("a row for each core in a window of a few lines")
{
    View view;
    const std::string text = shown(lay_out(job_of(4), view, 30, 5));
    CHECK_THAT(text, Contains("prog  job 12345678"));
    CHECK_THAT(text, Contains("   0 computing"));
}

TEST_CASE("cores of parallel regions, where they move")
{
    View view;
    view.summary = true;
    auto jobs = job_of(2);
    CHECK_THAT(shown(lay_out(jobs, view, 80, 24)), !Contains("parallel regions"));
    jobs[0].ranks[0].counters = {{"mpi_s", 1}, {"openmp_cores", 12}};
    jobs[0].ranks[1].counters = {{"mpi_s", 1}, {"openmp_cores", 4}};
    CHECK_THAT(shown(lay_out(jobs, view, 80, 24)), Contains("cores of parallel regions: 12 4"));
}

TEST_CASE("many ranks scroll")
{
    View view;
    const auto jobs = job_of(100);
    std::string text = shown(lay_out(jobs, view, 80, 24));
    CHECK_THAT(text, Contains("rows 1-"));
    CHECK_THAT(text, Contains("   0 computing"));
    CHECK_THAT(text, Contains("now: 1 computing, 99 lent"));
    CHECK_THAT(text, Contains("in: MPI_Recv 99"));
    CHECK_THAT(text, Contains("cores lent to rank: 0 99"));
    view.scroll = 1 << 20;
    text = shown(lay_out(jobs, view, 80, 24));
    CHECK_THAT(text, Contains("  99 lent to 0"));
    CHECK_THAT(text, Contains("of 100"));
    CHECK(view.scroll < 100); // so that the next key up is seen
    View summary;
    summary.summary = true;
    CHECK_THAT(shown(lay_out(jobs, summary, 80, 24)), !Contains("  99 lent") && Contains("99 lent,"));
}

TEST_CASE("sorting")
{
    auto jobs = job_of(3);
    View view;
    view.sort = Column::waiting;
    auto position = [&](const char* what) { return shown(lay_out(jobs, view, 80, 24)).find(what); };
    CHECK(position("   0 computing") > position("   1 lent"));
    view.reverse = true;
    CHECK(position("   0 computing") < position("   1 lent"));
    view.sort = Column::rank;
    CHECK(position("   1 lent") > position("   2 lent"));
}

TEST_CASE("workers have rows of their own")
{
    View view;
    const std::string text = shown(lay_out(job_of(2, 1), view, 80, 24));
    CHECK_THAT(text, Contains("  +1 no work"));
    CHECK_THAT(text, Contains("4 cores"));
}

TEST_CASE("what is special is said")
{
    View view;
    Reading r = rank_reading(0, 8, 1000 * ms);
    std::string text = shown(lay_out({sample({r}, {})}, view, 100, 24));
    CHECK_THAT(text, Contains("1 of 8 ranks here") && Contains("cannot be seen from here"));
    r.inactive = true;
    text = shown(lay_out({sample({r}, {})}, view, 100, 24));
    CHECK_THAT(text, Contains("runs without sharing"));
    r.inactive = false;
    r.alive = false;
    text = shown(lay_out({sample({r}, {})}, view, 100, 24));
    CHECK_THAT(text, Contains("1 rank died: the job is over") && Contains("whole run:") && Contains("   0 died"));
    CHECK_THAT(shown(lay_out({}, view, 80, 24)), Contains("no -workshare job runs"));
    view.message = "process 7: damaged";
    CHECK_THAT(shown(lay_out({}, view, 80, 24)), Contains("process 7: damaged"));
}

TEST_CASE("several jobs, one at a time")
{
    auto jobs = job_of(2);
    jobs.push_back(jobs[0]);
    jobs[1].id++;
    jobs[1].program = "other";
    View view;
    CHECK_THAT(shown(lay_out(jobs, view, 100, 24)), Contains("prog") && Contains("(job 1 of 2)"));
    view.job = jobs[1].id;
    CHECK_THAT(shown(lay_out(jobs, view, 100, 24)), Contains("other") && Contains("(job 2 of 2)"));
    view.job = 0;
    jobs[0].over = true; // none chosen: one that runs
    CHECK(shown_job(jobs, view) == 1);
}

TEST_CASE("the list for files has all rows")
{
    const std::string text = shown(list(job_of(100)[0], View(), 100));
    CHECK_THAT(text, Contains("  99 lent") && Contains("LOOP") && !Contains("q quit"));
}

TEST_CASE("JSON")
{
    const auto j = to_json(job_of(2), {{7, "damaged"}}, 12.5, "0.1");
    CHECK(j["schema"] == json_schema);
    CHECK(j["workshare"] == "0.1");
    CHECK(j["problems"][0]["pid"] == 7);
    const auto& job = j["jobs"][0];
    CHECK(job["job"] == "1234567800000000");
    CHECK(job["by_rank"].size() == 2);
    CHECK(job["by_rank"][0]["guests"][0]["home"] == 1);
    CHECK(job["by_rank"][0]["guests"][0]["loop"] == "/long/path/prog.c:10:main");
    CHECK(job["by_rank"][1]["cores"][0]["state"] == "lent");
    CHECK(job["by_rank"][1]["cores"][0]["tenant"] == 0);
    CHECK(job["by_rank"][1]["cores"][0]["call"] == "MPI_Recv");
    CHECK(job["by_rank"][0]["cores"][0]["call"].is_null());
    CHECK(job["interval"]["parallel_efficiency"].is_number());
    CHECK(j.dump().find('\n') == std::string::npos);
}
