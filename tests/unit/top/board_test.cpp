// SPDX-License-Identifier: MIT
//
// What ws-top reads from a board, and that it reads nothing from a file that is none.
#include "json.h"
#include "text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <random>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ws::top;

namespace {

ws::observe::Board* board; // of this process

// A right board of a rank with a worker on a node of three cores, made as a job makes it.
ws::observe::Board& made()
{
    static const bool done = (board = ws::observe::make_board(3, 1)) != nullptr;
    REQUIRE(done);
    ws::observe::Board& b = *board;
    b.rank = 1;
    b.size = 2;
    b.node_rank = 1;
    b.node_ranks = 2;
    b.job = 0xabc;
    b.ticks_per_us = 1000;
    b.first_worker = 2;
    std::strcpy(b.host, "here");
    std::strcpy(b.program, "prog\x1b[31m");
    ws::observe::show_board(*board);
    return b;
}

// A file with the board's first `bytes`, after `spoil`.
template <class Spoil>
int file_with(uint64_t bytes, Spoil&& spoil)
{
    ws::observe::Board& b = made();
    std::vector<char> copy(reinterpret_cast<char*>(&b), reinterpret_cast<char*>(&b) + b.bytes);
    alignas(ws::observe::Board) char head[sizeof(ws::observe::Board)];
    std::memcpy(head, copy.data(), sizeof head);
    spoil(*reinterpret_cast<ws::observe::Board*>(head));
    std::memcpy(copy.data(), head, sizeof head);
    const int fd = memfd_create("test", MFD_CLOEXEC);
    copy.resize(bytes);
    REQUIRE(write(fd, copy.data(), bytes) == ssize_t(bytes));
    return fd;
}

std::string wrong_with(uint64_t bytes, void (*spoil)(ws::observe::Board&))
{
    BoardFile file(file_with(bytes, spoil));
    Reading r;
    bool unmade;
    const std::string wrong = file.read(r, unmade);
    return unmade ? "unmade" : wrong;
}

void nothing(ws::observe::Board&) {}

} // namespace

TEST_CASE("a board is read as it was written")
{
    ws::observe::Board& b = made();
    ws::observe::Seat& home = b.seat(0);
    home.kind = ws::base::Flag(ws::observe::SeatKind::home);
    home.core = 1;
    home.call = 0;
    home.lend.blocked_ticks = 5;
    home.lend.lends = 6;
    home.waits_since = 7;
    ws::observe::show(home, ws::observe::Seated::lent, 8, 0);
    ws::observe::Seat& guest = b.guest_seat(2);
    guest.kind = ws::base::Flag(ws::observe::SeatKind::guest);
    guest.loop = 0;
    guest.visit.chunks = 9;
    ws::observe::show(guest, ws::observe::Seated::visiting, 10, 0);
    std::strcpy(b.call(0).name, "MPI_Recv");
    std::strcpy(b.loop(0).name, "a.c:1 f");
    b.loop(0).kept_chunks = 11;
    std::strcpy(b.loop(1).name, "b\xc3\xa4.c:2 g");
    std::strcpy(b.phase_row(1).name, "step");
    std::strcpy(b.phase_row(2).name, "solve");
    b.phase_row(0).parent = ws::observe::no_parent;
    b.phase_row(2).parent = 1;
    b.phase_row(2).wall_ticks = 12;
    b.phases_made = 3;
    b.phase = 2;
    BoardFile file(file_with(b.bytes, nothing));
    Reading r;
    bool unmade;
    REQUIRE(file.read(r, unmade) == "");
    CHECK_FALSE(unmade);
    CHECK(r.rank == 1);
    CHECK(r.size == 2);
    CHECK(r.job == 0xabc);
    CHECK(r.host == "here");
    CHECK(r.program == "prog?[31m"); // no control characters get to a terminal
    CHECK(r.cores() == 2);
    REQUIRE(r.seats.size() == 5);
    CHECK(r.seats[0].state == ws::observe::Seated::lent);
    CHECK(r.seats[0].other == 0);
    CHECK(r.seats[0].since == 8);
    CHECK(r.seats[0].waits_since == 7);
    CHECK(r.seats[0].lend.blocked_ticks == 5);
    CHECK(r.seats[0].lend.lends == 6);
    REQUIRE(r.guest(2));
    CHECK(r.guest(2)->visit.chunks == 9);
    CHECK(r.guest(2)->state == ws::observe::Seated::visiting);
    CHECK_FALSE(r.guest(3));
    REQUIRE(r.loops.size() == 2);
    CHECK(r.loops[0].name == "a.c:1 f");
    CHECK(r.loops[0].kept_chunks == 11);
    CHECK(r.loops[1].name == "b\xc3\xa4.c:2 g");
    REQUIRE(r.calls.size() >= 1);
    CHECK(r.calls[0] == "MPI_Recv");
    REQUIRE(r.phases.size() == 3);
    CHECK(r.phases[0].path == "");
    CHECK(r.phases[1].path == "step");
    CHECK(r.phases[2].path == "step/solve");
    CHECK(r.phases[2].wall_ticks == 12);
    CHECK(r.present_phase == 2);
    CHECK(r.phase == "step/solve");
    CHECK_FALSE(r.over());
}

TEST_CASE("more phases than ws-top keeps are read as one, and no time of theirs is lost")
{
    ws::observe::Board& b = made();
    b.phase_row(0).parent = ws::observe::no_parent;
    for (unsigned i = 1; i < ws::observe::phase_rows; i++) {
        std::strcpy(b.phase_row(i).name, "p");
        b.phase_row(i).parent = i % 2 ? 0 : int32_t(i) - 1;
        b.phase_row(i).wall_ticks = 1;
    }
    b.phases_made = ws::observe::phase_rows - 1; // the last stands for those without a row
    b.phase = ws::observe::phase_rows - 1;
    BoardFile file(file_with(b.bytes, nothing));
    Reading r;
    bool unmade;
    REQUIRE(file.read(r, unmade) == "");
    REQUIRE(r.phases.size() == most_phases);
    CHECK(r.phases.back().path == ws::observe::other_phases);
    uint64_t time = 0;
    for (const PhaseReading& p : r.phases)
        time += p.wall_ticks;
    CHECK(time == ws::observe::phase_rows - 1);
    CHECK(r.present_phase == most_phases - 1);
    for (unsigned i = 1; i < ws::observe::phase_rows; i++)
        b.phase_row(i).name[0] = 0;
    b.phases_made = b.phase = 0;
}

TEST_CASE("files that are no board of this version")
{
    const uint64_t all = made().bytes;
    CHECK(wrong_with(all, nothing) == "");
    CHECK(wrong_with(0, nothing) == "unmade");
    CHECK(wrong_with(all, [](ws::observe::Board& b) { b.magic = 0; }) == "unmade");
    CHECK_THAT(wrong_with(4, nothing), Catch::Contains("not a board"));
    CHECK_THAT(wrong_with(all, [](ws::observe::Board& b) { b.magic++; }), Catch::Contains("is not Workshare's"));
    CHECK_THAT(wrong_with(all, [](ws::observe::Board& b) { b.version++; }), Catch::Contains("newer"));
    // whose head may be shorter
    CHECK_THAT(wrong_with(200, [](ws::observe::Board& b) { b.version++; }), Catch::Contains("newer"));
    CHECK_THAT(wrong_with(all, [](ws::observe::Board& b) { b.version = 0; }), Catch::Contains("older"));
    CHECK_THAT(wrong_with(200, nothing), Catch::Contains("cut short"));
    CHECK_THAT(wrong_with(all - 1, nothing), Catch::Contains("cut short"));
}

TEST_CASE("boards whose parts lie elsewhere are refused, whatever they say")
{
    const uint64_t all = made().bytes;
    void (*const spoils[])(ws::observe::Board&) = {
        [](ws::observe::Board& b) { b.seats_at = b.bytes; },
        [](ws::observe::Board& b) { b.seats_at = ~uint64_t(0) - 64; },
        [](ws::observe::Board& b) { b.seats_at = 8; },
        [](ws::observe::Board& b) { b.seats = ~uint32_t(0); },
        [](ws::observe::Board& b) { b.seats = 1; },
        [](ws::observe::Board& b) { b.seat_bytes = 0; },
        [](ws::observe::Board& b) { b.seat_bytes = 8; },
        [](ws::observe::Board& b) { b.seat_bytes = ~uint32_t(0); },
        [](ws::observe::Board& b) { b.own_workers = ~uint32_t(0); },
        [](ws::observe::Board& b) { b.node_cores = ~uint32_t(0); },
        [](ws::observe::Board& b) { b.loops_at = b.bytes - 8; },
        [](ws::observe::Board& b) { b.loop_row_count = 1 << 20; },
        [](ws::observe::Board& b) { b.loop_row_bytes = 0; },
        [](ws::observe::Board& b) { b.calls_at = ~uint64_t(0); },
        [](ws::observe::Board& b) { b.call_row_bytes = 1; },
        [](ws::observe::Board& b) { b.head_bytes = 1; },
        [](ws::observe::Board& b) { b.rank = -1; },
        [](ws::observe::Board& b) { b.rank = b.size; },
        [](ws::observe::Board& b) { b.size = 0; },
        [](ws::observe::Board& b) { b.node_rank = INT_MIN; },
        [](ws::observe::Board& b) { b.ticks_per_us = 0; },
        [](ws::observe::Board& b) { b.ticks_per_us = -1; },
        [](ws::observe::Board& b) { b.ticks_per_us = 1e-300; },
        [](ws::observe::Board& b) { b.ticks_per_us = 1e300; },
        [](ws::observe::Board& b) { b.ticks_per_us = __builtin_nan(""); },
        [](ws::observe::Board& b) { b.ticks_per_us = __builtin_inf(); },
    };
    int i = 0;
    for (auto spoil : spoils) {
        INFO("spoil " << i++);
        CHECK_THAT(wrong_with(all, spoil), Catch::Contains("damaged"));
    }
    CHECK_THAT(wrong_with(all, [](ws::observe::Board& b) { b.bytes += 4096; }), Catch::Contains("cut short"));
}

TEST_CASE("boards with any word of them changed are refused or shown")
{
    ws::observe::Board& b = made();
    const std::vector<char> good(reinterpret_cast<char*>(&b), reinterpret_cast<char*>(&b) + b.bytes);
    const int fd = memfd_create("test", MFD_CLOEXEC), second = dup(fd);
    BoardFile file(fd);
    std::mt19937_64 random(5);
    const uint64_t values[] = {0, 1, 2, 3, 100, 0xffffffff, ~uint64_t(0), uint64_t(1) << 63, 0x7ff0000000000000, 0xff};
    int read = 0, refused = 0;
    for (int i = 0; i < 600; i++) {
        std::vector<char> bad = good;
        for (uint64_t n = random() % 4 + 1; n > 0; n--) {
            // The head, the seats and the first rows; all but magic, version and size, which is too easy.
            const uint64_t at = 32 + random() % (random() % 2 ? sizeof(ws::observe::Board) - 40
                                                              : b.loops_at + 2 * sizeof(ws::observe::LoopRow) - 40);
            const uint64_t value = random() % 2 ? values[random() % 10] : random();
            std::memcpy(bad.data() + at, &value, random() % 2 ? 8 : 4);
        }
        REQUIRE(pwrite(second, bad.data(), bad.size(), 0) == ssize_t(bad.size()));
        Reading r;
        bool unmade;
        if (!file.read(r, unmade).empty()) {
            refused++;
            continue;
        }
        read++;
        std::map<int, Reading> before{{r.rank, r}};
        Reading later = r;
        later.at += 1000000;
        for (const std::vector<JobSample>& jobs :
             {std::vector<JobSample>{sample({later}, before)}, std::vector<JobSample>{sample({r}, {})}}) {
            View view;
            for (const Line& line : lay_out(jobs, view, 100, 40))
                REQUIRE(line.width() <= 100);
            REQUIRE(
                !to_json(jobs, {}, 0, "0.1").dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).empty());
        }
    }
    CHECK(read > 50);
    CHECK(refused > 20);
    close(second);
}

TEST_CASE("a board that shrinks while it is open")
{
    const int fd = file_with(made().bytes, nothing);
    const int second = dup(fd);
    BoardFile file(fd);
    Reading r;
    bool unmade;
    CHECK(file.read(r, unmade) == "");
    REQUIRE(ftruncate(second, sizeof(ws::observe::Board) + 10) == 0);
    CHECK_THAT(file.read(r, unmade), Catch::Contains("cut short"));
    close(second);
}

TEST_CASE("the text of others")
{
    const auto c = [](const char* text) { return clean(text, std::strlen(text)); };
    CHECK(c("plain") == "plain");
    CHECK(c("\t\n\x7f") == "???");
    CHECK(c("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80") == "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK(c("\xc3") == "?");
    CHECK(c("\xff\xfe") == "??");
    CHECK(c("\xc2\x9b") == "??");         // a control sequence's begin in one character
    CHECK(c("\xe2\x80\xae") == "???");    // reverses the direction of text
    CHECK(c("\xc0\xaf\xed\xa0\x80") == "?????");
    CHECK(clean("abcdef", 3) == "abc");   // not ended by a zero
}

TEST_CASE("processes")
{
    const auto me = read_process(getpid());
    REQUIRE(me);
    CHECK(me->parent == getppid());
    CHECK(me->started > 0);
    CHECK_FALSE(me->ended);
    CHECK(descends_from(getpid(), getppid()));
    CHECK(descends_from(getpid(), getpid()));
    CHECK_FALSE(descends_from(getppid(), getpid()));
    CHECK_FALSE(read_process(INT_MAX));
}

TEST_CASE("a process whose main thread has left is found, and has not ended")
{
    int told[2];
    REQUIRE(pipe(told) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(60);
        pthread_t thread;
        if (!(board = ws::observe::make_board(1, 0)) || pthread_create(
                                                  &thread, nullptr,
                                                  [](void*) -> void* {
                                                      for (;;)
                                                          pause();
                                                  },
                                                  nullptr))
            _exit(1);
        board->size = board->node_ranks = 1;
        board->ticks_per_us = 1000;
        ws::observe::show_board(*board);
        close(told[0]);
        close(told[1]);
        syscall(SYS_exit, 0); // pthread_exit() would unwind the test's frames
    }
    close(told[1]);
    char byte;
    CHECK(read(told[0], &byte, 1) == 0); // it has shown its board
    close(told[0]);
    auto left = [&] {
        const auto process = read_process(child);
        return process && access(("/proc/" + std::to_string(child) + "/fd/0").c_str(), F_OK) != 0 ? process
                                                                                                  : std::nullopt;
    };
    for (int i = 0; i < 5000 && !left(); i++)
        usleep(1000);
    REQUIRE(left());
    CHECK_FALSE(left()->ended);
    Finder finder(false);
    finder.scan();
    CHECK(std::count_if(finder.boards.begin(), finder.boards.end(), [&](const auto& m) { return m.pid == child; }) ==
          1);
    kill(child, SIGKILL);
    siginfo_t info;
    REQUIRE(waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) == 0);
    CHECK(read_process(child)->ended);
    waitpid(child, nullptr, 0);
}

namespace {

// A process that is a job of one rank, as far as ws-top can see: it has a board and a page in the node book.
class Job {
public:
    Job()
    {
        int up[2];
        REQUIRE(pipe(up) == 0);
        pid = fork();
        if (pid == 0) {
            for (const int s : {SIGTERM, SIGABRT, SIGSEGV}) // not by Catch's handlers
                signal(s, SIG_DFL);
            alarm(20);
            static ws::book::Reader page;
            std::string problem;
            char joined = 0;
            if (page.join(ws::book::open_book(problem), ws::base::own_process(), uint64_t(getpid()), 0,
                          ws::base::CpuSet().mask()) &&
                (board = ws::observe::make_board(1, 0))) {
                board->size = board->node_ranks = 1;
                board->job = uint64_t(getpid());
                board->ticks_per_us = 1000;
                ws::observe::show_board(*board);
                joined = 1;
            }
            (void) !write(up[1], &joined, 1);
            for (;;)
                pause();
        }
        char joined = 0;
        close(up[1]);
        REQUIRE(read(up[0], &joined, 1) == 1);
        close(up[0]);
        REQUIRE(joined == 1);
    }
    ~Job()
    {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
    Job(const Job&) = delete;
    pid_t pid;
};

bool found(const Finder& finder, pid_t pid)
{
    return std::any_of(finder.boards.begin(), finder.boards.end(),
                       [&](const Finder::FoundBoard& m) { return m.pid == pid; });
}

} // namespace

TEST_CASE("a board belongs to the process that writes it, not to one that has it open to read")
{
    const Job job;
    const std::string folder = "/proc/" + std::to_string(job.pid) + "/fd/";
    int last = -1; // its board's: a copy of this process's own has a lower number
    for (int fd = 0; fd < 1000; fd++) {
        char target[64] = {};
        if (readlink((folder + std::to_string(fd)).c_str(), target, sizeof target - 1) > 0 &&
            std::strstr(target, ws::observe::board_name))
            last = fd;
    }
    REQUIRE(last >= 0);
    const int reader = open((folder + std::to_string(last)).c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(reader >= 0);
    Finder finder(false);
    finder.scan(); // comes to this process first
    CHECK(found(finder, job.pid));
    close(reader);
}

TEST_CASE("a new job is found in the node book, without a look at all processes")
{
    const Job first;
    Finder finder(false);
    finder.scan();
    REQUIRE(found(finder, first.pid));
    const Job second;
    finder.scan_now_and_then(false); // the last look at all processes was a moment ago
    CHECK(found(finder, second.pid));
}

TEST_CASE("a job that comes after the last one of a book has ended is found in a book of its own")
{
    Finder finder(false);
    {
        const Job last;
        finder.scan();
        REQUIRE(found(finder, last.pid));
    }
    finder.boards.clear();
    const Job next;
    finder.scan();
    CHECK(found(finder, next.pid));
    const Job another;
    finder.scan_now_and_then(false);
    CHECK(found(finder, another.pid));
}

TEST_CASE("a file named as the node book that is none is passed over")
{
    const int fd = memfd_create(ws::book::file_name, MFD_CLOEXEC);
    REQUIRE(ftruncate(fd, 100) == 0);
    CHECK_FALSE(BookFile(dup(fd)).is_book());
    CHECK(BookFile(dup(fd)).processes().empty());
    Finder finder(false);
    finder.scan();
    const Job job;
    finder.scan_now_and_then(false); // finds it only if another job runs on this machine, whose book it is in then
    if (!found(finder, job.pid))
        finder.scan();
    CHECK(found(finder, job.pid));
    close(fd);
}
