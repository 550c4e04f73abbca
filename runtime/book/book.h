// SPDX-License-Identifier: MIT
//
// The node book: what the jobs of one user on one node know of each other. A page a process: who it is, on which CPUs
// it computes, and whether it does so now.
//
// It is a file without a name (memfd_create), as the boards are, which each job finds in /proc/PID/fd of another. So
// nothing can be left behind, whatever dies; and only those find it who may look into a process: the same user, in the
// same pid namespace. A segment of Boost.Interprocess, which has a name, would stay in /dev/shm when jobs are killed,
// and a job that dies while it makes a managed segment would leave all others waiting for it.
//
// No locks. Each job makes a book and then takes the one that was stamped first (open_book()).
#pragma once

#include "window/atomics.h"
#include "window/cpus.h"
#include "window/process.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ws::book {

using window::Hardware;
using window::ProcessId;

using window::Flag;

constexpr char file_name[] = "workshare-book";
constexpr uint64_t magic = 0x6b6f6f4220735700; // "Ws Book"
constexpr uint32_t version = 1;
constexpr unsigned page_count = 4096, mask_words = 4096 / window::CpuMask::bits;

// The page of a process. A process takes a free page by compare-and-swap; then only that process writes, until the page
// is free again.
struct alignas(64) Page {
    enum State : Flag { free, written, there };
    volatile Flag state;   // free->written->there: who takes it; there->free: the same, or who finds it dead
    volatile Flag busy;    // its home core computes, for it or for another rank of its job. Its home thread writes
    ProcessId process;
    uint64_t job;          // as on its board
    int32_t rank;          // in MPI_COMM_WORLD
    unsigned long mask[mask_words]; // CPUs that its home thread may use
};

struct Book {
    uint64_t magic_;
    uint32_t version_, pages_;
    uint64_t bytes;
    volatile Hardware::Word stamp;    // ns of CLOCK_MONOTONIC when it was made; 0: not yet ready
    alignas(64) volatile Flag changes; // grows whenever a page comes or goes
    volatile Flag used;                // pages behind these were never taken
    Page page[page_count];
};

// Another job's process, as seen from here.
struct Neighbour {
    Page* page;
    ProcessId process;
    uint64_t job;
    window::CpuSet mask;
    bool is_busy() const { return Hardware::load_relaxed(page->busy); }
};

// The book of this user's jobs: a descriptor of this process, -1 if there can be none. One process of a job's node
// calls this, and tells the others its pid and the descriptor. If something has that name and is no book of ours,
// `problem` says so. Takes a millisecond; never waits longer than 20 ms for another process. `passed_over`: processes
// that are known to have no book, such as those of this job.
int open_book(std::string& problem, const std::vector<pid_t>& passed_over = {}, const char* proc = "/proc");
// For the others: opens the same book. -1 if this process may not look into the one with that pid.
int open_book_of(pid_t pid, int fd, const char* proc = "/proc");

// This process's hold on the book.
class Reader {
public:
    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Maps the book with the descriptor `fd`, keeps `fd`, and takes a page. If it is no book, or is full: false, and fd
    // is closed.
    bool join(int fd, const ProcessId& own, uint64_t job, int rank, window::CpuMask mask);
    // Gives the page back. The book goes with the last process that has it.
    void leave();
    bool joined() const { return page_; }
    int fd() const { return fd_; } // for open_book_of(); -1 if it has joined none

    // For the home thread: whether its core computes from here on.
    void show_busy(bool busy)
    {
        if (page_)
            Hardware::store_relaxed(page_->busy, busy); // a hint
    }

    // As long as this value stays the same, so does what neighbours() answers. One load.
    Flag changes() const { return page_ ? Hardware::load_acquire(book_->changes) : 0; }
    // Processes of other jobs, in this pid namespace, whose CPUs meet `mask`. Cold; any thread. Pages of the dead are
    // freed on the way.
    std::vector<Neighbour> neighbours(window::CpuMask mask) const;
    // Frees pages of neighbours that died; true if there was one. To be called now and then, as a killed job must not
    // seem busy for ever.
    bool drop_dead(const std::vector<Neighbour>& neighbours) const;

private:
    void free_page(Page& page, const ProcessId& process) const;

    int fd_ = -1; // open as long as this process is in it: later jobs find it here when the others have gone
    Book* book_ = nullptr;
    Page* page_ = nullptr;
    ProcessId own_ = {};
    uint64_t job_ = 0;
};

} // namespace ws::book
