// SPDX-License-Identifier: MIT
#include "node/split.h"

#include "base/process.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

namespace ws::node {

namespace {

bool by_kernel; // never false again: then no rank of the job shares memory by MPI

// The same for processes that see each other in /proc, and for no others.
using Kernel = std::array<uint64_t, 2>; // which boot of which machine, and the pid namespace

Kernel own_kernel()
{
    char name[256] = "", boot[64] = "";
    gethostname(name, sizeof name - 1);
    if (FILE* const id = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
        if (!std::fgets(boot, sizeof boot, id))
            boot[0] = 0;
        std::fclose(id);
    }
    return {std::hash<std::string>()(std::string(name) + '\n' + boot), base::own_process().pid_namespace};
}

// Collective: those of all ranks.
int kernels_of(MPI_Comm comm, std::vector<Kernel>& all)
{
    int ranks;
    const Kernel own = own_kernel();
    PMPI_Comm_size(comm, &ranks);
    all.resize(size_t(ranks));
    return PMPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm);
}

// By the first rank of each kernel.
int split_by(const std::vector<Kernel>& all, MPI_Comm comm, int key, MPI_Comm* node)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    const auto first = std::find(all.begin(), all.end(), all[size_t(rank)]);
    return PMPI_Comm_split(comm, int(first - all.begin()), key, node);
}

// Whether two ranks have the same.
bool has_twins(std::vector<Kernel> all)
{
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) != all.end();
}

} // namespace

int split(MPI_Comm comm, int key, MPI_Comm* node)
{
    int most = 0, ranks;
    if (const int error = split_by_mpi(comm, key, node); error || by_kernel)
        return error;
    PMPI_Comm_size(*node, &most);
    PMPI_Comm_size(comm, &ranks);
    const int error = PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, comm);
    return error || most > 1 || ranks == 1 ? error : without_mpi(comm, key, node);
}

int split_by_mpi(MPI_Comm comm, int key, MPI_Comm* node)
{
    if (!by_kernel)
        return PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, node);
    std::vector<Kernel> all;
    const int error = kernels_of(comm, all);
    return error ? error : split_by(all, comm, key, node);
}

int without_mpi(MPI_Comm comm, int key, MPI_Comm* node)
{
    const char* const cliques = std::getenv("MPIR_CVAR_NUM_CLIQUES");
    int told = (cliques && std::atoi(cliques) > 1) || std::getenv("MPIR_CVAR_ODD_EVEN_CLIQUES");
    if (const int error = PMPI_Allreduce(MPI_IN_PLACE, &told, 1, MPI_INT, MPI_LOR, comm); error || told)
        return error;
    std::vector<Kernel> all;
    if (const int error = kernels_of(comm, all); error || !has_twins(all)) // each rank is indeed alone on its node
        return error;
    MPI_Comm mine;
    if (const int error = split_by(all, comm, key, &mine))
        return error;
    PMPI_Comm_free(node);
    *node = mine;
    by_kernel = true;
    return MPI_SUCCESS;
}

bool mpi_shares_memory() { return !by_kernel; }

} // namespace ws::node
