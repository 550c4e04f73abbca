// SPDX-License-Identifier: MIT
//
// Types of elements where there is no MPI: those that the tests use.
#include "policy/rows/element_type.h"

#include <stdexcept>

namespace ws::policy::rows {

ElementType duplicate(MPI_Datatype type)
{
    if (type == MPI_INT)
        return {type, 4, false};
    if (type == MPI_DOUBLE || type == MPI_INT64_T)
        return {type, 8, false};
    throw std::runtime_error("a type that is none here");
}

void release(MPI_Datatype& type) { type = MPI_DATATYPE_NULL; }

size_t pack(const char*, int64_t, MPI_Datatype, MPI_Comm, std::vector<char>&)
{
    throw std::runtime_error("no type here has holes");
}

} // namespace ws::policy::rows
