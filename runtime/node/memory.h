// SPDX-License-Identifier: MIT
//
// Memory that the ranks of a node share: a shared window of MPI-3. Where MPI shares no memory (split.h), a file without
// a name, which rank 0 of the node makes and the others open in its /proc/PID/fd: it goes with the last process that
// has it, whatever ends the job.
#pragma once

#include "base/mapping.h"

#include <cstddef>
#include <cstdint>
#include <mpi.h>

namespace ws::node {

class Memory {
public:
    // What the memory contains at first. The kernel gives pages to the core that writes them first: zeroes come from
    // rank 0, so where each rank begins with its own part, none are written.
    enum class Content { zeroes, anything };

    // Collective over `node`, whose ranks are one node's (split()). Begins at a cache line, at another address in each
    // process; null on all ranks if there is not enough memory. Zeroes are there for the first rank; for the others
    // after from_first() or all().
    void* allocate(MPI_Comm node, size_t bytes, Content content = Content::zeroes);
    // After allocate() has returned null, the same on all ranks: /dev/shm has no room.
    bool lacks_room() const { return lacks_room_; }
    // Collective over the same: the offset at which the first rank has constructed its objects (NodeObjects).
    static int64_t from_first(MPI_Comm node, int64_t offset);
    // Collective over the same: whether `fine` is true on all ranks.
    static bool all(MPI_Comm node, bool fine);
    // Collective over the same.
    void free();

private:
    MPI_Win window_ = MPI_WIN_NULL;
    base::Mapping mapping_; // in place of the window
    bool lacks_room_ = false;
};

} // namespace ws::node
