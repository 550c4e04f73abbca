/* SPDX-License-Identifier: MIT
 *
 * What the functions of the MPI standard do at their begin and end, for mpir_func.h.
 */
#ifndef MPIR_WORKSHARE_FUNC_H_INCLUDED
#define MPIR_WORKSHARE_FUNC_H_INCLUDED

#include "mpir_workshare.h"

#define MPIR_FUNC_TERSE_ENTER MPIR_Workshare_enter(__func__, __builtin_frame_address(0))
#define MPIR_FUNC_TERSE_EXIT MPIR_Workshare_leave(__builtin_frame_address(0))

#endif /* MPIR_WORKSHARE_FUNC_H_INCLUDED */
