// SPDX-License-Identifier: MIT
#include "node/split.h"

#include "base/process.h"

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
struct Kernel {
    uint64_t boot, pid_namespace;
    bool operator==(const Kernel& other) const
    {
        return boot == other.boot && pid_namespace == other.pid_namespace;
    }
};

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

int split_by_kernel(MPI_Comm comm, int key, MPI_Comm* node)
{
    int ranks, color = 0;
    const Kernel own = own_kernel();
    PMPI_Comm_size(comm, &ranks);
    std::vector<Kernel> all(static_cast<size_t>(ranks));
    if (const int error = PMPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm))
        return error;
    while (!(all[size_t(color)] == own))
        color++;
    return PMPI_Comm_split(comm, color, key, node);
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
    return by_kernel ? split_by_kernel(comm, key, node)
                     : PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, node);
}

int without_mpi(MPI_Comm comm, int key, MPI_Comm* node)
{
    const char* const cliques = std::getenv("MPIR_CVAR_NUM_CLIQUES");
    int told = (cliques && std::atoi(cliques) > 1) || std::getenv("MPIR_CVAR_ODD_EVEN_CLIQUES"), ranks, most = 1;
    MPI_Comm mine;
    if (const int error = PMPI_Allreduce(MPI_IN_PLACE, &told, 1, MPI_INT, MPI_LOR, comm); error || told)
        return error;
    if (const int error = split_by_kernel(comm, key, &mine))
        return error;
    PMPI_Comm_size(mine, &ranks);
    PMPI_Allreduce(&ranks, &most, 1, MPI_INT, MPI_MAX, comm);
    if (most > 1) // else each rank is indeed alone on its node
        by_kernel = true;
    PMPI_Comm_free(most > 1 ? node : &mine);
    if (most > 1)
        *node = mine;
    return MPI_SUCCESS;
}

bool mpi_shares_memory() { return !by_kernel; }

} // namespace ws::node
