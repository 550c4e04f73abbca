/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Loops that waiting MPI ranks of a node help to run, for compilers without Workshare's plugin and for libraries.
 *
 * For C99 and later, and for C++11 and later. C++17 programs have more comfort in <workshare/ws.hpp>. Link with libws
 * (pkg-config: workshare; CMake: Workshare::ws). Examples: docs/reference/api.md.
 *
 * @par Units
 * Iterations, as int64_t. Ranges are half open: [begin, end).
 *
 * @par Errors
 * A function that can fail returns 0, or an errno value if it has done nothing at all. Then ws_last_error() says which
 * argument was wrong. Whatever only costs speed is no error.
 *
 * @par Without Workshare
 * Without mpirun -workshare (under another MPI: without the launcher workshare), before MPI_Init, after MPI_Finalize,
 * and without MPI, the caller runs the whole loop, in order.
 */
#ifndef WORKSHARE_WS_H
#define WORKSHARE_WS_H

#include "abi.h"
#include <stddef.h>

#if !defined(__LP64__)
#error "Workshare needs a 64-bit target"
#endif

#if defined(__GNUC__)
#define WS_MUST_USE __attribute__((warn_unused_result))
#else
#define WS_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A loop body: runs the iterations lo, lo + 1, ... hi - 1.
 *
 * ws_for calls it several times: on the caller's thread and on helper threads of the same process on lent cores, at the
 * same time. So results must not depend on the order in which iterations write to shared data.
 *
 * It may call ws_for, which then runs plain. It must not leave by longjmp. A C++ exception that leaves it ends the job
 * with a message.
 *
 * @param lo       first iteration of the chunk
 * @param hi       one past the last iteration of the chunk
 * @param context  the pointer that ws_for was given
 *
 * @par Source
 * MPI Workshare.
 */
typedef void ws_body(int64_t lo, int64_t hi, void *context);

/**
 * How a loop is run. All zero, as by `struct ws_options options = { 0 };`, is the default: chunks are sized by time.
 *
 * The kinds WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED and WS_RUNTIME mean the same as in the clauses of `#pragma ws
 * for`. They set how many iterations a thread takes at a time, never which thread runs one. WS_AUTO and WS_RUNTIME
 * take no chunk size.
 *
 * @par Source
 * MPI Workshare (schedule and steal schedule).
 */
struct ws_options {
    const char *name;                /**< the loop's name, a string constant; NULL: "file:line:function" */
    enum ws_schedule schedule;       /**< for the calling rank */
    enum ws_schedule steal_schedule; /**< for helpers; if this and steal_chunk are 0, as for the calling rank */
    int64_t chunk;                   /**< iterations per chunk of the calling rank; 0: not given */
    int64_t steal_chunk;             /**< iterations per chunk of a helper; 0: not given */
    uint64_t reserved[4];            /**< must be 0 */
};

/**
 * Runs a loop over [begin, end): calls body(lo, hi, context) for pieces that together are the range, each iteration
 * once.
 *
 * It does nothing if begin >= end. ws_for is also a macro that passes the place of the call, which names the loop. A
 * call of the function itself, `(ws_for)(...)`, is named by the body's symbol, or by the file and offset of the body.
 *
 * The runtime learns the cost of a loop for each place and each set of options.
 *
 * @param begin    first iteration
 * @param end      one past the last iteration
 * @param body     the loop body
 * @param context  passed to body; may be NULL
 * @param options  how to run the loop; NULL: the default
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: body is NULL; options has an unknown schedule, a negative chunk, a chunk for a schedule that takes none, or
 * reserved fields that are not 0.
 *
 * @par Blocking
 * It returns when the whole range has run. The caller works itself, and at the end waits for helpers in their last
 * chunk. It never waits for other ranks.
 *
 * @par Threads
 * Any thread may call it. Loops of the thread that called MPI_Init are shared. With MPI_THREAD_MULTIPLE, loops of up
 * to 8 threads per rank are shared at the same time; others run plain.
 *
 * @par Cost
 * If nobody helps: tens of nanoseconds, and the calls of body.
 *
 * @par Source
 * MPI Workshare.
 */
int ws_for(int64_t begin, int64_t end, ws_body *body, void *context, const struct ws_options *options) WS_MUST_USE;

/** What the macro ws_for calls. */
int ws_for_at(const char *file, int line, const char *function, int64_t begin, int64_t end, ws_body *body,
              void *context, const struct ws_options *options) WS_MUST_USE;
#define ws_for(...) ws_for_at(__FILE__, __LINE__, __func__, __VA_ARGS__)

/**
 * Defines a lock for critical sections, at file scope.
 *
 * @code
 * WS_CRITICAL(totals, "totals");
 *
 * ws_critical_start(&totals);
 * sum += part;
 * ws_critical_end(&totals);
 * @endcode
 *
 * All locks of one name in the job's ranks on the node are one lock, and so is `#pragma ws critical (totals)`. At any
 * time, at most one thread of all these ranks is between ws_critical_start and ws_critical_end. It works in loops and
 * outside of loops, with and without -workshare.
 *
 * The code that contains it must be loaded before MPI_Init is called.
 *
 * @param variable  the variable to define, of type struct ws_critical
 * @param name      the lock's name, a string constant
 *
 * @par Errors
 * None is returned. The job ends with a message if a holder dies, if a thread enters a lock that it holds, and for a
 * 257th name.
 *
 * @par Blocking
 * ws_critical_start waits until the lock is free: it spins, then sleeps. ws_critical_end does not block.
 *
 * @par Threads
 * Any thread may call ws_critical_start. The same thread must call ws_critical_end.
 *
 * @par Source
 * MPI Workshare (critical).
 */
#define WS_CRITICAL(variable, name) \
    __attribute__((constructor)) static void variable##_prepare(void) { ws_uses(WS_USES_CRITICAL); } \
    static struct ws_critical variable = { name, 0 }

/**
 * Announces that loop bodies call MPI. Call it before MPI_Init.
 *
 * Under mpirun -workshare, MPI_Init then gives MPI_THREAD_MULTIPLE, because helper threads make those calls. The
 * compiler plugin does this by itself. docs/reference/directives.md lists the calls that a body may make.
 *
 * @par Errors
 * None.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any thread may call it.
 *
 * @par Cost
 * None without -workshare.
 *
 * @par Source
 * MPI Workshare.
 */
static inline void ws_bodies_call_mpi(void)
{
    ws_uses(WS_USES_MPI_IN_LOOPS);
}

/**
 * Begins a wait outside of MPI: until ws_wait_end(), the calling rank's core may be lent.
 *
 * Put the two calls around code that sleeps: a wait for a GPU, for a file or a socket, for another process, for a
 * condition. Workshare sees waits in MPI by itself.
 *
 * @code
 * ws_wait_begin();
 * cudaStreamSynchronize(stream);
 * ws_wait_end();
 * @endcode
 *
 * The calling thread keeps running, and shares its core with a helper thread if it computes. Waits may be nested: the
 * outermost pair counts. In a wait, MPI may be called as usual: a call that waits does not lend the core again.
 *
 * @par Errors
 * None. If the system gives no thread, the core is not lent. After MPI_Finalize and in a child of fork(), nothing is
 * lent, and the calls still have to be paired.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any thread may call it. The core of the thread that called MPI_Init is lent, outside of loop bodies. On other
 * threads, in the body of a shared loop and in a shared parallel region of OpenMP, the calls have no effect.
 *
 * @par Cost
 * Without -workshare, a call. With it, waking a thread; for the first wait, creating one.
 *
 * @par Source
 * Workshare.
 */
void ws_wait_begin(void);

/**
 * Ends the wait that ws_wait_begin() began, on the same thread.
 *
 * MPI_Finalize ends an open wait, too.
 *
 * @par Errors
 * Without a ws_wait_begin() on this thread, it prints one warning per process and does nothing else.
 *
 * @par Blocking
 * It waits until the thread that lends the core has been woken and has left: mostly 10 to 50 us, and rarely up to a
 * quantum (WS_QUANTUM). It does not wait for a helper thread on the core, which finishes its chunk beside the caller,
 * as after a wait in MPI. In a wait that was too short to lend the core, it returns at once.
 *
 * @par Threads
 * As ws_wait_begin().
 *
 * @par Source
 * Workshare.
 */
void ws_wait_end(void);

/**
 * Begins a phase of the program, which the report shows by itself.
 *
 * A phase ends by ws_phase_end. Phases may be nested: a phase is the path of the names that are open, so "solve" inside
 * "step" is another than "solve" alone. Two ranks may have different phases. The first 16,382 paths of a rank have rows
 * of their own; all others are one phase, "(other phases)".
 *
 * In a job with -workshare, a program that carries Caliper gets the same regions there (cali_begin_region).
 *
 * @param name  the name, of which the first 111 bytes count. It is copied.
 *
 * @par Errors
 * None is returned. At the end of the job, one message names a phase that was left open, an end without a phase, or a
 * call by a thread that may not. Phases deeper than 63 count as the one that they are in.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Phases belong to the rank: only the thread that called MPI_Init begins and ends them, outside of loops. Calls of
 * others do nothing.
 *
 * @par Cost
 * Some 20 ns. Without mpirun -workshare, a call.
 *
 * @par Source
 * Workshare.
 */
void ws_phase_begin(const char *name);

/**
 * Ends the phase that began last and is open.
 *
 * @par Errors
 * See ws_phase_begin.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * As ws_phase_begin.
 *
 * @par Source
 * Workshare.
 */
void ws_phase_end(void);

/**
 * Sets whether the calling rank shares its loops and lends its core, from its next loop and its next wait on.
 *
 * It is on at the start. It overrides nothing: what the options of mpirun rule out, stays so. The tests of
 * -workshare-check share every loop all the same.
 *
 * @param on  1: yes; 0: no
 * @return what it was before; 0 without mpirun -workshare
 *
 * @par Errors
 * None. Calls of other threads than the one that called MPI_Init change nothing.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any thread may call it; see Errors.
 *
 * @par Source
 * Workshare.
 */
int ws_enable(int on);

/**
 * What the calling rank has done since the end of MPI_Init, for ws_metrics. Times are in seconds. Fields may be added
 * at the end.
 *
 * Figures of the node are those that its ranks have published: at their last wait or shared loop, brought up to now.
 */
struct ws_metrics {
    uint64_t size;        /**< bytes that libws has filled in, this field included */
    double elapsed_s;     /**< since the end of MPI_Init */
    double computing_s;   /**< the rank's own thread outside of MPI, without close_wait_s */
    double mpi_s;         /**< in MPI; without a report or trace only blocked_s is known of it */
    double blocked_s;     /**< of mpi_s: waits longer than the spin */
    double lent_s;        /**< of blocked_s: the core was lent */
    double borrowed_s;    /**< other cores computed for this rank */
    double close_wait_s;  /**< waiting for helpers at the ends of loops */
    double iterations_stolen;     /**< of its loops, run by helpers and workers */
    double node_ranks;            /**< ranks of this job on the node */
    double load_balance;          /**< of the node: mean work of a rank / most; work counts for the rank whose it is */
    double parallel_efficiency;   /**< of the node: all work / (elapsed_s * cores of ranks and workers) */
    double transfer_efficiency;   /**< of the rank: 1 - mpi_s / elapsed_s */
};

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of the struct by the function: C++ tells them apart by the word struct */
#endif
/**
 * Reads the calling rank's metrics while it runs.
 *
 * @param out   what is filled in
 * @param size  sizeof(struct ws_metrics): a program that was compiled with an older header gets what it knows
 * @return 0; -1 with nothing filled in if libws is not active (without mpirun -workshare, before MPI_Init, after
 * MPI_Finalize), if out is NULL, or if size is less than that of the field size
 *
 * @par Errors
 * See the return value.
 *
 * @par Blocking
 * None: it reads memory of the node, and sends no message.
 *
 * @par Threads
 * Any thread may call it. What is under way, a wait of another thread or a helper's chunk, is not yet counted.
 *
 * @par Cost
 * Less than a microsecond, and 20 to 100 ns per rank of the node.
 *
 * @par Source
 * Workshare, after DLB_TALP_CollectPOPMetrics of DLB.
 */
int ws_metrics(struct ws_metrics *out, size_t size);
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/**
 * Returns the message of the calling thread's last failed call of this interface.
 *
 * @return one line without a newline, valid until the thread's next failure; "" if no call failed
 *
 * @par Errors
 * None.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any thread may call it. Each thread has its own message.
 *
 * @par Source
 * Workshare.
 */
const char *ws_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
