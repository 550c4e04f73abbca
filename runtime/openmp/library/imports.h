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

/* What was found; all zero before, but for what is asked. */
struct ws_imports {
    const char *trusted;       /* asked: files that count as none, WS_OPENMP_TRUST; NULL: none */
    const char *sanitizer;     /* NULL: none */
    const char *function, *file; /* one of the kernel's threads, and what imports it; NULL: none */
    const char *event;         /* what waits for events of tasks; NULL: nothing */
    int tool;                  /* the program itself has ompt_start_tool() */
    int has_library;           /* an OpenMP library is loaded */
    struct dl_phdr_info program;
};

/* For dl_iterate_phdr(): adds what one file imports. Libraries of the system, of MPI and of libws count as none. */
int ws_look_at_imports(struct dl_phdr_info *info, size_t size, void *imports);

/* Why virtual threads cannot be had: the function that was found, in a file of `whose`. As snprintf(). */
int ws_tell_import(char *text, size_t room, const struct ws_imports *found, const char *whose);

#define WS_BETWEEN_NAMES ",: " /* colons, as commas end an item of WORKSHARE */

/* One of `names`, which characters of WS_BETWEEN_NAMES separate, means this file: its name, that without a version
 * (libtool.so for libtool.so.2), or `program` for the program itself, whose path is empty. */
int ws_is_trusted(const char *names, const char *path);

#ifdef __cplusplus
}
#endif

#endif
