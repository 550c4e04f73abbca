/* SPDX-License-Identifier: MIT
 *
 * Tasks that move between nodes: a pool of them over the ranks of a communicator. For C99 and C++11; C++ programs have
 * more comfort in <workshare/task.hpp>. Link with libws (pkg-config: workshare; CMake: Workshare::ws), which needs our
 * MPI library or one with its binary interface. Reference with examples: docs/reference/tasks.md. The algorithm is that
 * of "Dynamic Load Balancing Algorithm for MPI Parallel Computing" (Sun, Liang).
 *
 * Everywhere:
 *   Units       bytes. Data of a task is aligned to 8 bytes, to 16 where there are more than 40.
 *   Errors      a function that can fail returns 0, or an errno value; then ws_last_error() (ws.h) says in words what
 *               was wrong. Except for ws_pool_run it has then done nothing at all. An error of MPI itself ends the
 *               job, with a message.
 *   Without     mpirun -workshare each rank runs the tasks that it puts; they do not move, and ws_pool_run still ends.
 *   Workshare   The same with -workshare-tasks none.
 *   Collective  functions that some rank of the communicator never calls wait for ever. Under mpirun -workshare one
 *               line on stderr names such ranks of the node when a rank has waited for 9 s.
 *
 * Thread safety and blocking are stated with each function.
 */
#ifndef WS_TASK_H
#define WS_TASK_H

#include "ws.h"

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WS_MUST_USE __attribute__((warn_unused_result))
#else
#define WS_MUST_USE
#endif

typedef struct ws_pool ws_pool;

/* What a running task is told. */
struct ws_task {
    ws_pool *pool;
    void *data;                 /* as it was put, or as `unpack` made it; may be changed */
    size_t bytes;
    void *context;              /* of its kind, on this rank */
    int kind;
    int origin;                 /* the rank of the pool's communicator that put it */
    const void *reserved[4];
};

/* Runs a task, on any rank, once. Several run at the same time, on threads of one process too. It may put tasks, hold
 * `ws for` loops and ws_for (shared with other ranks where the rank has no other task to share), and call MPI's
 * point-to-point functions; no collective ones, nor ws_pool_run. It must not leave by longjmp; a C++ exception that
 * leaves it ends the job. Returns 0, or a number that says what failed: ws_pool_run then fails on all ranks. */
typedef int ws_task_body(struct ws_task *task);

/* A kind of tasks. All zero but name and run is right for data that are flat and have no result. */
struct ws_task_kind {
    const char *name;           /* for messages and the report; a string constant, the same on all ranks */
    ws_task_body *run;
    void *context;              /* of this rank: what its tasks need beside their data */
    size_t result;              /* most bytes of a task's result; 0: it has none */
    /* Not NULL: results of all tasks are combined, into one that ws_pool_get_total gives; `into` has `result` bytes, 0
     * at first. Must be associative and commutative. Called by several threads, for one `into` one at a time. */
    void (*combine)(void *into, const void *from, void *context);
    /* Not NULL: the data is not flat. ws_pool_put keeps the pointer, and these are called when a task moves: how many
     * bytes it takes, write them (and no more), and make the data of them again, with the `bytes` of the task.
     * `release`, called when a task has run or moved away, frees the data. All four or none. Any thread of the process
     * may call them, also one whose task waits in MPI: they take no lock that a task holds while it calls MPI. */
    size_t (*packed)(const void *data, size_t bytes);
    void (*pack)(const void *data, size_t bytes, void *to);
    void *(*unpack)(const void *packed, size_t packed_bytes, size_t *bytes);
    void (*release)(void *data, size_t bytes);
    uint64_t reserved[4];       /* must be 0 */
};

/* Makes a pool over `comm`, of which it makes a duplicate.
 *   Errors      ENOMEM. EINVAL: MPI is not initialized, `pool` is NULL, or `comm` is MPI_COMM_NULL or an
 *               intercommunicator.
 *   Blocking    collective over comm.
 *   Threads     one at a time; best the one that called MPI_Init, whose core is lent while it has nothing to do. */
int ws_pool_create(MPI_Comm comm, ws_pool **pool) WS_MUST_USE;

/* Registers a kind, before the first task of it is put; in the same order on all ranks. *kind: its number, from 0 on.
 *   Errors      EINVAL: no name or run, some but not all functions for data that is not flat, combine without a result,
 *               reserved fields. ENOSPC: there are 65535 already.
 *   Blocking    none.  Threads: one at a time, and not while the pool runs. */
int ws_pool_register(ws_pool *pool, const struct ws_task_kind *description, int *kind) WS_MUST_USE;

/* How a task is put; all zero is the default. */
struct ws_task_options {
    int priority;               /* -8 to 7: a rank begins those with a higher one first */
    int pinned;                 /* not 0: runs on this rank */
    int takes;                  /* not 0: `data` was allocated by malloc, and the pool frees it; it is not copied */
    uint64_t *future;           /* not NULL: its result is kept for ws_pool_get_result, under the number stored here */
    uint64_t reserved[4];       /* must be 0 */
};

/* Puts a task, here: from tasks, and between runs. `data` is copied (but see `takes`, and kinds that are not flat).
 *   Errors      EINVAL: an unknown kind, a priority out of range, data NULL with bytes, a future of a kind without
 *               result, reserved fields, a pool that was freed. ENOMEM. A task that another thread than a task's puts
 *               while the pool runs may come too late for that run: the next run then runs it.
 *   Blocking    none.  Threads: any of this process.
 *   Cost        with its run about 50 ns for an empty task on its own rank. */
int ws_pool_put(ws_pool *pool, int kind, const void *data, size_t bytes, const struct ws_task_options *options)
    WS_MUST_USE;

/* From a running task, at most once: its result, of at most as many bytes as its kind says.
 *   Errors      EMSGSIZE: more; the task then counts as failed.  EINVAL: there is one already.
 *   Blocking    none.  Threads: the task's. */
int ws_task_set_result(struct ws_task *task, const void *result, size_t bytes) WS_MUST_USE;

/* Runs tasks until none is left on any rank. What failed does not keep others from running.
 *   Errors      the same on all ranks. EINVAL: the pool was freed, or it is called from a task: nothing has run. Or
 *               kinds differ between ranks: only ranks without a new kind have run tasks, of kinds that all have; the
 *               others are still there. ECANCELED: a task has failed: ws_last_error() says where, of what kind and with
 *               what number.
 *   Blocking    collective over the pool's communicator. A rank with nothing to do waits in MPI: it lends its core.
 *   Threads     one at a time for a pool, and for all pools of a process. */
int ws_pool_run(ws_pool *pool) WS_MUST_USE;

/* The combined results of a kind's tasks in the last run; the same on all ranks. `bytes`: the kind's `result`.
 *   Errors      EINVAL: the kind combines nothing, other bytes.
 *   Blocking    none.  Threads: any, not while the pool runs. */
int ws_pool_get_total(ws_pool *pool, int kind, void *result, size_t bytes) WS_MUST_USE;

/* The result of a task that this rank put with a future; then the future is gone. *bytes: as many as the task gave.
 *   Errors      EINVAL: no such future, one of another pool, or its task has not run. EMSGSIZE: `capacity` is too
 *               small, and the future stays. ECANCELED: the task failed.
 *   Blocking    none.  Threads: any. */
int ws_pool_get_result(ws_pool *pool, uint64_t future, void *result, size_t capacity, size_t *bytes) WS_MUST_USE;

/* What this rank has done since the pool was made. */
struct ws_pool_counts {
    uint64_t put, run;          /* tasks */
    uint64_t moved_out, moved_in;
    uint64_t bytes_out, bytes_in; /* of data that moved */
    uint64_t letters;           /* sent, of any sort */
    /* Tasks that were asked for and stayed: their run time did not make up for the way, the receiver had no room, they
     * had moved twice, or nothing was there. */
    uint64_t kept_worth, kept_room, kept_moved, kept_none;
};
/* Errors: EINVAL: a pool that was freed, or `counts` is NULL.  Blocking: none.  Threads: any. */
int ws_pool_get_counts(ws_pool *pool, struct ws_pool_counts *counts) WS_MUST_USE;

/* Frees a pool, with tasks that were never run; *pool becomes NULL. Before MPI_Finalize.
 *   Errors      EINVAL: it was freed, or runs, or MPI is finalized.
 *   Blocking    collective over the pool's communicator. */
int ws_pool_free(ws_pool **pool) WS_MUST_USE;

/* Former names, which go with the next release. */
#ifndef WS_IN_LIBWS
#define ws_tasks ws_pool
#define ws_task_counts ws_pool_counts
#define ws_tasks_create ws_pool_create
#define ws_tasks_kind ws_pool_register
#define ws_task_put ws_pool_put
#define ws_task_result ws_task_set_result
#define ws_tasks_run ws_pool_run
#define ws_tasks_reduced ws_pool_get_total
#define ws_tasks_future ws_pool_get_result
#define ws_tasks_counts ws_pool_get_counts
#define ws_tasks_free ws_pool_free
#endif

/* Tasks may call MPI, and messages are looked at while they run: under mpirun -workshare MPI_Init gives
 * MPI_THREAD_MULTIPLE. */
#ifndef WS_IN_LIBWS
__attribute__((constructor)) static void ws_pool_prepare(void)
{
    ws_uses(WS_USES_MPI_IN_LOOPS);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
