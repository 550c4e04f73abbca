// SPDX-License-Identifier: MIT
//
// made_up_job RANKS SECONDS [WORKERS [SIZE [ENDING]]]: processes with boards as those of a job have them, and no MPI.
// They end after SECONDS, or when the first process gets SIGUSR1.
// Rank 0 computes all the time. Each other, every 100 ms: computes for 20 ms, is blocked in MPI_Allreduce for 20, then
// its core is lent to rank 0 for 40, then asleep for 20. ENDING: "finish", or "die", which leaves out the end.
// made_up_job foreign|unmade|short|empty|newer|damaged SECONDS: one process with a file of that name that is no good
// board. made_up_job pipe SECONDS: one process that has a named pipe open which is called as a board is; status 77
// where it may not.
#include "observe/board.h"
#include "base/os.h"
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ws::observe;
using namespace ws::base;

namespace {

Board* board; // of this process

std::atomic<uint64_t>* over_at; // of all processes

double ticks_per_us;
uint64_t ticks_of(double seconds) { return uint64_t(seconds * 1e6 * ticks_per_us); }

void fill_head(int rank, int size, int ranks, unsigned workers, uint64_t job, uint64_t began)
{
    Board& b = *board;
    b.job = job;
    b.rank = b.node_rank = rank;
    b.size = size;
    b.node_ranks = ranks;
    b.first_worker = unsigned(ranks) + unsigned(rank) * workers;
    b.ticks_per_us = ticks_per_us;
    b.attached_at = began;
    gethostname(b.host, sizeof b.host - 1);
    std::strcpy(b.program, "/somewhere/made_up");
    b.seat(0).kind = Flag(SeatKind::home);
    b.seat(0).core = unsigned(rank);
    show(b.seat(0), Seated::computing, began);
    for (unsigned w = 0; w < workers; w++) {
        b.seat(1 + w).kind = Flag(SeatKind::worker);
        b.seat(1 + w).core = b.first_worker + w;
        show(b.seat(1 + w), Seated::asleep, began);
    }
    for (unsigned c = 0; c < b.node_cores; c++)
        b.guest_seat(c).core = c;
    std::strcpy(b.loop(0).name, "made_up.c:12 sweep");
    std::strcpy(b.loop(1).name, "made_up.c:30 smooth");
    std::strcpy(b.call(0).name, "MPI_Allreduce");
    std::strcpy(b.phase_row(1).name, "step");
    std::strcpy(b.phase_row(2).name, "solve");
    b.phase_row(0).parent = no_parent;
    b.phase_row(2).parent = 1;
    b.phases_made = 3;
    b.phase = b.rank == 0 ? 2 : 0;
}

// What has happened in the `phase` seconds since a cycle began, as it is told when it is over.
void run(int rank, int ranks, uint64_t began)
{
    Board& b = *board;
    const int parts = 5;
    for (int step = 0;; step++) {
        const double from = 0.02 * step, to = from + 0.02;
        const uint64_t now = began + ticks_of(from);
        if (now > over_at->load(std::memory_order_relaxed)) // it is all they share
            return;
        const int part = step % parts;
        if (rank > 0) {
            Seat& s = b.seat(0);
            s.call = 0;
            switch (part) {
            case 0:
                s.lend.blocked_ticks = step / parts * ticks_of(0.08);
                s.lend.naps_ticks = step / parts * ticks_of(0.02);
                s.waits_since = 0;
                show(s, Seated::computing, now);
                break;
            case 1:
                s.waits_since = now;
                show(s, Seated::blocked, now);
                break;
            case 2:
                s.lend.lends++;
                show(s, Seated::lent, now, 0);
                break;
            case 4:
                s.lend.lent_ticks = (step / parts + 1) * ticks_of(0.04);
                show(s, Seated::asleep, now);
            }
        } else
            for (int r = 1; r < ranks; r++) {
                Seat& s = b.guest_seat(unsigned(r));
                if (part == 2) {
                    s.kind = Flag(SeatKind::guest);
                    s.loop = r % 2 ? 0 : 1;
                    show(s, Seated::visiting, now, unsigned(r));
                } else if (part == 4) {
                    s.visit.visits++;
                    s.visit.chunks += 10;
                    s.visit.iterations += 100;
                    s.visit.borrowed_ticks = (step / parts + 1) * ticks_of(0.04);
                    LoopRow& l = b.loop(s.loop);
                    bump(l.chunks_stolen, 10);
                    bump(l.iterations_stolen, 100);
                    bump(l.borrowed_ticks, ticks_of(0.04));
                    bump(l.cut_executions);
                    bump(l.kept_chunks, 5);
                    bump(l.cut_ticks, ticks_of(0.02));
                    show(s, Seated::away, now);
                }
            }
        const double wait = to - double(ticks() - began) / ticks_per_us * 1e-6;
        if (wait > 0)
            usleep(unsigned(wait * 1e6));
    }
}

int file_of(size_t bytes)
{
    const int fd = memfd_create(board_name, MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, off_t(bytes)) != 0)
        std::exit(3);
    return fd;
}

// A named pipe that /proc/PID/fd shows as "/memfd:workshare-board": it lies at the root of a file system that is
// mounted no more.
bool open_pipe()
{
    const std::string folder = "/tmp/made-up-" + std::to_string(getpid()), name = folder + "/memfd:" + board_name;
    if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0 || mkdir(folder.c_str(), 0700) != 0)
        return false;
    const bool opened = mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                        mount("none", folder.c_str(), "tmpfs", 0, nullptr) == 0 && mkfifo(name.c_str(), 0600) == 0 &&
                        open(name.c_str(), O_PATH) >= 0 && umount2(folder.c_str(), MNT_DETACH) == 0;
    rmdir(folder.c_str());
    return opened;
}

int no_board(const char* kind, double seconds)
{
    uint64_t text[64] = {0x21656c7069636e69, 42};
    if (!std::strcmp(kind, "foreign")) {
        if (pwrite(file_of(sizeof text), text, sizeof text, 0) < 0)
            return 3;
    } else if (!std::strcmp(kind, "pipe")) {
        if (!open_pipe())
            return 77;
    } else if (!std::strcmp(kind, "empty"))
        file_of(0);
    else if (!std::strcmp(kind, "unmade"))
        file_of(100000);
    else {
        if (!(board = make_board(2, 0)))
            return 3;
        ticks_per_us = 1000;
        fill_head(0, 1, 1, 0, 1, ticks());
        if (!std::strcmp(kind, "newer"))
            board->version = board_version + 1;
        if (!std::strcmp(kind, "damaged"))
            board->seats_at = board->bytes;
        if (!std::strcmp(kind, "short")) { // a file with only its start; the board itself stays unmade
            board->magic = board_magic;
            const size_t bytes = 8192;
            if (pwrite(file_of(bytes), board, bytes, 0) != ssize_t(bytes))
                return 3;
            board->magic = 0;
        } else
            show_board(*board);
    }
    std::puts("ready");
    std::fflush(stdout);
    usleep(unsigned(seconds * 1e6));
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3)
        return 2;
    const int ranks = std::atoi(argv[1]);
    const double seconds = std::atof(argv[2]);
    if (!ranks)
        return no_board(argv[1], seconds);
    const unsigned workers = argc > 3 ? unsigned(std::atoi(argv[3])) : 0;
    const int size = argc > 4 ? std::atoi(argv[4]) : ranks;
    const bool finish = argc <= 5 || std::strcmp(argv[5], "die") != 0;
    const uint64_t t0 = ticks();
    const double s0 = seconds_now();
    usleep(20000);
    ticks_per_us = double(ticks() - t0) / (seconds_now() - s0) * 1e-6;
    const uint64_t began = ticks(), job = began * 0x9e3779b97f4a7c15u;
    int made[2];
    void* shared = mmap(nullptr, sizeof *over_at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(made) != 0)
        return 3;
    over_at = new (shared) std::atomic<uint64_t>(began + ticks_of(seconds));
    for (int rank = 0; rank < ranks; rank++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (!(board = make_board(unsigned(ranks) * (1 + workers), workers)))
                _exit(3);
            fill_head(rank, size, ranks, workers, job, began);
            show_board(*board);
            if (rank == 0 && fork() == 0) { // a child has its parent's board open, too
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                    pause();
            }
            if (write(made[1], "", 1) != 1)
                _exit(3);
            run(rank, ranks, began);
            if (finish) {
                board->ended_at = over_at->load(std::memory_order_relaxed);
                usleep(100000);
            }
            _exit(0);
        }
    char c;
    for (int i = 0; i < ranks; i++)
        if (read(made[0], &c, 1) != 1)
            return 3;
    std::signal(SIGUSR1, [](int) { over_at->store(ticks(), std::memory_order_relaxed); });
    std::puts("ready");
    std::fflush(stdout);
    while (wait(nullptr) > 0) {
    }
    return 0;
}
