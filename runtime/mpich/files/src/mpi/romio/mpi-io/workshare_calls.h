/* SPDX-License-Identifier: MIT
 *
 * ROMIO's functions of the MPI standard begin and end where they take and leave MPICH's lock. For mpioimpl.h.
 */
#ifndef WORKSHARE_CALLS_H_INCLUDED
#define WORKSHARE_CALLS_H_INCLUDED

#include "mpir_workshare.h"

/* If a function has no `myname` of its own, its C name is the name of the call */
static const char myname[] __attribute__ ((unused)) = "";

#define ROMIO_THREAD_CS_ENTER() do {                                            \
        MPIR_Ext_cs_enter();                                                    \
        MPIR_WORKSHARE_ENTER(myname[0] ? myname : __func__);                    \
    } while (0)
#define ROMIO_THREAD_CS_EXIT() do {                                             \
        MPIR_WORKSHARE_LEAVE();                                                 \
        MPIR_Ext_cs_exit();                                                     \
    } while (0)

#endif /* WORKSHARE_CALLS_H_INCLUDED */
