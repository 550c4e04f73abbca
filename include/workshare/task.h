/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Pools of tasks that move between nodes.
 *
 * For C99 and later, and for C++11 and later. C++17 programs have more comfort in <workshare/task.hpp>. Link with
 * libws (pkg-config: workshare; CMake: Workshare::ws), which needs Workshare's MPI library or one with its binary
 * interface; or, under any MPI, with `workshare --libs`. Examples: docs/reference/tasks.md. The default algorithm is
 * that of "Dynamic Load Balancing Algorithm for MPI Parallel Computing" (Sun, Liang).
 *
 * @par Units
 * Bytes. The data of a task is aligned to 8 bytes, or to 16 if it has more than 40.
 *
 * @par Errors
 * A function that can fail returns 0, or an errno value. Then ws_last_error() (ws.h) says what was wrong. Except for
 * ws_pool_run, it has then done nothing at all. An error of MPI itself ends the job with a message.
 *
 * @par Collective calls
 * If a rank of the communicator never makes a collective call, the others wait for ever. Under mpirun -workshare, one
 * line on stderr names such ranks of the node after a rank has waited for 9 s.
 *
 * @par Without Workshare
 * Without mpirun -workshare, or with -workshare-tasks none, each rank runs the tasks that it puts. Nothing moves, and
 * ws_pool_run still ends.
 */
#ifndef WORKSHARE_TASK_H
#define WORKSHARE_TASK_H

#include "ws.h"

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A pool of tasks over the ranks of a communicator. */
typedef struct ws_pool ws_pool;

/** A running task. */
struct ws_task {
    ws_pool *pool;
    void *data;                 /**< as it was put, or as `unpack` made it; the task may change it */
    size_t bytes;               /**< size of data */
    void *context;              /**< the context of its kind on this rank */
    int kind;                   /**< the number of its kind */
    int origin;                 /**< the rank of the pool's communicator that put it */
    const void *reserved[4];
};

/**
 * A task's body. It runs once, on any rank. Several run at the same time, also on threads of one process.
 *
 * It may put tasks and wait for them (ws_task_wait), run `ws for` loops and ws_for, and call MPI's point-to-point
 * functions. Its loops are shared with other ranks if the rank has no other task to share. It must not call collective
 * functions or ws_pool_run. It must not leave by longjmp. A C++ exception that leaves it ends the job.
 *
 * @return 0, or a number that says what failed: ws_pool_run then fails on all ranks
 */
typedef int ws_task_body(struct ws_task *task);

/** A kind of tasks. All zero except name and run is right for flat data without a result. */
struct ws_task_kind {
    const char *name;           /**< for messages and the report: a string constant, the same on all ranks */
    ws_task_body *run;          /**< the body */
    void *context;              /**< this rank's own data for its tasks */
    size_t result;              /**< largest size of a task's result, in bytes; 0: no result; SIZE_MAX: any */
    /**
     * If not NULL, the results of all tasks are combined into one, which ws_pool_get_total returns. `into` has
     * `result` bytes, 0 at first. It must be associative and commutative. Several threads call it, but only one at a
     * time for one `into`.
     */
    void (*combine)(void *into, const void *from, void *context);
    /**
     * If not NULL, the data is not flat. Then ws_pool_put keeps the pointer, and these functions are called when a
     * task moves: `packed` returns the number of bytes it takes, `pack` writes them (and no more), and `unpack` makes
     * the data from them and sets the task's `bytes`. `release` frees the data after a task has run or moved away.
     * Set all four or none. Any thread of the process may call them, also one whose task waits in MPI. So they must
     * not take a lock that a task holds while it calls MPI.
     */
    size_t (*packed)(const void *data, size_t bytes);
    void (*pack)(const void *data, size_t bytes, void *to);
    void *(*unpack)(const void *packed, size_t packed_bytes, size_t *bytes);
    void (*release)(void *data, size_t bytes);
    uint64_t reserved[4];       /**< must be 0 */
};

/**
 * Creates a pool over a duplicate of `comm`.
 *
 * @param comm       the communicator
 * @param[out] pool  the pool
 * @return 0, or an errno value
 *
 * @par Errors
 * ENOMEM: no memory. EINVAL: MPI is not initialized, pool is NULL, or comm is MPI_COMM_NULL or an intercommunicator.
 *
 * @par Blocking
 * Collective over comm.
 *
 * @par Threads
 * One at a time. Best is the thread that called MPI_Init, because its core is lent while it has nothing to do.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_create(MPI_Comm comm, ws_pool **pool) WS_MUST_USE;

/**
 * The same as ws_pool_create, for Fortran: its module `workshare_task` calls it.
 *
 * @param comm       a handle of Fortran
 * @param[out] pool  the pool
 * @return 0, or an errno value
 *
 * @par Errors
 * Those of ws_pool_create.
 *
 * @par Blocking
 * Collective over comm.
 *
 * @par Threads
 * One at a time.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_create_f(MPI_Fint comm, ws_pool **pool) WS_MUST_USE;

/**
 * Registers a kind of tasks, before the first task of the kind is put. All ranks register the same kinds in the same
 * order.
 *
 * @param pool         the pool
 * @param description  the kind; it is copied
 * @param[out] kind    the kind's number, from 0 on
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: name or run is missing, some but not all functions for data that is not flat are set, combine is set without
 * result, or reserved fields are not 0. ENOSPC: there are 65535 kinds already.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * One at a time, and not while the pool runs.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_register(ws_pool *pool, const struct ws_task_kind *description, int *kind) WS_MUST_USE;

/** How a task is put. All zero is the default. */
struct ws_task_options {
    int priority;               /**< -8 to 7: a rank begins tasks with a higher priority first */
    int pinned;                 /**< not 0: the task runs on this rank */
    int takes;                  /**< not 0: data was allocated by malloc, is not copied, and the pool frees it */
    uint64_t *future;           /**< not NULL: the result is kept under the number stored here: ws_pool_get_result */
    /**
     * Futures of this rank. The task begins when their tasks have run, and ws_task_get_input returns their results,
     * which also stay: see ws_pool_drop_result. If one of these tasks fails or is cancelled, this one does not run,
     * and its future fails with ECANCELED. Only for flat kinds.
     */
    const uint64_t *inputs;
    size_t inputs_count;        /**< number of inputs */
    int group;                  /**< not 0: the number of its group, which ws_pool_cancel can cancel */
    int has_rank;               /**< not 0: the task is sent to `rank` as soon as it can run */
    int rank;                   /**< a rank of the pool; the task may move on from there, unless it is pinned */
    int reserved;               /**< must be 0 */
};

/**
 * Adds a group of tasks, before the first task of the group is put. All ranks add the same number of groups.
 *
 * @param pool        the pool
 * @param[out] group  the group's number, from 1 on
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: group is NULL. ENOSPC: there are 65535 groups already.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * One at a time, and not while the pool runs.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_add_group(ws_pool *pool, int *group) WS_MUST_USE;

/**
 * Cancels a group for the rest of the run: on all ranks, its tasks that have not begun are dropped. Those that run can
 * ask ws_task_is_cancelled. Cancelling is no failure of the run. Futures of dropped tasks fail with ECANCELED. Without
 * -workshare each rank runs its own tasks alone, and a rank cancels those that it has put itself.
 *
 * @param pool   the pool
 * @param group  the number of the group
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: there is no such group, or the pool does not run.
 *
 * @par Blocking
 * None. Other ranks learn of it by a message, when they look for messages: tasks may begin there meanwhile.
 *
 * @par Threads
 * Any.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_cancel(ws_pool *pool, int group) WS_MUST_USE;

/**
 * Puts a task into the pool, on this rank. Call it from tasks and between runs.
 *
 * @param pool     the pool
 * @param kind     the number of the task's kind
 * @param data     the task's data. It is copied, except with options->takes and for kinds that are not flat
 * @param bytes    size of data
 * @param options  NULL: the default
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: an unknown kind, a priority, group or rank out of range, data is NULL with bytes, a future of a kind without
 * result, reserved fields that are not 0, or a freed pool. EINVAL also for inputs of a kind that is not flat, and for
 * inputs that are no futures of this rank or whose results were taken. ENOMEM: no memory.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any thread of this process. If a thread that is no task puts a task while the pool runs, the task may come too late
 * for that run. The next run then runs it.
 *
 * @par Cost
 * About 50 ns for an empty task on its own rank, including its run.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_put(ws_pool *pool, int kind, const void *data, size_t bytes, const struct ws_task_options *options)
    WS_MUST_USE;

/**
 * Sets the result of a running task, at most once.
 *
 * @param task    the running task
 * @param result  the result
 * @param bytes   its size, at most the result size of the kind
 * @return 0, or an errno value
 *
 * @par Errors
 * EMSGSIZE: more bytes; the task then counts as failed. EINVAL: there is a result already.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * The task's own.
 *
 * @par Source
 * Workshare.
 */
int ws_task_set_result(struct ws_task *task, const void *result, size_t bytes) WS_MUST_USE;

/**
 * Returns the result of one of a task's inputs: of the futures with which the task was put, in their order.
 *
 * @param task        the running task
 * @param index       the number of the input, from 0 on
 * @param[out] data   the result. It is aligned like the data of a task, and stays until the task ends
 * @param[out] bytes  its size
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: the task has no such input.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any, while the task runs.
 *
 * @par Source
 * Workshare.
 */
int ws_task_get_input(const struct ws_task *task, size_t index, const void **data, size_t *bytes) WS_MUST_USE;

/**
 * Waits until a task that the calling task has put has run, and returns its result. The future is then gone. Meanwhile
 * the thread runs other tasks, on the same stack. Do not hold a lock that these may want.
 *
 * @param task         the running task, which has put the other one with a future
 * @param future       the number that ws_pool_put stored
 * @param[out] result  the result
 * @param capacity     size of the memory at result
 * @param[out] bytes   size of the result, or NULL
 * @return 0, or an errno value
 *
 * @par Errors
 * EDEADLK: another task has put it, or a thread that is none, or it has inputs that the calling task has not put: to
 * wait for such a task could take for ever. EINVAL: no such future, a future of another pool, or another thread than
 * the task's. EMSGSIZE: capacity is too small; the future stays, and bytes is the size. ECANCELED: the task failed or
 * was cancelled.
 *
 * @par Blocking
 * Until the task has run.
 *
 * @par Threads
 * The task's own.
 *
 * @par Source
 * Workshare.
 */
int ws_task_wait(const struct ws_task *task, uint64_t future, void *result, size_t capacity, size_t *bytes) WS_MUST_USE;

/**
 * Returns whether the group of a running task is cancelled: a long task may end early then.
 *
 * @param task  the running task
 * @return 1 or 0; 0 also if it has no group
 *
 * @par Errors
 * None.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any, while the task runs.
 *
 * @par Source
 * Workshare.
 */
int ws_task_is_cancelled(const struct ws_task *task);

/**
 * Runs tasks until none is left on any rank. A failed task does not keep others from running.
 *
 * @param pool  the pool
 * @return 0, or an errno value, the same on all ranks
 *
 * @par Errors
 * EINVAL: the pool was freed, or the call is in a task; nothing has run. EINVAL also if the kinds differ between ranks:
 * then only tasks have run whose kinds all ranks have, and the others are still there. ECANCELED: a task has failed;
 * ws_last_error() says where, of what kind, and with what number.
 *
 * @par Blocking
 * Collective over the pool's communicator. A rank with nothing to do waits in MPI and lends its core.
 *
 * @par Threads
 * One at a time for all pools of a process.
 *
 * @par Source
 * "Dynamic Load Balancing Algorithm for MPI Parallel Computing".
 */
int ws_pool_run(ws_pool *pool) WS_MUST_USE;

/**
 * Returns the combined results of a kind's tasks in the last run, the same on all ranks.
 *
 * @param pool         the pool
 * @param kind         the number of the kind
 * @param[out] result  the combined result
 * @param bytes        the kind's result size
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: the kind combines nothing, or bytes differs from its result size.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any, but not while the pool runs.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_get_total(ws_pool *pool, int kind, void *result, size_t bytes) WS_MUST_USE;

/**
 * Returns the result of a task that this rank put with a future. The future is then gone.
 *
 * @param pool         the pool
 * @param future       the number that ws_pool_put stored
 * @param[out] result  the result
 * @param capacity     size of the memory at result
 * @param[out] bytes   size of the result, or NULL
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: no such future, a future of another pool, or its task has not run. EMSGSIZE: capacity is too small; the
 * future stays, and bytes is the size. ECANCELED: the task failed or was cancelled.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_get_result(ws_pool *pool, uint64_t future, void *result, size_t capacity, size_t *bytes) WS_MUST_USE;

/**
 * Says that nobody will ask for the result of a future, which is only an input of other tasks. It is then freed as soon
 * as these have it. The future must not be used any more.
 *
 * @param pool    the pool
 * @param future  the number that ws_pool_put stored
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: no such future, or a future of another pool.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_drop_result(ws_pool *pool, uint64_t future) WS_MUST_USE;

/** Counts of this rank since the pool was created. */
struct ws_pool_counts {
    uint64_t put, run;            /**< tasks put here, and run here; cancelled ones have not run */
    uint64_t moved_out, moved_in; /**< tasks that moved to another node, and that came from one */
    uint64_t bytes_out, bytes_in; /**< bytes of data and results that moved */
    uint64_t letters;             /**< messages sent, of any kind */
    /**
     * Tasks that were requested and stayed: their run time did not make up for the transfer, the receiver had no room,
     * they had moved twice, or there was none.
     */
    uint64_t kept_worth, kept_room, kept_moved, kept_none;
};

/**
 * Returns the counts of this rank.
 *
 * @param pool         the pool
 * @param[out] counts  the counts
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: the pool was freed, or counts is NULL.
 *
 * @par Blocking
 * None.
 *
 * @par Threads
 * Any.
 *
 * @par Source
 * Workshare.
 */
int ws_pool_get_counts(ws_pool *pool, struct ws_pool_counts *counts) WS_MUST_USE;

/**
 * Frees a pool and the tasks that were never run. Call it before MPI_Finalize.
 *
 * @param[in,out] pool  the pool; becomes NULL
 * @return 0, or an errno value
 *
 * @par Errors
 * EINVAL: it was freed already, or it runs, or MPI is finalized.
 *
 * @par Blocking
 * Collective over the pool's communicator.
 *
 * @par Threads
 * One at a time, and not while the pool runs.
 *
 * @par Source
 * Workshare.
 */
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

/* Tasks may call MPI, and messages are handled while they run. So MPI_Init gives MPI_THREAD_MULTIPLE under mpirun
 * -workshare. */
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
