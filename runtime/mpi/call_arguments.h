/* SPDX-License-Identifier: MIT
 *
 * What the MPI call is about that the calling thread is about to make: its peer and its buffer, in one number. MPICH's
 * hook at the start of its functions knows their names, not their arguments; calls.c, which mpirun loads before
 * libmpich where turns of programs are looked for, notes them here. 0: nothing was noted.
 */
#ifndef WS_CALL_ARGUMENTS_H_INCLUDED
#define WS_CALL_ARGUMENTS_H_INCLUDED

#include <stdint.h>

extern __thread __attribute__((visibility("default"), tls_model("initial-exec"))) uint64_t ws_call_arguments;

#endif /* WS_CALL_ARGUMENTS_H_INCLUDED */
