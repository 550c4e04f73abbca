// SPDX-License-Identifier: MIT
//
// What partitions ask of MPI about the type of an array's elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <vector>

namespace ws::policy::rows {

struct ElementType {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int64_t extent = 0;    // bytes from one element to the next
    bool has_holes = false; // bytes of an element that belong to no datum
};

// Returns a duplicate of `type`, which the caller releases.
ElementType duplicate(MPI_Datatype type);
void release(MPI_Datatype& type); // MPI_DATATYPE_NULL from then on, or before
// Packs the data of `elements` elements, without holes; returns their size in bytes.
size_t pack(const char* data, int64_t elements, MPI_Datatype type, MPI_Comm comm, std::vector<char>& packed);

} // namespace ws::policy::rows
