// SPDX-License-Identifier: MIT
//
// Boards of other processes (runtime/observe/board.h): finding them, and reading them into plain values. Nothing here
// trusts what it reads: a board may be another's file of the same name, newer, cut short, or its process may die at any
// moment.
//
// By pread and not by a mapping: a file that shrinks gives a short read instead of SIGBUS, pages that the process has
// not used yet stay unused, and an open file outlives its process as a mapping does.
#pragma once

#include "book_file.h"
#include "observe/board.h"
#include <optional>
#include <string>
#include <vector>

namespace ws::top {

struct SeatReading {
    observe::SeatKind kind = observe::SeatKind::none;
    observe::Seated state = observe::Seated::nobody;
    unsigned core = observe::no_row, call = observe::no_row, loop = observe::no_row;
    int other = -1;
    uint64_t since = 0, waits_since = 0; // ticks
    observe::LendCounters lend = {};
    observe::VisitCounters visit = {};
};

struct LoopReading {
    std::string name;
#define WS_ZERO(kind, name, where, mpi_t, help) uint64_t WS_FIELD_##kind(name) = 0;
    WS_LOOP_COUNTERS(WS_ZERO, WS_NO)
#undef WS_ZERO
};

// A phase of the program, without those inside it: as it was when it or another began or ended last.
struct PhaseReading {
    std::string path; // names with slashes between them; of the time in no phase empty
    uint64_t entered = 0, wall_ticks = 0, blocked_ticks = 0, lent_ticks = 0, borrowed_ticks = 0;
};
// If there are more phases, those that began last are read as one, with the name observe::other_phases.
constexpr size_t most_phases = 1024;

// All that is read of a rank at one time.
struct Reading {
    uint64_t at = 0;   // ticks, when it was read
    int64_t unix_ns = 0;
    pid_t pid = 0;     // as this process sees it
    uid_t uid = 0;
    bool alive = true; // the process still existed after the read
    uint64_t job = 0;
    int rank = 0, size = 1, node_rank = 0, node_ranks = 1, node = 0;
    unsigned node_cores = 1, own_workers = 0, first_worker = 0, node_cpus = 0; // see Board
    double ticks_per_us = 1000;
    uint64_t attached_at = 0, ended_at = 0, lag_ticks = 0;
    bool inactive = false, observed = false;
    std::string host, program;
    std::string phase; // path of the present one; empty: in none
    observe::ProcessCounters process = {};
    std::vector<SeatReading> seats; // home, workers, guests by core
    std::vector<LoopReading> loops;
    std::vector<std::string> calls;
    std::vector<PhaseReading> phases; // the time in no phase first
    size_t present_phase = 0;         // index of `phases`

    bool over() const { return ended_at || !alive; }
    // The moment up to which the counters count.
    uint64_t until() const { return ended_at && ended_at < at ? ended_at : at; }
    unsigned cores() const { return 1 + own_workers; } // the home core first
    const SeatReading* guest(unsigned core) const
    {
        return cores() + core < seats.size() ? &seats[cores() + core] : nullptr;
    }
};

// Text of others for terminals and JSON: UTF-8 stays, everything that is not printable becomes '?'.
std::string clean(const char* text, size_t at_most);

// Returns what is wrong with a file of `size` bytes that begins with `head` (`read` bytes of it are there), for people;
// empty: nothing. A board that is still being made has no magic yet: `unmade` is set instead.
std::string check_head(const observe::Board& head, uint64_t read, uint64_t file_bytes, bool& unmade);

class BoardFile {
public:
    BoardFile() = default;
    explicit BoardFile(int fd) : fd_(fd) {}
    BoardFile(BoardFile&& from) noexcept : fd_(from.fd_) { from.fd_ = -1; }
    BoardFile& operator=(BoardFile&& from) noexcept;
    ~BoardFile();

    // Fills `into`, except pid, uid and alive. Returns what is wrong, or nothing.
    std::string read(Reading& into, bool& unmade) const;

private:
    int fd_ = -1;
};

struct ProcessReading {
    pid_t parent = 0;
    uint64_t started = 0; // of two processes with one pid they differ
    bool ended = false;   // a zombie without other threads
};
std::optional<ProcessReading> read_process(pid_t pid);

// Whether `pid` is `ancestor` or was started, over however many steps, by it.
bool descends_from(pid_t pid, pid_t ancestor);

struct Problem {
    pid_t pid;
    std::string what;
};

// The boards of this machine's processes. A process that has a page in a node book is found there, at once. Books
// themselves, and processes that are in none, are found by looking at what all processes have open.
class Finder {
public:
    // all: also those of other users, where the system lets us.
    explicit Finder(bool all) : all_(all) {}

    struct FoundBoard {
        pid_t pid;
        uid_t uid;
        uint64_t started, device, inode;
        BoardFile file;
    };
    // Looks at all processes; adds those that are new.
    void scan();
    // As scan(), but only if that is due: all these looks take less than a hundredth of the time. More often if some
    // are missing, rarely if a node book tells which processes come.
    void scan_now_and_then(bool missing);

    std::vector<FoundBoard> boards;
    std::vector<Problem> problems; // each process once
    std::vector<std::pair<uint64_t, uint64_t>> done; // device and inode of boards that need not be found again

private:
    void look_into(pid_t pid, uid_t uid);
    bool look_into_books(); // whether there are any
    void drop_old_books();
    // whether it has any that we may see; true if we may not
    bool look_into_files(pid_t pid, uid_t uid, const std::string& folder);
    void add(pid_t pid, uid_t uid, uint64_t started, const std::string& path);
    void add_book(uid_t uid, const std::string& path);
    void complain(pid_t pid, uint64_t started, const std::string& what);

    struct UsersBook {
        uid_t uid;
        uint64_t device, inode;
        BookFile file;
        book::Flag changes;
        bool awaits; // somebody in it has no board yet
    };
    bool all_;
    std::vector<UsersBook> books_;
    std::vector<std::pair<pid_t, uint64_t>> complained_, unmade_;
    double last_scan_ = 0, scan_took_ = 0;
};

} // namespace ws::top
