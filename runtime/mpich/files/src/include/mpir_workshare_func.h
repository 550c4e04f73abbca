/* SPDX-License-Identifier: MIT
 *
 * What the functions of the MPI standard do when they begin and end, for mpir_func.h.
 */
#ifndef MPIR_WORKSHARE_FUNC_H_INCLUDED
#define MPIR_WORKSHARE_FUNC_H_INCLUDED

#include "mpir_workshare.h"

#define MPIR_FUNC_TERSE_ENTER MPIR_WORKSHARE_ENTER(__func__)
#define MPIR_FUNC_TERSE_EXIT MPIR_WORKSHARE_LEAVE()

#endif /* MPIR_WORKSHARE_FUNC_H_INCLUDED */
