// SPDX-License-Identifier: MIT
//
// include/workshare/task.h.
#include "abi/last_error.h"
#include "policy/tasks/pool.h"
#include "policy/together.h"
#include "base/spin_lock.h"

#include <cerrno>
#include <cstdio>
#include <new>
#include <string>

using ws::policy::InTogether;
using ws::policy::tasks::Pool;
using ws::window::Together;

// Stays for ever, a few bytes, so that a pool that was freed can be told from one that is there.
struct ws_pool {
    Pool* pool;
    ws_pool* before; // freed before this one
};

namespace {

// What looks for leaks finds those that were freed here.
ws::base::SpinLock freeing;
ws_pool* last_freed;

int said(int result, const std::string& error)
{
    if (result)
        ws::abi::say_last_error(error);
    return result;
}

Pool* pool_of(ws_pool* tasks, const char* who)
{
    if (tasks && tasks->pool)
        return tasks->pool;
    ws::abi::say_last_error(std::string(who) + (tasks ? ": the pool was freed" : ": the pool is NULL"));
    return nullptr;
}

Pool::Running* running_of(const ws_task* task)
{
    return static_cast<Pool::Running*>(const_cast<void*>(task->reserved[0]));
}

// What runs tasks, or sends what they have put, cannot go back without memory.
template <class Call> int or_end(const char* name, Call&& call)
{
    try {
        return call();
    } catch (const std::bad_alloc&) {
        ws::policy::tasks::end_without_memory(name);
    }
}

bool mpi_is_there()
{
    int begun = 0, over = 0;
    PMPI_Initialized(&begun);
    PMPI_Finalized(&over);
    return begun && !over;
}

} // namespace

WS_EXPORT int ws_pool_create(MPI_Comm comm, ws_pool** tasks)
{
    if (!tasks || !mpi_is_there())
        return said(EINVAL,
                    !tasks ? "ws_pool_create: pool is NULL" : "ws_pool_create: MPI is not initialized");
    int is_inter = 0;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_test_inter(comm, &is_inter);
    if (comm == MPI_COMM_NULL || is_inter)
        return said(EINVAL, std::string("ws_pool_create: comm is ") +
                                (is_inter ? "an intercommunicator" : "MPI_COMM_NULL"));
    ws_pool* const shell = new (std::nothrow) ws_pool{nullptr, nullptr};
    if (!shell)
        return said(ENOMEM, "ws_pool_create: no memory");
    ws::policy::tasks::Nblb& nblb = ws::policy::tasks::policy();
    const InTogether in_create(nblb.job(), Together::tasks_create, "ws_pool_create", comm);
    try {
        shell->pool = new Pool(ws::policy::tasks::peers_of(comm), shell, nblb);
    } catch (const std::bad_alloc&) {
        ws::policy::tasks::end_without_memory("ws_pool_create");
    }
    *tasks = shell;
    return 0;
}

WS_EXPORT int ws_pool_create_f(MPI_Fint comm, ws_pool** tasks)
{
    return ws_pool_create(mpi_is_there() ? MPI_Comm_f2c(comm) : MPI_COMM_NULL, tasks);
}

WS_EXPORT int ws_pool_register(ws_pool* tasks, const ws_task_kind* description, int* kind)
{
    Pool* const pool = pool_of(tasks, "ws_pool_register");
    if (!pool)
        return EINVAL;
    if (!description || !kind)
        return said(EINVAL, "ws_pool_register: description or kind is NULL");
    try {
        std::string error;
        const int result = pool->add_kind(*description, *kind, error);
        return said(result, error);
    } catch (const std::bad_alloc&) {
        return said(ENOMEM, "ws_pool_register: no memory");
    }
}

WS_EXPORT int ws_pool_put(ws_pool* tasks, int kind, const void* data, size_t bytes, const ws_task_options* options)
{
    if (__builtin_expect(!tasks || !tasks->pool, 0))
        return pool_of(tasks, "ws_pool_put"), EINVAL;
    std::string error;
    const int result = tasks->pool->put(kind, data, bytes, options, error);
    return __builtin_expect(result, 0) ? said(result, error) : 0;
}

WS_EXPORT int ws_pool_add_group(ws_pool* tasks, int* group)
{
    Pool* const pool = pool_of(tasks, "ws_pool_add_group");
    if (!pool)
        return EINVAL;
    if (!group)
        return said(EINVAL, "ws_pool_add_group: group is NULL");
    try {
        std::string error;
        const int result = pool->add_group(*group, error);
        return said(result, error);
    } catch (const std::bad_alloc&) {
        return said(ENOMEM, "ws_pool_add_group: no memory");
    }
}

WS_EXPORT int ws_pool_cancel(ws_pool* tasks, int group)
{
    Pool* const pool = pool_of(tasks, "ws_pool_cancel");
    if (!pool)
        return EINVAL;
    std::string error;
    const int result = or_end("ws_pool_cancel", [&] { return pool->cancel(group, error); });
    return said(result, error);
}

WS_EXPORT int ws_task_is_cancelled(const ws_task* task)
{
    const Pool::Running& running = *running_of(task);
    return running.pool->is_cancelled(*running.task);
}

WS_EXPORT int ws_task_get_input(const ws_task* task, size_t index, const void** data, size_t* bytes)
{
    if (!data || !bytes)
        return said(EINVAL, "ws_task_get_input: data or bytes is NULL");
    const Pool::Running& running = *running_of(task);
    std::string error;
    const int failed = running.pool->input(running, index, data, bytes, error);
    return said(failed, error);
}

WS_EXPORT int ws_task_wait(const ws_task* task, uint64_t future, void* result, size_t capacity, size_t* bytes)
{
    Pool::Running& running = *running_of(task);
    std::string error;
    const int failed = or_end("ws_task_wait", [&] {
        return running.pool->wait_inside(running, future, result, capacity, bytes, error);
    });
    return said(failed, error);
}

WS_EXPORT int ws_task_set_result(ws_task* task, const void* result, size_t bytes)
{
    Pool::Running* const running = running_of(task);
    std::string error;
    const int failed = running->pool->result(*running, result, bytes, error);
    return said(failed, error);
}

WS_EXPORT int ws_pool_run(ws_pool* tasks)
{
    Pool* const pool = pool_of(tasks, "ws_pool_run");
    if (!pool)
        return EINVAL;
    if (!mpi_is_there())
        return said(EINVAL, "ws_pool_run: MPI is finalized");
    std::string error;
    const InTogether in_run(pool->nblb().job(), Together::tasks_run, "ws_pool_run", pool->comm());
    const int result = pool->run(error);
    return said(result, error);
}

WS_EXPORT int ws_pool_get_total(ws_pool* tasks, int kind, void* result, size_t bytes)
{
    Pool* const pool = pool_of(tasks, "ws_pool_get_total");
    if (!pool)
        return EINVAL;
    std::string error;
    const int failed = pool->reduced(kind, result, bytes, error);
    return said(failed, error);
}

WS_EXPORT int ws_pool_get_result(ws_pool* tasks, uint64_t future, void* result, size_t capacity, size_t* bytes)
{
    Pool* const pool = pool_of(tasks, "ws_pool_get_result");
    if (!pool)
        return EINVAL;
    std::string error;
    const int failed = pool->future(future, result, capacity, bytes, error);
    return said(failed, error);
}

WS_EXPORT int ws_pool_drop_result(ws_pool* tasks, uint64_t future)
{
    Pool* const pool = pool_of(tasks, "ws_pool_drop_result");
    if (!pool)
        return EINVAL;
    std::string error;
    const int failed = pool->drop_result(future, error);
    return said(failed, error);
}

WS_EXPORT int ws_pool_get_counts(ws_pool* tasks, ws_pool_counts* counts)
{
    Pool* const pool = pool_of(tasks, "ws_pool_get_counts");
    if (!pool)
        return EINVAL;
    if (!counts)
        return said(EINVAL, "ws_pool_get_counts: counts is NULL");
    pool->count(*counts);
    return 0;
}

WS_EXPORT int ws_pool_free(ws_pool** tasks)
{
    Pool* const pool = pool_of(tasks ? *tasks : nullptr, "ws_pool_free");
    if (!pool)
        return EINVAL;
    if (pool->runs())
        return said(EINVAL, "ws_pool_free: the pool runs");
    if (!mpi_is_there()) {
        if (pool->is_first()) // a destructor ignores the error
            std::fprintf(stderr, "workshare: error: a pool of tasks was freed after MPI_Finalize (ws_pool_free); "
                                 "free it, or destroy its ws::task_pool, earlier\n");
        return said(EINVAL, "ws_pool_free: MPI is finalized; free pools before MPI_Finalize");
    }
    (*tasks)->pool = nullptr;
    freeing.lock();
    (*tasks)->before = last_freed;
    last_freed = *tasks;
    freeing.unlock();
    *tasks = nullptr;
    const InTogether in_free(pool->nblb().job(), Together::tasks_free, "ws_pool_free", pool->comm());
    delete pool;
    return 0;
}

// Their former names, for programs that were linked with them; they go with the next release.
#define FORMER(name, now, ...) WS_EXPORT int name(__VA_ARGS__) __attribute__((alias(#now)))
FORMER(ws_tasks_create, ws_pool_create, MPI_Comm, ws_pool**);
FORMER(ws_tasks_kind, ws_pool_register, ws_pool*, const ws_task_kind*, int*);
FORMER(ws_task_put, ws_pool_put, ws_pool*, int, const void*, size_t, const ws_task_options*);
FORMER(ws_task_result, ws_task_set_result, ws_task*, const void*, size_t);
FORMER(ws_tasks_run, ws_pool_run, ws_pool*);
FORMER(ws_tasks_reduced, ws_pool_get_total, ws_pool*, int, void*, size_t);
FORMER(ws_tasks_future, ws_pool_get_result, ws_pool*, uint64_t, void*, size_t, size_t*);
FORMER(ws_tasks_counts, ws_pool_get_counts, ws_pool*, ws_pool_counts*);
FORMER(ws_tasks_free, ws_pool_free, ws_pool**);
