// SPDX-License-Identifier: MIT
//
// The Fortran names: called through the module xmpi (include/workshare/xmpi.F90), which hands over the same addresses,
// as a TYPE(MPI_Comm) holds the integer alone. An ierror that is not given is null.
#include "policy/rows/exports.h"
#include "base/os.h"

namespace {

void set(MPI_Fint* ierror, int error)
{
    if (ierror)
        *ierror = error;
}

} // namespace

#define FORTRAN WS_EXPORT void

FORTRAN ws_xmpi_get_wsize_(MPI_Fint* comm, MPI_Count* rows, MPI_Fint* info, int* partition, MPI_Count* count,
                           MPI_Count* displ, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Get_wsize(MPI_Comm_f2c(*comm), *rows, MPI_Info_f2c(*info), partition, count, displ));
}

FORTRAN ws_xmpi_get_counts_(int* partition, MPI_Count* counts, MPI_Count* displs, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Get_counts(*partition, counts, displs));
}

FORTRAN ws_xmpi_register_(int* partition, void* address, MPI_Count* width, MPI_Fint* type, int* layout,
                          MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Register(*partition, address, *width, MPI_Type_f2c(*type), *layout));
}

FORTRAN ws_xmpi_register_csr_(int* partition, void* starts, MPI_Fint* start_type, void* columns, MPI_Fint* column_type,
                              void* values, MPI_Fint* value_type, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Register_csr(*partition, starts, MPI_Type_f2c(*start_type), columns, MPI_Type_f2c(*column_type),
                                     values, MPI_Type_f2c(*value_type)));
}

FORTRAN ws_xmpi_deregister_(int* partition, void* address, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Deregister(*partition, address));
}

FORTRAN ws_xmpi_set_work_(int* partition, double* work, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Set_work(*partition, *work));
}

FORTRAN ws_xmpi_resize_(int* partition, int* processes, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Resize(*partition, *processes));
}

FORTRAN ws_xmpi_set_comm_(MPI_Fint* comm, int* partition, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Set_comm(MPI_Comm_f2c(*comm), partition));
}

FORTRAN ws_xmpi_set_goal_(int* partition, int* goal, double* value, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Set_goal(*partition, *goal, *value));
}

FORTRAN ws_xmpi_monitor_begin_(int* partition, MPI_Fint* ierror) { set(ierror, ws_XMPI_Monitor_begin(*partition)); }

FORTRAN ws_xmpi_monitor_end_(int* partition, MPI_Count* count, MPI_Count* displ, int* moved, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Monitor_end(*partition, count, displ, moved));
}

FORTRAN ws_xmpi_monitor_end_begin_(int* partition, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Monitor_end_begin(*partition));
}

FORTRAN ws_xmpi_monitor_end_finish_(int* partition, MPI_Count* count, MPI_Count* displ, int* moved, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Monitor_end_finish(*partition, count, displ, moved));
}

FORTRAN ws_xmpi_partition_free_(int* partition, MPI_Fint* ierror) { set(ierror, ws_XMPI_Partition_free(partition)); }

FORTRAN ws_xmpi_alloc_(MPI_Count* bytes, void* address, MPI_Fint* ierror)
{
    set(ierror, ws_XMPI_Alloc(*bytes, address));
}

FORTRAN ws_xmpi_free_(void* address, MPI_Fint* ierror) { set(ierror, ws_XMPI_Free(address)); }
