// SPDX-License-Identifier: MIT
//
// The node's window: who is on the node, how many workers each rank gets, the shared memory itself.
#include "abi/critical.h"
#include "openmp/library/regions.h"
#include "mpi/host_node.h"
#include "mpi/job.h"
#include "observe/board.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace ws::mpi {

using base::CpuMask;
using base::own_cpus;

size_t (*host_bytes)(unsigned ranks);
HostNode host_node;

namespace {

// The workers of this rank, and of all ranks of the node.
struct WorkerPlan {
    unsigned own = 0, before = 0, all = 0; // before: of the ranks with lower numbers
    std::vector<int> cpus;                 // a CPU for each worker, if there are enough that no other rank may use
};

// Collective over the node.
WorkerPlan hire(Job& job, int ranks, int me, unsigned mask_size)
{
    // A check needs a helper in each rank, whether or not there is a spare core, also beside OpenMP's threads: only
    // speed suffers.
    const int asked = job.options.check && !job.options.workers ? 1 : job.options.workers;
    const char* refused = asked && !job.options.check ? openmp::watch(nullptr) : nullptr;
    const int wanted = refused ? 0 : asked;
    const base::CpuSet mask = own_cpus();
    // Per rank: whether it was refused, and its mask.
    const size_t words = 1 + mask_size;
    std::vector<unsigned long> mine(words), all(size_t(ranks) * words);
    mine[0] = refused != nullptr;
    std::copy_n(mask.mask().words(), mask.mask().size(), mine.begin() + 1);
    PMPI_Allgather(mine.data(), int(words), MPI_UNSIGNED_LONG, all.data(), int(words), MPI_UNSIGNED_LONG, job.node);

    WorkerPlan crew;
    unsigned sharers = 0; // this rank included
    bool told = false;    // by a rank before
    for (size_t r = 0; r < size_t(ranks); r++) {
        sharers += CpuMask(&all[r * words + 1], mask_size).common(mask) != 0;
        told = told || (int(r) < me && all[r * words]);
    }
    if (refused && !told)
        std::fprintf(stderr, "workshare: warning: no workers in rank %d%s: %s\n", job.rank,
                     ranks > 1 ? " (and perhaps others)" : "", refused);
    if (wanted)
        crew.cpus = window::spare_cpus(mask, sched_getcpu());
    crew.own = unsigned(wanted);
    if (wanted == option::Options::workers_auto) {
        unsigned cores = job.options.cores ? job.options.cores / unsigned(ranks)
                                           : unsigned(crew.cpus.size() + 1) / (sharers ? sharers : 1);
        crew.own = cores > 1 ? cores - 1 : job.options.check ? 1 : 0;
    }
    if (crew.own == 0)
        openmp::stop_watching();
    if (sharers > 1 || crew.own > crew.cpus.size())
        crew.cpus.clear();
    std::vector<unsigned> counts(static_cast<size_t>(ranks));
    PMPI_Allgather(&crew.own, 1, MPI_UNSIGNED, counts.data(), 1, MPI_UNSIGNED, job.node);
    for (int r = 0; r < ranks; r++) {
        crew.before += r < me ? counts[size_t(r)] : 0;
        crew.all += counts[size_t(r)];
    }
    return crew;
}

} // namespace

Inactive make_window(Job& job, bool stealing)
{
    window::use_topology(job.hooks->topology);
    int ranks, me;
    PMPI_Comm_rank(job.node, &me);
    PMPI_Comm_size(job.node, &ranks);
    // the same in all ranks, as they have one kernel; unless something was preloaded
    unsigned mask_size = own_cpus().mask().size();
    PMPI_Allreduce(MPI_IN_PLACE, &mask_size, 1, MPI_UNSIGNED, MPI_MAX, job.node);
    WorkerPlan crew;
    if (stealing)
        crew = hire(job, ranks, me, mask_size);
    const unsigned cores = unsigned(ranks) + crew.all;
    if (cores > window::max_node_cores)
        return too_many_ranks;
    const size_t window_bytes = (window::Window::bytes(unsigned(ranks), cores, mask_size) + 63) / 64 * 64,
                 beside = host_bytes ? host_bytes(unsigned(ranks)) : 0;
    void* const base = job.memory.allocate(job.node, window_bytes + beside, node::Memory::Content::anything);
    if (!base)
        return job.memory.lacks_room() ? shm_too_small : window_refused;
    job.window.map(base, unsigned(ranks), cores, unsigned(me), mask_size);
    job.window.init_own(job.rank, unsigned(ranks) + crew.before, crew.own, crew.cpus);
    if (beside)
        host_node.memory = static_cast<char*>(base) + window_bytes;
    if (beside && me == 0)
        std::memset(host_node.memory, 0, beside);
    PMPI_Barrier(job.node); // every row is written
    if (me == 0) {
        window::fill_places(job.window);
        if (job.options.cores)
            job.window.node().cpus = job.options.cores;
    }
    return is_active;
}

void join_book(Job& job)
{
    if (job.options.ignore_jobs)
        return;
    window::Node& node = job.window.node();
    const CpuMask mask = job.window.mask(job.window.me());
    const base::ProcessId own = base::own_process();
    if (job.window.me() != 0) {
        if (node.book_pid)
            job.book.join(book::open_book_of(node.book_pid, node.book_fd), own, job.board->job, job.rank, mask,
                          job.board->node);
        return;
    }
    if (job.book.join(book::open_book(job.book_problem), own, job.board->job, job.rank, mask, job.board->node)) {
        node.book_pid = own.pid;
        node.book_fd = job.book.fd();
    }
}

void free_window(Job& job)
{
    abi::use_node_locks(nullptr, job.rank);
    window::use_topology(nullptr);
    job.memory.free();
    if (job.node != MPI_COMM_NULL)
        PMPI_Comm_free(&job.node);
}

} // namespace ws::mpi
