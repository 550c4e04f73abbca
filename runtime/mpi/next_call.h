/* SPDX-License-Identifier: MIT
 *
 * For libraries that stand before others' functions without their declarations (calls.c, waits.c): arguments are words,
 * which are handed on as they came.
 */
#ifndef WS_NEXT_CALL_H
#define WS_NEXT_CALL_H

#include <stdio.h>
#include <stdlib.h>

typedef long word;
#define EXPORTED __attribute__((visibility("default")))

/* The arguments a0, a1, ... of a function that has COUNT of them, and their declarations. */
#define ARGUMENTS_0
#define ARGUMENTS_1 a0
#define ARGUMENTS_2 ARGUMENTS_1, a1
#define ARGUMENTS_3 ARGUMENTS_2, a2
#define ARGUMENTS_4 ARGUMENTS_3, a3
#define ARGUMENTS_5 ARGUMENTS_4, a4
#define ARGUMENTS_6 ARGUMENTS_5, a5
#define ARGUMENTS_7 ARGUMENTS_6, a6
#define ARGUMENTS_8 ARGUMENTS_7, a7
#define ARGUMENTS_9 ARGUMENTS_8, a8
#define ARGUMENTS_10 ARGUMENTS_9, a9
#define ARGUMENTS_11 ARGUMENTS_10, a10
#define ARGUMENTS_12 ARGUMENTS_11, a11
#define ARGUMENTS_13 ARGUMENTS_12, a12
#define WORDS_0 void
#define WORDS_1 word a0
#define WORDS_2 WORDS_1, word a1
#define WORDS_3 WORDS_2, word a2
#define WORDS_4 WORDS_3, word a3
#define WORDS_5 WORDS_4, word a4
#define WORDS_6 WORDS_5, word a5
#define WORDS_7 WORDS_6, word a6
#define WORDS_8 WORDS_7, word a7
#define WORDS_9 WORDS_8, word a8
#define WORDS_10 WORDS_9, word a9
#define WORDS_11 WORDS_10, word a10
#define WORDS_12 WORDS_11, word a11
#define WORDS_13 WORDS_12, word a12

__attribute__((noreturn, cold)) static inline void no_next(const char *name)
{
    fprintf(stderr, "workshare: error: %s is called, but no library has it\n", name);
    abort();
}

#endif
