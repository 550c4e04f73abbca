// SPDX-License-Identifier: MIT
#include "observe/calls.h"
#include "observe/phases.h"
#include "observe/report.h"
#include "base/os.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace ws::observe;

namespace {

// A rank whose phases begin; one after the other, because a process has the phases of one rank.
class PlayedPhases {
public:
    PlayedPhases()
    {
        board->observed = 1;
        board->attached_at = ws::base::ticks();
        show_calls_on(*board);
        first_phase(*board, board->attached_at);
    }
    ~PlayedPhases() { end_phases(ws::base::ticks()); }

    const PhaseRow& row(const std::vector<const char*>& path) const
    {
        unsigned at = 0;
        for (const char* name : path) {
            unsigned i = at + 1;
            while (i < board->phases_made && !(unsigned(board->phase_row(i).parent) == at &&
                                               std::strcmp(board->phase_row(i).name, name) == 0))
                i++;
            INFO(name);
            REQUIRE(i < board->phases_made);
            at = i;
        }
        return board->phase_row(at);
    }

    Board* const board = make_board(2, 0);
};

} // namespace

TEST_CASE("what is counted belongs to the phase that is present, and to no other")
{
    PlayedPhases p;
    Board& b = *p.board;
    LendCounters& home = b.seat(0).lend;
    begin_phase("step");
    b.process.mpi_ticks += 7000;
    begin_phase("solve");
    b.process.mpi_ticks += 500;
    home.blocked_ticks += 400;
    home.lent_ticks += 100;
    home.refused[2] += 3;
    home.refused_ticks[2] += 200;
    b.sums.borrowed_ticks += 60;
    b.sums.close_wait_ticks += 50;
    b.sums.loops_ticks += 90;
    b.sums.executions += 4;
    b.sums.executions_shared += 3;
    b.sums.executions_helped += 2;
    b.sums.iterations_stolen += 1000;
    b.lag_ticks += 11;
    end_phase();
    b.lag_ticks -= 5; // a wait took some of it back
    end_phase();
    begin_phase("solve");
    end_phase();

    const PhaseRow &solve = p.row({"step", "solve"}), &step = p.row({"step"}), &other = p.row({"solve"});
    CHECK(solve.entered == 1);
    CHECK(solve.mpi_ticks == 500);
    CHECK(solve.blocked_ticks == 400);
    CHECK(solve.lent_ticks == 100);
    CHECK(solve.refused[2] == 3);
    CHECK(solve.refused_ticks[2] == 200);
    CHECK(solve.borrowed_ticks == 60);
    CHECK(solve.close_wait_ticks == 50);
    CHECK(solve.loops_ticks == 90);
    CHECK(solve.executions == 4);
    CHECK(solve.executions_shared == 3);
    CHECK(solve.executions_helped == 2);
    CHECK(solve.iterations_stolen == 1000);
    CHECK(solve.lag_ticks == 11);
    CHECK(step.mpi_ticks == 7000);
    CHECK(step.blocked_ticks == 0);
    CHECK(step.refused_ticks[2] == 0);
    CHECK(step.lag_ticks == -5);
    CHECK(other.entered == 1);
    CHECK(other.mpi_ticks == 0);
    CHECK(b.phases_made == 4);
}

TEST_CASE("the own times of all phases are the run's time, to the tick")
{
    PlayedPhases p;
    for (int i = 0; i < 1000; i++) {
        begin_phase("a");
        begin_phase(i % 2 ? "b" : "c");
        phase_level(i % 3);
        end_phase();
        end_phase();
        phase_level(i % 4);
    }
    settle_phases();
    uint64_t sum = 0;
    for (unsigned i = 0; i < p.board->phases_made; i++)
        sum += p.board->phase_row(i).wall_ticks;
    const uint64_t passed = ws::base::ticks() - p.board->attached_at;
    CHECK(sum <= passed);
    CHECK(double(passed - sum) < 0.05 * double(passed) + 1e6); // from attached_at on, and since settle_phases()
}

TEST_CASE("a phase is its text: not its address, and only the first 111 bytes")
{
    PlayedPhases p;
    char name[300] = "one";
    begin_phase(name);
    end_phase();
    std::strcpy(name, "two");
    begin_phase(name);
    end_phase();
    const std::string one = "one", same = "one";
    begin_phase(one.c_str());
    end_phase();
    begin_phase(same.c_str());
    end_phase();
    CHECK(p.row({"one"}).entered == 3);
    CHECK(p.row({"two"}).entered == 1);
    for (int i = 0; i < 3; i++) {
        std::memset(name, 'x', sizeof name);
        name[i == 2 ? 110 : 120 + i] = '\0';
        begin_phase(name);
        end_phase();
    }
    CHECK(p.board->phases_made == 5);
    CHECK(p.row({std::string(111, 'x').c_str()}).entered == 2);
    CHECK(p.row({std::string(110, 'x').c_str()}).entered == 1);
    begin_phase(nullptr);
    end_phase();
    begin_phase("");
    end_phase();
    CHECK(p.row({"(no name)"}).entered == 2);
}

TEST_CASE("ten thousand names have a row each; what finds none is one phase")
{
    PlayedPhases p;
    std::vector<std::string> names;
    for (int i = 0; i < 20000; i++)
        names.push_back("name " + std::to_string(i));
    for (int turn = 0; turn < 2; turn++)
        for (const std::string& name : names) {
            begin_phase(name.c_str());
            end_phase();
        }
    CHECK(p.board->phases_made == phase_rows - 1);
    for (unsigned i = 1; i < phase_rows - 1; i++)
        if (p.board->phase_row(i).entered != 2 || p.board->phase_row(i).name != names[i - 1]) {
            CHECK(p.board->phase_row(i).name == names[i - 1]);
            CHECK(p.board->phase_row(i).entered == 2);
            break;
        }
    CHECK(p.board->phase_row(phase_rows - 1).entered == 2 * (names.size() - (phase_rows - 2)));
    begin_phase("name 19999");
    begin_phase("inside"); // of one without a row
    end_phase();
    end_phase();
    settle_phases();
    ReportBuilder b;
    b.add(unpack_rank(pack(rank_figures(*p.board, ws::base::ticks(), 1000, ""))));
    const Report r = b.finish();
    CHECK(r.phases.size() == phase_rows);
}

TEST_CASE("a level of MPI_Pcontrol is a phase inside the named one, and ends with it at the latest; level 1 is none")
{
    PlayedPhases p;
    phase_level(1);
    CHECK(p.board->phases_made == 1);
    phase_level(2);
    phase_level(2);
    begin_phase("solve");
    CHECK(is_open("phase 2"));
    phase_level(3);
    CHECK(is_open("phase 3"));
    CHECK(is_open("solve"));
    phase_level(2);
    CHECK_FALSE(is_open("phase 3"));
    end_phase();
    CHECK_FALSE(is_open("solve"));
    CHECK(p.board->phase == 1);
    phase_level(1);
    CHECK(p.board->phase == 0);
    phase_level(-2);
    CHECK(p.row({"phase 2"}).entered == 1);
    CHECK(p.row({"phase 2"}).level == 2);
    CHECK(p.row({"phase 2", "solve", "phase 3"}).entered == 1);
    CHECK(p.row({"phase 2", "solve", "phase 2"}).level == 2);
    CHECK(p.row({"phase 2", "solve"}).level == named_phase);
    CHECK(p.row({"phase -2"}).level == -2);
    CHECK(phase_faults().left_open == 0); // levels need no end
}

TEST_CASE("ends and phases that do not match are told, and do no harm")
{
    PlayedPhases p;
    CHECK(end_phase() == no_row);
    CHECK(phase_faults().ends == 1);
    CHECK(phase_faults().ended_before == std::string());
    begin_phase("a");
    end_phase();
    phase_level(5);
    CHECK(end_phase() == no_row); // a level is no named phase
    CHECK(p.board->phase == 2);
    phase_level(1);
    CHECK(phase_faults().ends == 2);
    for (unsigned i = 0; i < 100; i++)
        begin_phase("deeper");
    CHECK(p.board->phases_made == 2 + most_open_phases);
    CHECK(phase_faults().left_open == 100);
    for (unsigned i = 0; i < 98; i++)
        end_phase();
    CHECK(phase_faults().left_open == 2);
    CHECK(phase_faults().open == std::string("deeper"));
    std::thread([] {
        CHECK(begin_phase("of a thread") == no_row);
        CHECK(end_phase() == no_row);
    }).join();
    CHECK(phase_faults().other_threads == 2);
    CHECK(phase_faults().called_with == std::string("of a thread"));
    CHECK(p.board->phases_made == 2 + most_open_phases);
}

TEST_CASE("before and after the run phases are nothing")
{
    {
        PlayedPhases p;
        begin_phase("a");
    }
    CHECK(begin_phase("b") == no_row);
    CHECK(end_phase() == no_row);
    phase_level(4);
    settle_phases();
    CHECK_FALSE(is_open("a"));
}
