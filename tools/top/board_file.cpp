// SPDX-License-Identifier: MIT
#include "board_file.h"

#include "base/open_file.h"
#include "base/os.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <new>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::top {

using observe::Board;
using observe::CallRow;
using observe::LoopRow;
using observe::PhaseRow;
using observe::Seat;
using observe::SeatKind;
using observe::board_name;
using observe::board_version;
using base::ProcessId;
using base::seconds_now;

namespace {

constexpr uint64_t most_bytes = uint64_t(1) << 30; // a board has less than a megabyte and a kilobyte a core

// The length of the UTF-8 character that begins at p, 0 if none does or if it is not printable.
size_t utf8_length(const unsigned char* p, size_t left)
{
    if (p[0] >= 0x20 && p[0] < 0x7f)
        return 1;
    const size_t n = p[0] >= 0xc2 && p[0] < 0xe0   ? 2
                     : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                     : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                   : 0;
    if (!n || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    const bool control = n == 2 && p[0] == 0xc2 && p[1] < 0xa0;
    const bool overlong = (n == 3 && p[0] == 0xe0 && p[1] < 0xa0) || (n == 4 && p[0] == 0xf0 && p[1] < 0x90);
    const bool beyond = (n == 3 && p[0] == 0xed && p[1] > 0x9f) || (n == 4 && p[0] == 0xf4 && p[1] > 0x8f);
    // Marks that turn the direction of the line around.
    const bool turning =
        n == 3 && p[0] == 0xe2 && ((p[1] == 0x80 && p[2] >= 0x8e) || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
    return control || overlong || beyond || turning ? 0 : n;
}

uint64_t read_at(int fd, void* to, uint64_t bytes, uint64_t offset)
{
    uint64_t done = 0;
    while (done < bytes) {
        const ssize_t n = pread(fd, static_cast<char*>(to) + done, bytes - done, off_t(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += uint64_t(n);
    }
    return done;
}

// Rows of type T, `stride` apart, from a file; those behind the first that is_empty() are left out if that is given.
template <class T, class Each>
bool for_rows(int fd, uint64_t at, uint32_t count, uint32_t stride, Each&& each)
{
    constexpr size_t page = 32 * 1024;
    const uint32_t at_once = std::max<uint32_t>(1, uint32_t(page / stride));
    std::unique_ptr<char[]> buffer(new char[size_t(at_once) * stride]);
    alignas(T) char row[sizeof(T)];
    for (uint32_t i = 0; i < count; i += at_once) {
        const uint32_t n = std::min(at_once, count - i);
        if (read_at(fd, buffer.get(), uint64_t(n) * stride, at + uint64_t(i) * stride) != uint64_t(n) * stride)
            return false;
        for (uint32_t k = 0; k < n; k++) {
            std::memcpy(row, buffer.get() + size_t(k) * stride, sizeof(T));
            if (!each(i + k, *reinterpret_cast<const T*>(row)))
                return true;
        }
    }
    return true;
}

SeatReading read_seat(const Seat& s)
{
    SeatReading r;
    r.kind = SeatKind(s.kind);
    r.state = observe::Seated(s.state);
    r.core = s.core;
    r.call = s.call;
    r.loop = s.loop;
    r.other = s.other == observe::no_row ? -1 : int(s.other);
    r.since = s.since;
    r.waits_since = s.waits_since;
    r.lend = s.lend;
    r.visit = s.visit;
    return r;
}

} // namespace

std::string clean(const char* text, size_t at_most)
{
    std::string out;
    const size_t length = strnlen(text, at_most);
    for (size_t i = 0; i < length;) {
        const size_t n = utf8_length(reinterpret_cast<const unsigned char*>(text) + i, length - i);
        if (n)
            out.append(text + i, n);
        else
            out += '?';
        i += n ? n : 1;
    }
    return out;
}

std::string check_head(const Board& b, uint64_t read, uint64_t file_bytes, bool& unmade)
{
    unmade = file_bytes == 0 || (read >= sizeof b.magic && b.magic == 0);
    if (unmade)
        return "";
    if (read < offsetof(Board, head_bytes))
        return "a file of " + std::to_string(file_bytes) + " bytes is not a board";
    if (b.magic != observe::board_magic)
        return "a file called " + std::string(board_name) + " is not Workshare's";
    if (b.version != board_version)
        return std::string("the board is of a") + (b.version > board_version ? " newer" : "n older") +
               " Workshare (board version " + std::to_string(b.version) + "; this ws-top reads " +
               std::to_string(board_version) + "): use that Workshare's ws-top";
    if (read < sizeof(Board) || file_bytes < b.bytes)
        return "the board is cut short: " + std::to_string(file_bytes) + " bytes" +
               (read < sizeof(Board) ? "" : " of " + std::to_string(b.bytes));
    auto inside = [&](uint64_t at, uint64_t count, uint64_t stride, uint64_t least) {
        return stride >= least && stride <= 1 << 16 && count <= 1 << 20 && at >= sizeof(Board) && at <= b.bytes &&
               count * stride <= b.bytes - at;
    };
    const bool layout = b.head_bytes >= sizeof(Board) && b.bytes <= most_bytes &&
                        inside(b.seats_at, b.seats, b.seat_bytes, sizeof(Seat)) &&
                        inside(b.loops_at, b.loop_row_count, b.loop_row_bytes, sizeof(LoopRow)) &&
                        inside(b.calls_at, b.call_row_count, b.call_row_bytes, sizeof(CallRow)) &&
                        inside(b.phases_at, b.phase_row_count, b.phase_row_bytes, sizeof(PhaseRow));
    if (!layout || b.own_workers > 1 << 16 || b.node_cores > 1 << 16 || b.seats < 1 + b.own_workers)
        return "the board is damaged: its parts do not lie within it";
    if (b.size < 1 || b.rank < 0 || b.rank >= b.size || b.node_rank < 0 || b.node_ranks < 1 || b.node < 0 ||
        !(b.ticks_per_us > 0.01 && b.ticks_per_us < 1e6)) // clocks of 10 kHz to 1 THz
        return "the board is damaged: its header is invalid";
    return "";
}

BoardFile& BoardFile::operator=(BoardFile&& from) noexcept
{
    std::swap(fd_, from.fd_);
    return *this;
}

BoardFile::~BoardFile()
{
    if (fd_ >= 0)
        close(fd_);
}

namespace {

// Copies what the head of a board says of its rank.
void take_head(const Board& b, Reading& into)
{
    into.job = b.job;
    into.rank = b.rank;
    into.size = b.size;
    into.node_rank = b.node_rank;
    into.node_ranks = b.node_ranks;
    into.node = b.node;
    into.node_cores = b.node_cores;
    into.node_cpus = b.node_cpus;
    into.own_workers = b.own_workers;
    into.first_worker = b.first_worker;
    into.ticks_per_us = b.ticks_per_us;
    into.attached_at = b.attached_at;
    into.ended_at = b.ended_at;
    into.lag_ticks = b.lag_ticks;
    into.inactive = b.inactive;
    into.observed = b.observed;
    into.host = clean(b.host, sizeof b.host);
    into.program = clean(b.program, sizeof b.program);
    into.process = b.process;
}

// Reads the seats of the board in `fd`. False if the file is too short.
bool read_seats(int fd, const Board& b, std::vector<SeatReading>& into)
{
    // A seat's counters belong to its state only if the state was the same after they were read as before. If it
    // changes all the time, what was read last is taken: then the error is a few microseconds.
    // Most guests' seats of a big node were never taken: those are not read twice.
    uint32_t taken = 1;
    auto seats = [&](std::vector<SeatReading>& out, uint32_t count) {
        out.resize(count);
        return for_rows<Seat>(fd, b.seats_at, count, b.seat_bytes, [&](uint32_t i, const Seat& s) {
            out[i] = read_seat(s);
            if (out[i].kind != SeatKind::none)
                taken = std::max(taken, i + 1);
            return true;
        });
    };
    bool whole = seats(into, b.seats);
    for (int i = 0; whole && i < 3; i++) {
        std::vector<SeatReading> again;
        whole = seats(again, taken);
        bool same = true;
        for (size_t k = 0; whole && k < again.size(); k++) {
            if (again[k].state == into[k].state && again[k].since == into[k].since &&
                again[k].waits_since == into[k].waits_since)
                continue;
            into[k] = again[k];
            same = false;
        }
        if (same)
            break;
    }
    return whole;
}

// Appends the rows of loops, which are taken in order; the last stands for all that found none. False if the file is
// too short.
bool read_loops(int fd, const Board& b, std::vector<LoopReading>& into)
{
    return for_rows<LoopRow>(fd, b.loops_at, b.loop_row_count, b.loop_row_bytes, [&](uint32_t, const LoopRow& l) {
        if (!l.name[0])
            return false;
        LoopReading r;
        r.name = clean(l.name, sizeof l.name);
#define WS_READ(kind, name, where, mpi_t, help) r.WS_FIELD_##kind(name) = l.WS_FIELD_##kind(name);
        WS_LOOP_COUNTERS(WS_READ, WS_NO)
#undef WS_READ
        into.push_back(std::move(r));
        return true;
    });
}

// Appends the names of MPI functions. False if the file is too short.
bool read_calls(int fd, const Board& b, std::vector<std::string>& into)
{
    return for_rows<CallRow>(fd, b.calls_at, b.call_row_count, b.call_row_bytes, [&](uint32_t, const CallRow& c) {
        into.push_back(clean(c.name, sizeof c.name));
        return c.name[0] != 0;
    });
}

constexpr unsigned most_depth = 64; // of a phase

// Puts the names of the present phase, and of those that it is in, in front of each other; the first row is the run
// itself and has none. False if the file is too short.
bool read_phase(int fd, const Board& b, std::string& into)
{
    alignas(PhaseRow) char memory[sizeof(PhaseRow)];
    const PhaseRow& row = *reinterpret_cast<const PhaseRow*>(memory);
    uint32_t i = b.phase;
    into.clear();
    for (unsigned depth = 0; i > 0 && i < b.phase_row_count && depth < most_depth; depth++) {
        if (read_at(fd, memory, sizeof memory, b.phases_at + uint64_t(i) * b.phase_row_bytes) != sizeof memory)
            return false;
        into = clean(row.name, sizeof row.name) + (into.empty() ? "" : "/" + into);
        if (row.parent < 0 || uint32_t(row.parent) >= i) // damaged: parents come first
            break;
        i = uint32_t(row.parent);
    }
    return true;
}

// Appends the rows of phases, which are taken in order; the last stands for all that found none. False if the file is
// too short.
bool read_phases(int fd, const Board& b, std::vector<PhaseReading>& into)
{
    uint32_t count = std::min(uint32_t(b.phases_made), b.phase_row_count);
    if (count + 1 == b.phase_row_count)
        count++;
    return for_rows<PhaseRow>(fd, b.phases_at, count, b.phase_row_bytes, [&](uint32_t i, const PhaseRow& row) {
        if (into.size() < most_phases) {
            PhaseReading p;
            // else it is damaged, or at the top
            const bool inside = i > 0 && row.parent > 0 && uint32_t(row.parent) < i;
            p.path = clean(row.name, sizeof row.name);
            if (inside)
                p.path = into[uint32_t(row.parent)].path + "/" + p.path;
            if (into.size() + 1 == most_phases)
                p.path = observe::other_phases;
            into.push_back(std::move(p));
        }
        PhaseReading& p = into.back();
        p.entered += row.entered;
        p.wall_ticks += row.wall_ticks;
        p.blocked_ticks += row.blocked_ticks;
        p.lent_ticks += row.lent_ticks;
        p.borrowed_ticks += row.borrowed_ticks;
        return true;
    });
}

} // namespace

std::string BoardFile::read(Reading& into, bool& unmade) const
{
    struct stat file;
    unmade = false;
    if (fstat(fd_, &file) != 0)
        return std::string("the board cannot be read: ") + std::strerror(errno);
    alignas(Board) char memory[sizeof(Board)] = {};
    const Board& b = *reinterpret_cast<const Board*>(memory);
    const uint64_t got = read_at(fd_, memory, sizeof memory, 0);
    const std::string wrong = check_head(b, got, uint64_t(file.st_size), unmade);
    if (unmade || !wrong.empty())
        return wrong;

    take_head(b, into);
    bool whole = read_seats(fd_, b, into.seats);
    into.at = base::ticks();
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    into.unix_ns = int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
    into.loops.clear();
    into.calls.clear();
    into.phases.clear();
    whole = whole && read_loops(fd_, b, into.loops) && read_calls(fd_, b, into.calls) &&
            read_phase(fd_, b, into.phase) && read_phases(fd_, b, into.phases);
    into.present_phase = std::min(size_t(b.phase), most_phases - 1);
    return whole ? "" : "the board was cut short while it was read";
}

std::optional<ProcessReading> read_process(pid_t pid)
{
    char path[64], text[1024];
    std::snprintf(path, sizeof path, "/proc/%d/stat", int(pid));
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return {};
    const ssize_t n = ::read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return {};
    text[n] = 0;
    const char* rest = std::strrchr(text, ')'); // a program's name may have anything in it
    ProcessReading p;
    char state;
    int parent;
    long threads;
    unsigned long long started;
    if (!rest ||
        std::sscanf(rest + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu", &state,
                    &parent, &threads, &started) != 4)
        return {};
    p.parent = parent;
    p.started = started;
    p.ended = (state == 'Z' || state == 'X') && threads <= 1; // a main thread may leave while others go on
    return p;
}

bool descends_from(pid_t pid, pid_t ancestor)
{
    for (int steps = 0; pid > 1 && steps < 64; steps++) {
        if (pid == ancestor)
            return true;
        const auto p = read_process(pid);
        if (!p)
            return false;
        pid = p->parent;
    }
    return pid == ancestor;
}

void Finder::complain(pid_t pid, uint64_t started, const std::string& what)
{
    const std::pair<pid_t, uint64_t> who{pid, started};
    if (std::find(complained_.begin(), complained_.end(), who) != complained_.end())
        return;
    complained_.push_back(who);
    problems.push_back({pid, what});
}

void Finder::add(pid_t pid, uid_t uid, uint64_t started, const std::string& path)
{
    struct stat file;
    if (stat(path.c_str(), &file) != 0)
        return;
    if (std::find(done.begin(), done.end(), std::pair<uint64_t, uint64_t>(file.st_dev, file.st_ino)) != done.end())
        return;
    for (FoundBoard& m : boards)
        if (m.device == file.st_dev && m.inode == file.st_ino) {
            // A child of a rank has its board open too, and may be found first, or live on.
            if (m.pid != pid && descends_from(m.pid, pid)) {
                m.pid = pid;
                m.uid = uid;
                m.started = started;
            }
            return;
        }
    // A pipe or a device may have a name like a board's, in a process's own mount namespace.
    const int fd = base::open_regular(path.c_str(), O_RDONLY, [&](const struct stat& now) {
        return now.st_dev == file.st_dev && now.st_ino == file.st_ino; // or the name has changed its file since
    });
    if (fd < 0)
        return; // of another user, or gone
    BoardFile board(fd);
    Reading reading;
    bool unmade;
    const std::string wrong = board.read(reading, unmade);
    if (unmade) { // looked at again in the next scan: if it is still unmade then, it will never be made
        const std::pair<pid_t, uint64_t> who{pid, started};
        if (std::find(unmade_.begin(), unmade_.end(), who) == unmade_.end())
            unmade_.push_back(who);
        else
            complain(pid, started, "a file called " + std::string(board_name) + " is not Workshare's");
        return;
    }
    if (!wrong.empty())
        complain(pid, started, wrong);
    else
        boards.push_back({pid, uid, started, file.st_dev, file.st_ino, std::move(board)});
}

void Finder::look_into(pid_t pid, uid_t uid)
{
    const std::string process = "/proc/" + std::to_string(pid);
    if (look_into_files(pid, uid, process + "/fd/"))
        return;
    // None: a main thread that has left has none, its threads have.
    std::unique_ptr<DIR, int (*)(DIR*)> threads(opendir((process + "/task").c_str()), closedir);
    while (const dirent* entry = threads ? readdir(threads.get()) : nullptr)
        if (entry->d_name[0] != '.' && std::to_string(pid) != entry->d_name &&
            look_into_files(pid, uid, process + "/task/" + entry->d_name + "/fd/"))
            return;
}

namespace {

// What /proc calls a file of memfd_create() by that name: " (deleted)" follows.
bool is_memory_file(std::string_view file, std::string_view name)
{
    constexpr std::string_view kind = "/memfd:";
    if (file.substr(0, kind.size()) != kind || file.substr(kind.size(), name.size()) != name)
        return false;
    const std::string_view rest = file.substr(kind.size() + name.size());
    return rest.empty() || rest.front() == ' ';
}

} // namespace

bool Finder::look_into_files(pid_t pid, uid_t uid, const std::string& folder)
{
    std::unique_ptr<DIR, int (*)(DIR*)> fds(opendir(folder.c_str()), closedir);
    if (!fds)
        return true;
    bool any = false;
    while (const dirent* entry = readdir(fds.get())) {
        any = any || entry->d_name[0] != '.';
        char target[64];
        const std::string path = folder + entry->d_name;
        const ssize_t n = readlink(path.c_str(), target, sizeof target);
        const std::string_view file(target, size_t(std::max<ssize_t>(n, 0)));
        if (is_memory_file(file, book::file_name))
            add_book(uid, path);
        // A ws-top has the boards of others open, too, but only to read them.
        struct stat link;
        if (!is_memory_file(file, board_name) || lstat(path.c_str(), &link) != 0 || !(link.st_mode & S_IWUSR))
            continue;
        if (const auto process = read_process(pid))
            if (!process->ended)
                add(pid, uid, process->started, path);
    }
    return any;
}

void Finder::add_book(uid_t uid, const std::string& path)
{
    struct stat file;
    if (stat(path.c_str(), &file) != 0)
        return;
    const auto known = [&](const UsersBook& b) { return b.device == file.st_dev && b.inode == file.st_ino; };
    if (std::any_of(books_.begin(), books_.end(), known))
        return;
    const int fd = base::open_regular(path.c_str(), O_RDONLY, [&](const struct stat& now) {
        file = now;
        return now.st_uid == uid; // another user's book says nothing of this one's jobs
    });
    if (fd < 0)
        return;
    BookFile book(fd);
    if (book.is_book())
        books_.push_back({uid, file.st_dev, file.st_ino, std::move(book), 0, true});
}

bool Finder::look_into_books()
{
    for (size_t b = 0; b < books_.size(); b++) { // to look into a process may bring one more
        // before the look: what comes from here on is another change
        const book::Flag changes = books_[b].file.changes();
        if (changes == books_[b].changes && !books_[b].awaits)
            continue;
        const std::vector<ProcessId> processes = books_[b].file.processes();
        books_[b].changes = changes;
        books_[b].awaits = false;
        const uid_t uid = books_[b].uid;
        for (const ProcessId& p : processes) {
            const auto is_there = [&] {
                return std::any_of(boards.begin(), boards.end(),
                                   [&](const FoundBoard& m) { return m.pid == p.pid && m.started == p.started; });
            };
            if (is_there())
                continue;
            look_into(p.pid, uid);
            books_[b].awaits |= !is_there() && read_process(p.pid);
        }
    }
    return !books_.empty();
}

// The last job of a book has ended, or was killed: the next one makes another.
void Finder::drop_old_books()
{
    const auto is_old = [](const UsersBook& b) {
        const std::vector<ProcessId> processes = b.file.processes();
        return std::none_of(processes.begin(), processes.end(), [](const ProcessId& p) {
            const auto process = read_process(p.pid);
            return process && process->started == p.started && !process->ended;
        });
    };
    books_.erase(std::remove_if(books_.begin(), books_.end(), is_old), books_.end());
}

void Finder::scan()
{
    const double begin = seconds_now();
    drop_old_books();
    std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
    while (const dirent* entry = processes ? readdir(processes.get()) : nullptr) {
        char* end;
        const long pid = std::strtol(entry->d_name, &end, 10);
        struct stat folder;
        if (pid <= 0 || *end || fstatat(dirfd(processes.get()), entry->d_name, &folder, 0) != 0)
            continue;
        if (folder.st_uid == geteuid() || all_)
            look_into(pid_t(pid), folder.st_uid);
    }
    last_scan_ = seconds_now();
    scan_took_ = last_scan_ - begin;
}

void Finder::scan_now_and_then(bool missing)
{
    const bool told = look_into_books();
    if (told && boards.empty())
        drop_old_books();
    const double pause = told && !books_.empty() ? 10 : missing ? 0.2 : 2;
    if (!last_scan_ || seconds_now() - last_scan_ >= std::max(pause, 150 * scan_took_))
        scan();
}

} // namespace ws::top
