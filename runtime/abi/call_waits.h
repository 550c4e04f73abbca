/* SPDX-License-Identifier: MIT
 *
 * Between libws and libws-waits.so (mpi/waits.c), which stands before the C library's read() and the like. libws fills
 * this in once, `kinds` last. C and C++.
 */
#ifndef WS_CALL_WAITS_H
#define WS_CALL_WAITS_H

#include <stdint.h>

enum { WS_CALLS_GPU = 1, WS_CALLS_IO = 2 };

struct ws_call_waits {
    /* A call begins that may take long; 0: its end is not to be told. From a signal handler, too. */
    int (*begin)(int is_io);
    void (*end)(void);
    uintptr_t own_begin, own_end; /* where libws lies: its own calls are no waits of the program */
    unsigned kinds;               /* which calls are to be told: WS_CALLS_..., together; 0 before libws is ready */
};

#ifdef __cplusplus
/* What `begin` and `end` are (abi/waits.cpp). */
extern "C" int ws_call_begins(int is_io);
extern "C" void ws_call_ends(void);
#endif

/* In libws-waits.so. libws finds it by name. */
#define WS_CALL_WAITS_NAME "ws_call_waits"

#endif
