// SPDX-License-Identifier: MIT
//
// OMPT, the interface between OpenMP's library and a tool, as OpenMP 5.0 defines it: the types and numbers that libws
// needs. libws has its own copy because GCC has no omp-tools.h.
#pragma once

#include <cstdint>

namespace ws::openmp::ompt {

// A word of the tool's own, for a thread, a region or a task.
union Data {
    uint64_t value;
    const void* pointer;
};
// Where a task's code ends and the library's begins, on the stack.
struct Frame {
    Data exit, enter;
    int exit_flags, enter_flags;
};
using Function = void (*)();
using LookUp = Function (*)(const char* name);
struct Start {
    int (*initialize)(LookUp look_up, int initial_device, Data* data);
    void (*finalize)(Data* data);
    Data data;
};

enum Event : int {
    thread_begin = 1,
    thread_end,
    parallel_begin,
    parallel_end,
    task_create,
    task_schedule,
    implicit_task,
    sync_region_wait = 16,
    mutex_released,
    dependences,
    task_dependence,
    work,
    masked,
    sync_region = 23,
    mutex_acquire = 26,
    mutex_acquired,
    cancel = 30,
    reduction,
    dispatch,
    last_event = 63 // room for later versions
};
enum SetResult : int {
    set_sometimes = 3,
    set_always = 5
};
enum Scope : int {
    scope_begin = 1,
    scope_end
};
enum Thread : int {
    thread_initial = 1,
    thread_worker
};
enum Sync : int {
    barrier_plain = 1,
    barrier_implicit, // up to OpenMP 5.0
    barrier_explicit,
    barrier_implementation,
    sync_taskgroup = 6,
    sync_reduction,
    barrier_implicit_workshare, // since OpenMP 5.1
    barrier_implicit_parallel
};
enum Work : int {
    work_loop = 1,
    work_sections,
    work_single_executor,
    work_single_other,
    work_loop_static = 10, // these since OpenMP 5.2
    work_loop_dynamic,
    work_loop_guided
};
enum Mutex : int {
    mutex_ordered = 7
};
enum State : int {
    work_serial = 0,
    work_parallel = 1,
    wait_barrier = 0x10,
    wait_barrier_implicit_parallel = 0x11
};
constexpr int task_initial = 1, task_implicit = 2, invoked_by_runtime = 2, of_team = int(0x80000000),
              frame_of_runtime = 0x20, frame_of_program = 0x21; // both by the frame pointer

// The callbacks that libws calls or passes on.
using ThreadBegin = void (*)(int type, Data* thread);
using ThreadEnd = void (*)(Data* thread);
using ParallelBegin = void (*)(Data* task, const Frame* frame, Data* region, unsigned threads, int flags,
                               const void* code);
using ParallelEnd = void (*)(Data* region, Data* task, int flags, const void* code);
using TaskCreate = void (*)(Data* task, const Frame* frame, Data* created, int flags, int has_dependences,
                            const void* code);
using TaskSchedule = void (*)(Data* prior, int status, Data* next);
using ImplicitTask = void (*)(int scope, Data* region, Data* task, unsigned threads, unsigned number, int flags);
using SyncRegion = void (*)(int kind, int scope, Data* region, Data* task, const void* code); // reductions, too
using WorkRegion = void (*)(int kind, int scope, Data* region, Data* task, uint64_t count, const void* code);
using Masked = void (*)(int scope, Data* region, Data* task, const void* code);
using Dispatch = void (*)(Data* region, Data* task, int kind, Data instance);
using Cancel = void (*)(Data* task, int flags, const void* code);
using MutexAcquire = void (*)(int kind, unsigned hint, unsigned implementation, uint64_t wait, const void* code);
using MutexOther = void (*)(int kind, uint64_t wait, const void* code);

} // namespace ws::openmp::ompt
