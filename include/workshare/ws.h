/* SPDX-License-Identifier: MIT
 *
 * Loops that the waiting MPI ranks of a node help to run, for compilers without Workshare's plugin and for libraries.
 * For C99 and C++11; C++ programs have more comfort in <workshare/ws.hpp>. Link with libws (pkg-config: workshare;
 * CMake: Workshare::ws). Reference with examples: docs/reference/api.md. The model is that of the paper "MPI
 * Workshare".
 *
 * Everywhere:
 *   Units       iterations, as int64_t; ranges are half open, [begin, end).
 *   Errors      a function that can fail returns 0, or an errno value after it has done nothing at all; then
 *               ws_last_error() says in words which argument was wrong. What only costs speed is no error.
 *   Without     mpirun -workshare, before MPI_Init, after MPI_Finalize, under another MPI or without one, a loop is run
 *   Workshare   by its caller, in order.
 *
 * Thread safety and blocking are stated with each function.
 */
#ifndef WS_H
#define WS_H

#include "abi.h"

#if !defined(__LP64__)
#error "Workshare needs a 64-bit target"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the iterations lo, lo + 1, ... hi - 1 of a loop; `context` is what ws_for was given. Called several times, by
 * the caller of ws_for and by guests, threads of the same process on lent cores, at the same time: what it writes to
 * shared data must not depend on the order of iterations. It may call ws_for, which then runs plain. It must not leave
 * by longjmp; a C++ exception that leaves it ends the job, with a message.
 * From: MPI Workshare. */
typedef void ws_body(int64_t lo, int64_t hi, void *context);

/* How a loop is run. All zero, as by `struct ws_options options = { 0 };`, is the default: chunks sized by time.
 * schedule and chunk are for the calling rank, steal_schedule and steal_chunk for thieves, which do as the caller where
 * nothing is said for them. The kinds WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED, WS_RUNTIME mean what the clauses of
 * `#pragma ws for` mean: how many iterations are taken at a time, never who runs one. WS_AUTO and WS_RUNTIME take no
 * chunk.
 * From: MPI Workshare (schedule and steal schedule). */
struct ws_options {
    const char *name;                   /* what the loop is called; NULL: "file:line:function". A string constant */
    enum ws_schedule schedule;
    enum ws_schedule steal_schedule;
    int64_t chunk;                      /* iterations; 0 = not given */
    int64_t steal_chunk;                /* iterations; 0 = not given */
    uint64_t reserved[4];               /* must be 0 */
};

/* Runs body(lo, hi, context) over pieces of [begin, end) that together are all of it, each iteration once; nothing if
 * begin >= end. Calls from C and C++ go through the macro below, which tells where the loop is; others, as
 * (ws_for)(...), are named by the body's symbol, or by file and offset where that is not visible.
 *   Errors      EINVAL: body is NULL; options has an unknown schedule, a negative chunk, a chunk for a schedule that
 *               takes none, reserved fields that are not 0.
 *   Blocking    returns when the whole range has run: the caller works itself, and at the end waits for guests in their
 *               last chunk. Never waits for other ranks.
 *   Threads     from any thread. Loops of the thread that called MPI_Init are shared, and with MPI_THREAD_MULTIPLE
 *               those of up to 8 threads at once; others run plain.
 *   Cost        with no thief tens of nanoseconds and the calls of body.
 * What the runtime learns of a loop's cost it keeps for each call and its options.
 * From: MPI Workshare. */
int ws_for(int64_t begin, int64_t end, ws_body *body, void *context, const struct ws_options *options)
#ifdef __GNUC__
    __attribute__((warn_unused_result))
#endif
    ;
int ws_for_at(const char *file, int line, const char *function, int64_t begin, int64_t end, ws_body *body,
              void *context, const struct ws_options *options)
#ifdef __GNUC__
    __attribute__((warn_unused_result))
#endif
    ;
#define ws_for(...) ws_for_at(__FILE__, __LINE__, __func__, __VA_ARGS__)

/* Defines a lock for critical sections, at file scope:
 *
 *     WS_CRITICAL(totals, "totals");
 *
 *     ws_critical_start(&totals);
 *     sum += part;
 *     ws_critical_end(&totals);
 *
 * The name is a string constant. All locks of one name in the job's ranks on the node are one lock, and so is that of
 * `#pragma ws critical (totals)`: one thread of all these ranks at a time is between start and end. Holds in loops and
 * outside, with and without -workshare; the code must have been loaded when MPI_Init is called.
 *   Errors      none is returned: a holder that dies, a second start by the same thread, a 257th name end the job with
 *               a message.
 *   Blocking    start waits until the lock is free, first spinning, then asleep. end does not block.
 *   Threads     from any; end from the thread that called start.
 * From: MPI Workshare (critical). */
#define WS_CRITICAL(variable, name) \
    __attribute__((constructor)) static void variable##_prepare(void) { ws_uses(WS_USES_CRITICAL); } \
    static struct ws_critical variable = { name, 0 }

/* To be called before MPI_Init by programs whose bodies call MPI, as the plugin does by itself: under mpirun -workshare
 * MPI_Init then gives MPI_THREAD_MULTIPLE, for guests make those calls from threads. Costs nothing otherwise. What a
 * body may call: docs/reference/directives.md. Cannot fail, does not block, from any thread.
 * From: MPI Workshare. */
static inline void ws_bodies_call_mpi(void)
{
    ws_uses(WS_USES_MPI_IN_LOOPS);
}

/* The message of the calling thread's last failed call of this interface, "" if none failed. One line without newline;
 * valid until the thread's next failure. Does not block, cannot fail, from any thread.
 * From: Workshare itself. */
const char *ws_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
