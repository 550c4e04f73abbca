// SPDX-License-Identifier: MIT
//
// The node book: what the jobs of one user on one node know of each other. One page per process: who it is, on which
// CPUs it computes, and whether it does so now; and the cores that jobs lend each other.
//
// It is a file without a name (memfd_create), as the boards are, which each job finds in /proc/PID/fd of another. The
// name of a socket tells which processes have one. So nothing can be left behind, whatever dies; and only those find it
// who may look into a process: the same user, in the same pid and network namespaces. A segment of Boost.Interprocess,
// which has a name, would stay in /dev/shm when jobs are killed, and a job that dies while it makes a managed segment
// would leave all others waiting for it.
//
// No locks. Each job makes a book and then takes the one that was stamped first (open_book()).
//
// Every job of the user can write anywhere in it, if only by a stray store. So its content is not trusted: numbers are
// bounded before they are followed, and no loop relies on the book being in order to end.
#pragma once

#include "base/atomics.h"
#include "base/cpus.h"
#include "base/mapping.h"
#include "base/os.h"
#include "base/process.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ws::book {

using base::Hardware;
using base::ProcessId;

using base::Flag;

constexpr char file_name[] = "workshare-book";
constexpr uint64_t magic = 0x6b6f6f4220735700; // "Ws Book"
constexpr uint32_t version = 2;
constexpr unsigned page_count = 4096, core_count = 4096, mask_words = 4096 / base::CpuMask::bits;

// The page of a process. A process takes a free page by compare-and-swap; then only that process writes, until the page
// is free again.
struct alignas(64) Page {
    enum PageState : Flag { free, written, there };
    volatile Flag state;   // free->written->there: who takes it; there->free: the same, or who finds it dead
    volatile Flag busy;    // its home core computes, for it or for another rank of its job. Its home thread writes
    volatile Hardware::Word since; // ticks: when that changed. The same
    volatile Flag shares;  // its job lends its cores to others. The process
    volatile Flag threads; // of the parallel region that its home thread has open, if it lends. The same
    ProcessId process;
    uint64_t job;          // as on its board
    int32_t rank, node;    // in MPI_COMM_WORLD; the node's number in its job
    unsigned long mask[mask_words]; // CPUs that its home thread may use
};

// A core that a process offers to other jobs, for the time in which no rank of its own can use it. It stays when its
// owner has ended, until another process takes that one's page.
struct alignas(64) SharedCore {
    // its page + 1; 0: free. Writers: the process that offers, by compare-and-swap; the one that takes the page, 0
    volatile Flag owner;
    volatile Flag there;   // the rest of the row is written
    ProcessId process;     // the owner
    uint64_t job;
    int32_t node, cpu;     // -1: pretended
    // uses so far (32) | page + 1 of the process whose region is on it, 0: nobody. By compare-and-swap
    volatile Hardware::Word user;
    volatile Hardware::Word used; // ticks. Writer: the process that uses the core, which adds
};

struct Book {
    uint64_t magic_;
    uint32_t version_, pages_;
    uint64_t bytes;
    volatile Hardware::Word stamp;    // ns of CLOCK_MONOTONIC when it was made; 0: not yet ready
    alignas(64) volatile Flag changes; // grows whenever a page comes or goes
    volatile Flag used;                // pages behind these were never taken
    volatile Flag cores_used;          // rows of `core` behind these were never taken
    Page page[page_count];
    SharedCore core[core_count];
};

// Another job's process, as seen from here.
struct Neighbour {
    Page* page;
    ProcessId process;
    uint64_t job;
    base::CpuSet mask;
    // By its own word, which is out of date while it sleeps, or is stopped, between two MPI calls; so the kernel is
    // asked as well. By one thread.
    bool is_busy() const { return Hardware::load_relaxed(page->busy) && is_active(); }
    bool is_active() const { return !activity.is_idle(process, uint64_t(base::seconds_now() * 1e6)); }
    mutable base::Activity activity = {};
};

// The book as a process has it: a descriptor, and the socket whose name shows the process to others. -1: none.
struct Opened {
    int fd = -1, sign = -1;
    void close() const;
};
// The book of this user's jobs. One process of a job's node calls this, and tells the others its pid and the
// descriptor. If something has that name and is no book of ours, `problem` says so. Takes about 0.1 ms for each job of
// the user on the node; never waits longer than 0.2 s for another process.
Opened open_book(std::string& problem, const char* proc = "/proc");
// For the others: opens the same book. None if this process may not look into the one with that pid.
Opened open_book_of(pid_t pid, int fd, const char* proc = "/proc");
// Shows this process to others who look for a book: open_book() does. Returns the sign.
int show_process();

// Cores that can be had together: those of one job's ranks on one node of its.
struct Lenders {
    uint64_t job;
    std::vector<Page*> pages;       // of all who might use them: they must be at rest. None: they have ended
    std::vector<SharedCore*> cores;
};

// This process's hold on the book.
class Reader {
public:
    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Maps the book, keeps what was opened, and takes a page. If it is no book, or is full: false, and it is closed.
    bool join(Opened opened, const ProcessId& own, uint64_t job, int rank, base::CpuMask mask, int node = 0);
    // Gives the page back. The book goes with the last process that has it.
    void leave();
    bool joined() const { return page_; }
    int fd() const { return opened_.fd; } // for open_book_of(); -1 if it has joined none

    // For the home thread: whether its core computes from here on.
    void show_busy(bool busy)
    {
        if (!page_)
            return;
        Hardware::store_relaxed(page_->since, base::ticks()); // both are hints
        Hardware::store_relaxed(page_->busy, busy);
    }

    // For the home thread: the threads of its open parallel region; 0: none is open.
    void show_threads(unsigned threads)
    {
        if (page_)
            Hardware::store_relaxed(page_->threads, threads); // a hint
    }

    // As long as this value stays the same, so does what neighbours() answers. One load.
    Flag changes() const { return page_ ? Hardware::load_acquire(book_->changes) : 0; }
    // Processes of other jobs, in this pid namespace, whose CPUs meet `mask`. Cold; any thread. Pages of the dead are
    // freed on the way.
    std::vector<Neighbour> neighbours(base::CpuMask mask) const;
    // Frees pages of neighbours that died; true if there was one. To be called now and then, as a killed job must not
    // seem busy for ever.
    bool drop_dead(const std::vector<Neighbour>& neighbours) const;

    // ---- cores that jobs lend each other

    // From now on this process's job lends these of its cores, and those of the other ranks that call this. False: the
    // book has no room for more.
    bool share(const std::vector<int>& cpus);
    // Returns the cores of other jobs that share, except jobs with a CPU that belongs to a job that does not share.
    // Cold: it looks which processes live. `leaving`: a process has left MPI and still lives. Its cores are available
    // when it has ended, which changes() does not report.
    std::vector<Lenders> lenders(bool& leaving) const;
    // The core's CPU; -1 if it is pretended, or if no book can hold the number that stands there.
    static int cpu_of(const SharedCore& core);
    // Whether nobody there has computed for `ticks`. Relaxed: a hint.
    static bool at_rest(const Lenders& lenders, uint64_t now, uint64_t ticks);
    // Takes a core: what to give it back with; 0: it is another's.
    Hardware::Word take(SharedCore& core) const;
    // `used`: for how many ticks it was used.
    void give_back(SharedCore& core, Hardware::Word taken, uint64_t used) const;
    // Ticks that other jobs have used this process's cores for.
    uint64_t used_by_others() const;

private:
    void clear_cores(Flag owner);
    void free_page(Page& page, const ProcessId& process) const;

    Opened opened_; // open as long as this process is in it: later jobs find it here when the others have gone
    base::Mapping mapping_;
    Book* book_ = nullptr; // there
    Page* page_ = nullptr;
    std::vector<SharedCore*> shared_; // its own
    ProcessId own_ = {};
    uint64_t job_ = 0;
    int node_ = 0;
};

} // namespace ws::book
