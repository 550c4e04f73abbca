// SPDX-License-Identifier: MIT
#include "observe/board.h"

#include "base/atomics.h"
#include "base/lift.h"
#include "base/mapping.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ws::observe {

__thread Seat* own_seat;

namespace {

size_t align(size_t n) { return (n + 63) & ~size_t(63); }

// Threads look at a board until the process ends, so nothing unmaps it. Null if there is no mapping. A process makes
// one board, but in tests, whose ranks are threads.
void* keep(base::Mapping mapping)
{
    static auto* const kept = new std::vector<base::Mapping>;
    static std::mutex keeping;
    void* const p = mapping.get_address();
    const std::lock_guard<std::mutex> locked(keeping);
    if (p)
        kept->push_back(std::move(mapping));
    return p;
}

void* shared_memory(size_t bytes)
{
    // The descriptor stays open: it is how other processes find the board.
    const int fd = base::lift(memfd_create(board_name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0)
        return nullptr;
    void* p = nullptr;
    if (ftruncate(fd, off_t(bytes)) == 0) {
        // a reader cannot be killed by a file that shrinks
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        p = keep(base::map(fd, base::read_write, bytes));
    }
    if (!p)
        close(fd);
    return p;
}

void* private_memory(size_t bytes)
{
    void* p = keep(base::map_anonymous(base::copy_on_write, bytes));
    if (p)
        return p;
    // The heap may have some left. In whole pages: a child of fork() maps others there (keep_board_private()).
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    bytes = (bytes + page - 1) / page * page;
    p = std::aligned_alloc(page, bytes);
    return p ? std::memset(p, 0, bytes) : nullptr;
}

} // namespace

Board* make_board(unsigned node_cores, unsigned own_workers)
{
    Board head = {};
    size_t end = align(sizeof(Board));
    auto lay_out = [&](uint64_t& at, uint32_t& count, uint32_t& row_bytes, size_t rows, size_t bytes) {
        at = end;
        count = uint32_t(rows);
        row_bytes = uint32_t(bytes);
        end = align(end + rows * bytes);
    };
    lay_out(head.seats_at, head.seats, head.seat_bytes, 1 + own_workers + node_cores, sizeof(Seat));
    lay_out(head.loops_at, head.loop_row_count, head.loop_row_bytes, loop_rows, sizeof(LoopRow));
    lay_out(head.calls_at, head.call_row_count, head.call_row_bytes, call_rows, sizeof(CallRow));
    lay_out(head.phases_at, head.phase_row_count, head.phase_row_bytes, phase_rows, sizeof(PhaseRow));
    void* memory = shared_memory(end);
    if (!memory)
        memory = private_memory(end);
    if (!memory)
        return nullptr;
    head.version = board_version;
    head.head_bytes = sizeof(Board);
    head.bytes = end;
    head.pid = getpid();
    head.node_cores = node_cores;
    head.own_workers = own_workers;
    return new (memory) Board(head);
}

void show_board(Board& board)
{
    base::store_release(board.magic, board_magic); // after the head: readers look at the magic first
}

void keep_board_private(Board& board)
{
    const Board head = board;
    // mmap, because the board keeps its address (MAP_FIXED)
    if (mmap(&board, head.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) != MAP_FAILED)
        new (&board) Board(head);
}

LoopRow& new_loop_row(Board& board, const char* name)
{
    const unsigned i = base::fetch_add_relaxed(board.loops_made, 1);
    if (i + 1 >= loop_rows) {
        LoopRow& rest = board.loop(loop_rows - 1);
        std::strcpy(rest.name, "(other loops)"); // by each that comes: the same bytes
        return rest;
    }
    LoopRow& row = board.loop(i);
    const size_t length = std::strlen(name), most = sizeof row.name - 1;
    if (length > most) {
        std::memcpy(row.name, "...", 3);
        std::memcpy(row.name + 3, name + length - (most - 3), most - 3);
    } else
        std::memcpy(row.name, name, length);
    return row;
}

void count_latency(uint64_t (&histogram)[latency_buckets], uint64_t ticks, double ticks_per_us)
{
    const uint64_t ns = uint64_t(double(ticks) * 1e3 / ticks_per_us);
    const unsigned i = ns < 2 ? 0 : 63 - unsigned(__builtin_clzll(ns));
    add(histogram[i < latency_buckets ? i : latency_buckets - 1], 1);
}

} // namespace ws::observe
