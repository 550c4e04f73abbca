// SPDX-License-Identifier: MIT
#pragma once

#include <mpi.h>
#include <numeric>
#include <vector>

namespace ws::policy {

// The rank in MPI_COMM_WORLD of each process of `comm`, an intracommunicator. Local; any thread that may call MPI.
inline std::vector<int> world_ranks(MPI_Comm comm)
{
    MPI_Group group, world;
    int size = 0;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    std::vector<int> ranks(size_t(size), 0), in_world(ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, in_world.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return in_world;
}

} // namespace ws::policy
