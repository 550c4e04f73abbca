/* SPDX-License-Identifier: MIT
 *
 * A small tool of a user's, by OMPT: counts what libomp tells it, and says at the end what it has seen. As a library
 * it is found by OMP_TOOL_LIBRARIES or LD_PRELOAD; compiled into a program it is the program's own.
 *
 * Counts, per region, how many threads began it, as libomp says, and how many implicit tasks there were: the same
 * number. */
#include <omp-tools.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_long begins, ends, tasks, threads, open_tasks;

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned wanted,
                           int flags, const void *address)
{
    (void) task, (void) frame, (void) wanted, (void) address;
    region->value = (flags & ompt_parallel_team) != 0; /* a word of the tool's own, which must come back */
    begins++;
}

static void parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *address)
{
    (void) task, (void) flags, (void) address;
    ends += region->value == 1;
}

static void implicit_task(ompt_scope_endpoint_t end, ompt_data_t *region, ompt_data_t *task, unsigned team,
                          unsigned number, int flags)
{
    (void) region, (void) task;
    if (flags & ompt_task_initial)
        return;
    open_tasks += end == ompt_scope_begin ? 1 : -1;
    if (end != ompt_scope_begin)
        return;
    tasks++;
    threads += number == 0 ? team : 0;
}

static int initialize(ompt_function_lookup_t look_up, int device, ompt_data_t *data)
{
    const ompt_set_callback_t set = (ompt_set_callback_t) look_up("ompt_set_callback");
    (void) device, (void) data;
    return set && set(ompt_callback_parallel_begin, (ompt_callback_t) parallel_begin) == ompt_set_always &&
           set(ompt_callback_parallel_end, (ompt_callback_t) parallel_end) == ompt_set_always &&
           set(ompt_callback_implicit_task, (ompt_callback_t) implicit_task) == ompt_set_always;
}

static void finalize(ompt_data_t *data)
{
    (void) data;
    printf("tool regions %ld ended %ld tasks %ld threads %ld open %ld\n", (long) begins, (long) ends, (long) tasks,
           (long) threads, (long) open_tasks);
    fflush(stdout);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = { initialize, finalize, { 0 } };
    (void) version, (void) runtime;
    return &tool;
}
