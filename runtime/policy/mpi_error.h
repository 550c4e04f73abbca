// SPDX-License-Identifier: MIT
//
// Errors of functions that libmpich has from libws, as those of MPI's own.
#pragma once

#include <mpi.h>

namespace ws::policy {

// A code of that class with a message of its own, in the name of that function; nothing is called.
int error_code(const char* function, int error_class, const char* text);

} // namespace ws::policy
