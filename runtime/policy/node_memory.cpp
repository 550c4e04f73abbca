// SPDX-License-Identifier: MIT
#include "policy/node_memory.h"

#include "base/os.h"

#include <cstdint>
#include <cstring>

namespace ws::policy {

void* NodeMemory::allocate(MPI_Comm node, size_t bytes)
{
    constexpr size_t line = 64;
    int me, unit;
    void* base = nullptr;
    MPI_Aint size;
    PMPI_Comm_rank(node, &me);
    int there = me != 0 || base::shm_has_room(bytes + line);
    PMPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_LAND, node);
    if (!there)
        return nullptr;
    there = PMPI_Win_allocate_shared(me == 0 ? MPI_Aint(bytes + line) : 0, 1, MPI_INFO_NULL, node, &base, &window_) ==
            MPI_SUCCESS;
    PMPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_LAND, node);
    if (!there)
        return nullptr;
    PMPI_Win_shared_query(window_, 0, &size, &unit, &base);
    void* const memory = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(base) + line - 1) & ~uintptr_t(line - 1));
    if (me == 0)
        std::memset(memory, 0, bytes);
    PMPI_Barrier(node);
    return memory;
}

void NodeMemory::free()
{
    if (window_ != MPI_WIN_NULL)
        PMPI_Win_free(&window_);
}

} // namespace ws::policy
