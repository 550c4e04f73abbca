// SPDX-License-Identifier: MIT
//
// What libws uses of an MPICH's library by address. Weak, because the library is the program's, which may have none:
// the loader looks for these before a shell or an interpreter begins.
#pragma once

#include <mpi.h>

#pragma weak MPI_UNWEIGHTED
#pragma weak MPI_WEIGHTS_EMPTY
