/* SPDX-License-Identifier: MIT
 *
 * What the program and its libraries import, and so what they can reach that the kernel keeps for each of its threads:
 * early.c asks it of all that the process begins with, tool/attach.cpp of a tool that is loaded later. C and C++. */
#ifndef WS_IMPORTS_H
#define WS_IMPORTS_H

#include <link.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was found; all zero before. */
struct ws_imports {
    const char *sanitizer;     /* NULL: none */
    const char *function, *file; /* one of the kernel's threads, and what imports it; NULL: none */
    const char *event;         /* what waits for events of tasks; NULL: nothing */
    int tool;                  /* the program itself has ompt_start_tool() */
    int has_library;           /* an OpenMP library is loaded */
    struct dl_phdr_info program;
};

/* For dl_iterate_phdr(): adds what one file imports. Libraries of the system, of MPI and of libws count as none. */
int ws_look_at_imports(struct dl_phdr_info *info, size_t size, void *imports);

#ifdef __cplusplus
}
#endif

#endif
