// SPDX-License-Identifier: MIT
//
// What a new counter takes is a line: this is compiled with lists that have one more each (one_more.py), and nothing
// else knows of them.
#include "observe/report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace ws::observe;
using namespace ws::base;

TEST_CASE("a counter that only its list has is on the board, in the figures and in every report")
{
    Board* const board = make_board(2, 1);
    REQUIRE(board);
    board->node_ranks = board->size = 1;
    for (unsigned i : {0, 1}) {
        board->seat(i).kind = Flag(i ? SeatKind::worker : SeatKind::home);
        board->seat(i).lend.more_lends = 5 + i;
        board->seat(i).lend.more_wait_ticks = 3000000;
    }
    board->process.more_threads = 7;
    LoopRow& l = new_loop_row(*board, "a.c:1:main");
    l.whole_executions = 1;
    l.more_turns = 40;
    ReportBuilder b;
    b.add(unpack_rank(pack(rank_figures(*board, 1000000, 1, ""))));
    const Report r = b.finish();
    CHECK(r.totals.more_lends == 11);
    CHECK(r.totals.more_wait_s == Approx(6));
    CHECK(r.totals.more_threads == 7);
    const auto j = nlohmann::json::parse(report_json(r));
    CHECK(j["totals"]["more_lends"] == 11);
    CHECK(j["by_rank"][0]["totals"]["more_wait_s"] == Approx(6));
    CHECK(j["by_node"][0]["totals"]["more_threads"] == 7);
    CHECK(j["by_loop"][0]["more_turns"] == 40);
    CHECK_FALSE(j["totals"].contains("more_hidden"));
    const std::string csv = report_csv(r);
    for (const char* line :
         {"\n,,,,,more_lends,11,count\n", "\n0,0,,,,more_wait,6,s\n", "\n,,a.c:1:main,,,more_turns,40,count\n"})
        CHECK(csv.find(line) != csv.npos);
    CHECK(report_json(read_report(report_json(r))) == report_json(r));
    auto old = j; // of a version that did not have them
    old["totals"].erase("more_lends");
    old["by_loop"][0].erase("more_turns");
    CHECK(read_report(old.dump()).totals.more_lends == 0);
    old["totals"].erase("lends");
    CHECK_THROWS(read_report(old.dump()));
}
