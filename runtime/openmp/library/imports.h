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

/* What was found. Set `trusted` before the search, and everything else to zero. */
struct ws_imports {
    const char *trusted;       /* WS_OPENMP_TRUST: files whose use of system threads does no harm; NULL: none */
    const char *sanitizer;     /* NULL: none */
    const char *function, *file; /* one of the kernel's threads, and what imports it; NULL: none */
    const char *event;         /* what waits for events of tasks; NULL: nothing */
    int tool;                  /* the program itself has ompt_start_tool() */
    int has_library;           /* an OpenMP library is loaded */
    struct dl_phdr_info program;
};

/* For dl_iterate_phdr(): adds what one file imports. Libraries of the system, of MPI and of libws count as none. */
int ws_look_at_imports(struct dl_phdr_info *info, size_t size, void *imports);

/* Writes why the program cannot have virtual threads: because of the function that was found. `whose`: a text that is
 * put before the name of the file. Returns what snprintf() does. */
int ws_tell_import(char *text, size_t room, const struct ws_imports *found, const char *whose);

/* Returns the next name of a list that commas, colons or blanks separate, or NULL; `names` is advanced. It may be NULL:
 * then there is no list. */
const char *ws_next_name(const char **names, size_t *length);

/* Whether one of `names` stands for this file: by its name, its name without a version (libtool.so for libtool.so.2),
 * or `program` for the program itself, whose path is empty. */
int ws_is_trusted(const char *names, const char *path);

#ifdef __cplusplus
}
#endif

#endif
