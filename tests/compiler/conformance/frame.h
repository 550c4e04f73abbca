/* SPDX-License-Identifier: MIT
 *
 * What a generated case calls. A case runs twice, as the plain loop and with its directives, and puts what came out;
 * the two lists must be equal. In MPI runs one rank after the other is slow in its iterations, so that the others,
 * which wait for it in a barrier, steal. */
#ifndef CONFORM_FRAME_H
#define CONFORM_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "../../../runtime/abi/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CELLS = 256 };
extern int cell[CELLS];     /* zero at the start of each of the two runs */
extern int serial;          /* the plain run */

void case_begin(const char *name);
void case_shared(void);             /* the plain run is over */
/* At least this many must have been seen: fewer mean that the directive was ignored. */
void case_end(int regions, int tasks);
void put(long double value);        /* holds every value of the 64-bit types */
void put_cells(void);
void work(void);                    /* in an iteration: takes time in a rank whose turn it is to be slow */
void let_others_run(void);          /* in the middle of what must not be disturbed */
/* What the last loop told the runtime: kinds, chunks (0: none given). */
void schedule_is(int kind, long chunk, int steal_kind, long steal_chunk);
void name_is(const char *name);

void run_cases(void);               /* of the program */

#ifdef __cplusplus
}
#endif
#endif
