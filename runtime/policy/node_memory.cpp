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
    if (!all(node, me != 0 || base::shm_has_room(bytes + line)))
        return nullptr;
    const bool there =
        PMPI_Win_allocate_shared(me == 0 ? MPI_Aint(bytes + line) : 0, 1, MPI_INFO_NULL, node, &base, &window_) ==
            MPI_SUCCESS;
    if (!all(node, there))
        return nullptr;
    PMPI_Win_shared_query(window_, 0, &size, &unit, &base);
    void* const memory = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(base) + line - 1) & ~uintptr_t(line - 1));
    if (me == 0)
        std::memset(memory, 0, bytes);
    return memory;
}

int64_t NodeMemory::from_first(MPI_Comm node, int64_t offset)
{
    PMPI_Bcast(&offset, 1, MPI_INT64_T, 0, node);
    return offset;
}

bool NodeMemory::all(MPI_Comm node, bool fine)
{
    int on_all = fine;
    PMPI_Allreduce(MPI_IN_PLACE, &on_all, 1, MPI_INT, MPI_LAND, node);
    return on_all;
}

void NodeMemory::free()
{
    if (window_ != MPI_WIN_NULL)
        PMPI_Win_free(&window_);
}

} // namespace ws::policy
