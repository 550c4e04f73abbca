// SPDX-License-Identifier: MIT
//
// What is made of a board does not change unasked: every counter of two made-up boards has a value of its own, and the
// reports of them are compared with files that an earlier version wrote (golden/). A new counter is a new line there,
// by WS_WRITE_GOLDEN=1.
#include "observe/report.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace ws::observe;
using namespace ws::base;

namespace {

// Each word that asks gets a value of its own.
class Values {
public:
    explicit Values(uint64_t rank) : next_(1000000 * (rank + 1)) {}
    template <class Word> void operator()(Word& word) { word = Word(next_ += 137); }

private:
    uint64_t next_;
};

void fill(LendCounters& c, Values& v)
{
    v(c.blocked_ticks), v(c.lent_ticks), v(c.lends), v(c.claims_lost), v(c.recalls), v(c.refusals), v(c.moves),
        v(c.naps), v(c.naps_ticks), v(c.wakes);
    for (unsigned k = 0; k < refusal_kinds; k++)
        v(c.refused[k]), v(c.refused_ticks[k]);
}

void fill(LoopRow& l, const char* name, Values& v)
{
    std::strcpy(l.name, name);
    v(l.whole_executions), v(l.timed_iterations), v(l.timed_executions), v(l.whole_iterations), v(l.timed_ticks),
        v(l.cut_executions), v(l.cut_iterations);
    v(l.kept_chunks), v(l.executions_shared), v(l.shared_iterations), v(l.executions_helped), v(l.close_wait_ticks),
        v(l.executions_unpaid);
    v(l.chunks_stolen), v(l.iterations_stolen), v(l.borrowed_ticks), v(l.longest_chunk_ticks), v(l.cut_ticks);
}

RankFigures figures_of(int rank)
{
    Board* const board = make_board(4, 1);
    REQUIRE(board);
    Board& b = *board;
    Values v{uint64_t(rank)};
    b.rank = b.node_rank = rank;
    b.size = b.node_ranks = 2;
    b.first_worker = unsigned(2 + rank);
    b.node_cpus = 4;
    b.attached_at = 5000;
    b.attached_at_unix = 1700000000000000000;
    b.observed = 1;
    std::strcpy(b.host, "node");
    std::strcpy(b.program, "/bin/golden");
    v(b.lag_ticks), v(b.process.executions_plain), v(b.process.worker_chunks), v(b.process.guests_refused),
        v(b.process.guests_barred), v(b.process.mpi_ticks);
    const SeatKind kinds[] = {SeatKind::home,  SeatKind::worker, SeatKind::guest,
                              SeatKind::guest, SeatKind::none,   SeatKind::none};
    for (unsigned i = 0; i < b.seats; i++) {
        Seat& s = b.seat(i);
        s.kind = Flag(kinds[i]);
        s.core = i < 2 ? unsigned(rank) + 2 * i : i - 2;
        if (kinds[i] == SeatKind::none)
            continue;
        fill(s.lend, v);
        v(s.visit.visits), v(s.visit.chunks), v(s.visit.iterations), v(s.visit.borrowed_ticks);
        s.steal_latency[10 + i] = 7;
        s.return_latency[12] = 9 + i;
    }
    b.loops_made = 2;
    fill(b.loop(0), "a.c:1:main", v);
    fill(b.loop(1), rank ? "b.c:2:other" : "c.c:3:more", v);
    std::strcpy(b.call(0).name, "MPI_Allreduce");
    v(b.call(0).calls), v(b.call(0).time_ticks), v(b.call(0).waits), v(b.call(0).blocked_ticks),
        v(b.call(0).lent_ticks);
    b.phases_made = 3;
    for (unsigned i = 0; i < 3; i++) {
        PhaseRow& p = b.phase_row(i);
        std::strcpy(p.name, i == 0 ? "" : i == 1 ? "phase 2" : rank ? "write" : "solve");
        p.parent = i == 0 ? no_parent : i == 1 ? 0 : 1;
        p.level = i == 2 ? named_phase : i + 1;
        v(p.entered), v(p.wall_ticks), v(p.mpi_ticks), v(p.blocked_ticks), v(p.lent_ticks), v(p.borrowed_ticks),
            v(p.close_wait_ticks), v(p.lag_ticks), v(p.loops_ticks), v(p.executions), v(p.executions_shared),
            v(p.executions_helped), v(p.iterations_stolen);
        for (unsigned k = 0; k < refusal_kinds; k++)
            v(p.refused[k]), v(p.refused_ticks[k]);
        p.counted_ticks = 1000 * (i + 1);
        p.instructions = 3000 * (i + rank + 1);
        p.cycles = 2000 * (i + 1);
    }
    b.loop(0).phase = 2;
    b.loop(1).phase = rank ? 3 : in_several;
    b.process.openmp_cores = rank ? 5 : 11;
    RankFigures figures = rank_figures(b, 5000 + 40000000, 1.0, rank ? "no window" : "");
    figures.cores = {{0, 0, 0, 8}, {1, rank ? 1.25 : 1.2, 3, rank ? 6. : 10.}, {3, 2.5 + rank, 12, rank ? 5. : 11.}};
    for (unsigned i = 0; i < 4; i++)
        figures.over_time.push_back({0.25 * i, rank ? 0.125 : 0, 1.5 * rank});
    return unpack_rank(pack(figures));
}

// The file's text, which `now` replaces if that is asked for.
std::string golden(const char* name, const std::string& now)
{
    const std::string path = std::string(WS_GOLDEN) + "/" + name;
    if (std::getenv("WS_WRITE_GOLDEN"))
        std::ofstream(path) << now;
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("reports of the same boards are the same, byte for byte")
{
    ReportBuilder b;
    for (int rank : {0, 1})
        b.add(figures_of(rank));
    Report r = b.finish();
    r.workshare = "0.1.0";
    r.verdict = "workshare: a verdict";
    CHECK(report_json(r) == golden("report.json", report_json(r)));
    CHECK(report_csv(r) == golden("report.csv", report_csv(r)));
    CHECK(report_text(r) == golden("report.txt", report_text(r)));
    const Report read = read_report(report_json(r));
    CHECK(report_json(read) == report_json(r));
}
