// SPDX-License-Identifier: MIT
//
// -workshare-verbose: where each rank runs, and what it lends.
#include "base/cpu_list.h"
#include "lend/victims.h"
#include "mpi/job.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace ws::mpi {

namespace {

constexpr int row_size = 240;

std::vector<int> cpus_of(base::CpuMask mask)
{
    std::vector<int> cpus;
    for (int c = mask.first(); c >= 0; c = mask.first(c + 1))
        cpus.push_back(c);
    return cpus;
}

std::string count_text(int count, const char* one)
{
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

// What the rank lends while it waits, and to whom.
std::string lends_text(const Job& job)
{
    if (job.inactive)
        return std::string("runs without sharing: ") + inactive_text(job.inactive);
    if (!lend::victims[job.options.victim])
        return "lends nothing (-workshare-victim none)";
    const unsigned workers = job.window.workers();
    const int others = int(job.window.ranks()) - 1;
    if (others == 0 && workers == 0)
        return "lends nothing: it is alone on its node";
    std::string text = others == 0 ? "" : "lends its core to " + count_text(others, "rank") + " while it waits in MPI";
    if (workers > 0)
        text += (text.empty() ? "has " : ", has ") + count_text(int(workers), "worker");
    return text;
}

} // namespace

void print_ranks(Job& job)
{
    char host[64] = "", mine[row_size];
    gethostname(host, sizeof host - 1);
    const char* const mode = std::getenv("WS_OPENMP");
    std::string cores = "unknown";
    if (!job.inactive)
        cores = base::cpu_list(cpus_of(job.window.mask(job.window.me())));
    std::snprintf(mine, sizeof mine, "rank %d on %s, CPUs %s, OpenMP mode %s: %s", job.rank, host, cores.c_str(),
                  mode ? mode : option::option_row("WS_OPENMP").standard, lends_text(job).c_str());
    std::string rows(job.rank == 0 ? size_t(job.size) * row_size : 0, '\0');
    PMPI_Gather(mine, row_size, MPI_BYTE, rows.data(), row_size, MPI_BYTE, 0, MPI_COMM_WORLD);
    std::string text;
    for (int r = 0; job.rank == 0 && r < job.size; r++)
        text += std::string("workshare: ") + &rows[size_t(r) * row_size] + "\n";
    std::fputs(text.c_str(), stderr);
}

} // namespace ws::mpi
