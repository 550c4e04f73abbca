/* SPDX-License-Identifier: MIT
 *
 * The cases of the program `same`, and what all of them use. */
#ifndef WS_TEST_SAME_H
#define WS_TEST_SAME_H

#include <mpi.h>

extern int rank, ranks;
extern const char *now; /* the case */
extern char *self;      /* this program */

void tell(const char *format, ...);
int class_of(int error);
void late(int who);
/* What an operation came to. */
void show(const char *what, int error, MPI_Status *s);
void all_collectives(const char *name, MPI_Comm comm);

/* ---- cases */

void progress(void);
void alone(void);
void truncated(void);
void zero(void);
void sparse(void);
void kinds(void);
void many(void);
void errors(void);
void late_errors(void);
void requests(void);
void generalized(void);
void large(void);
void threads(void);
void jump(void);
void dynamic(void);
void child(void);
void files(void);
void windows(void);
void rma(void);
void io(void);
#if MPI_VERSION >= 4
void counts(void);
void sessions(void);
void in_session(const char *tag);
#endif

#endif
