// SPDX-License-Identifier: MIT
//
// The library of the standard's ABI has no conversions of Fortran's handles: they belong to the MPI that a program's
// Fortran is compiled with. Handles have numbers, which Fortran's handles are.
#pragma once

#include <mpi.h>

#define MPI_Comm_f2c MPI_Comm_fromint
#define MPI_Comm_c2f MPI_Comm_toint
#define MPI_Info_f2c MPI_Info_fromint
#define MPI_Type_f2c MPI_Type_fromint
