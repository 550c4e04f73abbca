// SPDX-License-Identifier: MIT
//
// Memory of a policy's own that the ranks of a node share, beside the window.
#pragma once

#include <cstddef>
#include <mpi.h>

namespace ws::policy {

class NodeMemory {
public:
    // Collective over `node`, in Policy::attach(). Zeroes, from a cache line on, at another address in each process.
    // Null on all ranks where there is not enough of it.
    void* allocate(MPI_Comm node, size_t bytes);
    // Collective, in Policy::detach().
    void free();

private:
    MPI_Win window_ = MPI_WIN_NULL;
};

} // namespace ws::policy
