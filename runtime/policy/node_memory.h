// SPDX-License-Identifier: MIT
//
// Memory of a policy's own that the ranks of a node share, beside the window. What lies there: node_objects.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>

namespace ws::policy {

class NodeMemory {
public:
    // Collective over `node`, in Policy::attach(). Begins at a cache line, at another address in each process; null on
    // all ranks if there is not enough memory. The first rank finds zeroes, the others what it says in from_first().
    void* allocate(MPI_Comm node, size_t bytes);
    // Collective over the same: the offset at which the first rank has constructed its objects (NodeObjects).
    static int64_t from_first(MPI_Comm node, int64_t offset);
    // Collective over the same: whether `fine` is true on all ranks.
    static bool all(MPI_Comm node, bool fine);
    // Collective, in Policy::detach().
    void free();

private:
    MPI_Win window_ = MPI_WIN_NULL;
};

} // namespace ws::policy
