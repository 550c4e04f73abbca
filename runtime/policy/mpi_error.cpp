// SPDX-License-Identifier: MIT
#include "policy/mpi_error.h"

// MPICH's function for ROMIO: makes an error code with a message of its own. The standard's MPI_Add_error_string would
// do, but in 4.0.2 not for codes of the predefined classes. Another MPI shows the class alone.
extern "C" int MPIR_Err_create_code(int last, int fatal, const char* function, int line, int error_class,
                                    const char* generic, const char* specific, ...) __attribute__((weak));

namespace ws::policy {

int error_code(const char* function, int error_class, const char* text)
{
    if (!MPIR_Err_create_code)
        return error_class;
    const char* generic = error_class == MPI_ERR_COMM         ? "**comm"
                          : error_class == MPI_ERR_INFO_VALUE ? "**infoval"
                          : error_class == MPI_ERR_ARG        ? "**arg"
                          : error_class == MPI_ERR_COUNT      ? "**count"
                          : error_class == MPI_ERR_RANK       ? "**rank"
                          : error_class == MPI_ERR_TYPE       ? "**dtype"
                          : error_class == MPI_ERR_NO_MEM     ? "**nomem"
                                                              : "**notimpl";
    return MPIR_Err_create_code(MPI_SUCCESS, 0, function, __LINE__, error_class, generic, "%s", text);
}

} // namespace ws::policy
