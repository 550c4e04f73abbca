// SPDX-License-Identifier: MIT
//
// What the ranks counted, put together at the end of the job.
#include "mpi/job.h"
#include "observe/board.h"
#include "observe/verdict.h"
#include "window/registry.h"

#include <cstdio>

namespace ws {

const char* inactive_text(int why)
{
    switch (why) {
    case window_refused: return "MPI refused the node's shared window";
    case shm_too_small: return "/dev/shm is too small for the node's shared window";
    case too_many_ranks: return "there are more than 1023 ranks and workers on a node";
    default: return "";
    }
}

namespace {

Totals own_totals()
{
    Totals t = {};
    LendCounters n = {};
    VisitCounters v = {};
    for (unsigned i = 0; i < board->seats; i++) {
        const Seat& seat = board->seat(i);
        n.blocked_ticks += seat.lend.blocked_ticks;
        n.lent_ticks += seat.lend.lent_ticks;
        n.lends += seat.lend.lends;
        n.lost += seat.lend.lost;
        n.recalls += seat.lend.recalls;
        n.refusals += seat.lend.refusals;
        n.moves += seat.lend.moves;
        n.sleeps += seat.lend.sleeps;
        n.sleep_ticks += seat.lend.sleep_ticks;
        n.wakes += seat.lend.wakes;
        v.chunks += seat.visit.chunks;
        v.iterations += seat.visit.iterations;
        v.busy_ticks += seat.visit.busy_ticks;
    }
    uint64_t regions = 0, shared = 0, joined = 0, close_wait = 0, unpaid = 0;
    for (unsigned i = 0; i < board->loop_row_count; i++) {
        const LoopRow& loop = board->loop(i);
        regions += loop.whole_regions + loop.cut_regions;
        shared += loop.shared_regions;
        joined += loop.joined_regions;
        close_wait += loop.close_wait;
        unpaid += loop.unpaid_regions;
    }
    auto s = [](uint64_t ticks) { return job.clock.seconds(ticks); };
    int node_rank;
    PMPI_Comm_rank(job.node, &node_rank);
    int node_ranks;
    PMPI_Comm_size(job.node, &node_ranks);
    t.ranks = 1;
    t.nodes = node_rank == 0;
    t.alone_on_node = node_ranks == 1;
    t.inactive = job.inactive != is_active;
    t.wall = s(ticks() - job.attached_at);
    t.idle = s(n.blocked_ticks);
    t.lent = s(n.lent_ticks);
    t.stolen = s(v.busy_ticks);
    t.regions = double(regions);
    t.regions_off = double(board->process.regions_off);
    t.regions_shared = double(shared);
    t.regions_joined = double(joined);
    t.iterations_stolen = double(v.iterations);
    t.chunks_stolen = double(v.chunks);
    t.lends = double(n.lends);
    t.lost = double(n.lost);
    t.recalls = double(n.recalls);
    t.rings = job.inactive ? 0 : double(Hardware::load_relaxed(job.window.own_core().rings));
    t.refusals = double(n.refusals);
    t.moves = double(n.moves);
    t.guests_refused = double(board->process.guests_refused);
    t.guests_barred = double(board->process.guests_barred);
    t.sleeps = double(n.sleeps);
    t.sleep = s(n.sleep_ticks);
    t.wakes = double(n.wakes);
    t.workers = job.inactive ? 0 : double(job.window.workers());
    t.worker_chunks = double(board->process.worker_chunks);
    t.unpaid_regions = double(unpaid);
    t.close_wait = s(close_wait);
    return t;
}

// The loop that most was stolen from in the whole job.
std::string top_loop()
{
    struct {
        double stolen;
        int rank;
    } mine = {0, job.rank}, most = {};
    LoopRecord top;
    if (!job.inactive) {
        for (unsigned i = 0; i < board->loop_row_count; i++)
            if (const LoopRow& loop = board->loop(i); loop.stolen_iterations)
                registry_add(loop.name, loop.shared_regions, loop.shared_iterations, loop.stolen_iterations);
        PMPI_Barrier(job.node); // every rank's loops are in
        top = registry_top();
        mine.stolen = double(top.stolen);
    }
    PMPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    char name[256] = "";
    std::snprintf(name, sizeof name, "%s", top.where.c_str());
    PMPI_Bcast(name, sizeof name, MPI_CHAR, most.rank, MPI_COMM_WORLD);
    return most.stolen > 0 ? name : "";
}

} // namespace

void report()
{
    std::string top = top_loop();
    Totals mine = own_totals(), all = mine;
    double wall = 0;
    int why = job.inactive, any_why = 0;
    PMPI_Reduce(&mine, &all, totals_count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&mine.wall, &wall, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&why, &any_why, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job.rank != 0)
        return;
    all.wall = wall;
    Verdict verdict = judge(all, top, inactive_text(any_why));
    if (!job.options.quiet)
        std::fprintf(stderr, "%s\n", verdict.line.c_str());
    if (job.options.stats_file.empty())
        return;
    FILE* f = std::fopen(job.options.stats_file.c_str(), "w");
    std::string json = to_json(all, verdict, top);
    bool written = f && std::fputs(json.c_str(), f) >= 0;
    if (f && std::fclose(f) != 0)
        written = false;
    if (!written)
        std::fprintf(stderr, "workshare: cannot write WS_STATS_FILE=%s\n", job.options.stats_file.c_str());
}

} // namespace ws
