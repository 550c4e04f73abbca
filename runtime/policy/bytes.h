// SPDX-License-Identifier: MIT
//
// Messages of any number of bytes: MPI 4 counts them in an MPI_Count, older ones in an int, so that long ones need a
// type.
#pragma once

#include <climits>
#include <cstddef>
#include <mpi.h>

namespace ws::policy {

#if MPI_VERSION >= 4

inline int isend_bytes(const void* data, size_t bytes, int to, int tag, MPI_Comm comm, MPI_Request* request)
{
    return PMPI_Isend_c(data, MPI_Count(bytes), MPI_BYTE, to, tag, comm, request);
}
inline int irecv_bytes(void* data, size_t bytes, int from, int tag, MPI_Comm comm, MPI_Request* request)
{
    return PMPI_Irecv_c(data, MPI_Count(bytes), MPI_BYTE, from, tag, comm, request);
}
inline int bcast_bytes(void* data, size_t bytes, int root, MPI_Comm comm)
{
    return PMPI_Bcast_c(data, MPI_Count(bytes), MPI_BYTE, root, comm);
}

#else

// Calls `what(count, type)` with a type and a count that stand for `bytes` bytes. Returns the error of the call, or of
// making the type.
template <class What> int with_type(size_t bytes, What what)
{
    if (bytes <= size_t(INT_MAX))
        return what(int(bytes), MPI_BYTE);
    constexpr size_t block = size_t(1) << 30;
    MPI_Datatype blocks = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    const MPI_Aint places[] = {0, MPI_Aint(bytes / block * block)};
    const int lengths[] = {int(bytes / block), int(bytes % block)};
    int error = PMPI_Type_contiguous(int(block), MPI_BYTE, &blocks);
    const MPI_Datatype types[] = {blocks, MPI_BYTE};
    if (error == MPI_SUCCESS)
        error = PMPI_Type_create_struct(2, lengths, places, types, &type);
    if (error == MPI_SUCCESS)
        error = PMPI_Type_commit(&type);
    if (error == MPI_SUCCESS)
        error = what(1, type);
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&type);
    if (blocks != MPI_DATATYPE_NULL)
        PMPI_Type_free(&blocks);
    return error;
}

inline int isend_bytes(const void* data, size_t bytes, int to, int tag, MPI_Comm comm, MPI_Request* request)
{
    return with_type(bytes,
                     [&](int n, MPI_Datatype type) { return PMPI_Isend(data, n, type, to, tag, comm, request); });
}
inline int irecv_bytes(void* data, size_t bytes, int from, int tag, MPI_Comm comm, MPI_Request* request)
{
    return with_type(bytes,
                     [&](int n, MPI_Datatype type) { return PMPI_Irecv(data, n, type, from, tag, comm, request); });
}
inline int bcast_bytes(void* data, size_t bytes, int root, MPI_Comm comm)
{
    return with_type(bytes, [&](int n, MPI_Datatype type) { return PMPI_Bcast(data, n, type, root, comm); });
}

#endif

} // namespace ws::policy
