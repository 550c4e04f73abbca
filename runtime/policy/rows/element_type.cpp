// SPDX-License-Identifier: MIT
#include "policy/rows/element_type.h"

namespace ws::policy::rows {

ElementType duplicate(MPI_Datatype type)
{
    ElementType made;
    MPI_Count lower, extent, true_lower, true_extent, size;
    PMPI_Type_dup(type, &made.type);
    PMPI_Type_get_extent_x(type, &lower, &extent);
    PMPI_Type_get_true_extent_x(type, &true_lower, &true_extent);
    PMPI_Type_size_x(type, &size);
    made.extent = extent;
    made.has_holes = size != extent || true_extent != extent || true_lower != 0;
    return made;
}

void release(MPI_Datatype& type)
{
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&type);
}

size_t pack(const char* data, int64_t elements, MPI_Datatype type, MPI_Comm comm, std::vector<char>& packed)
{
    int room = 0, position = 0;
    PMPI_Pack_size(int(elements), type, comm, &room);
    packed.resize(size_t(room));
    PMPI_Pack(data, int(elements), type, packed.data(), room, &position, comm);
    return size_t(position);
}

} // namespace ws::policy::rows
