/* SPDX-License-Identifier: MIT
 *
 * A tool of OMPT that counts events, and checks them: each thread's events come on that thread, in the order
 * of a stack; the words of threads, regions and tasks come back; an implicit task is the sum of what is in it. At the
 * end it prints a line for each kind of event, and what was wrong.
 *
 * -DDECLINES: it does not want to be a tool. -DASKS_KERNEL: it knows threads by the kernel's numbers. */
#define _GNU_SOURCE
#include <omp-tools.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What is open on a thread, outermost first. */
enum frame_kind { THREAD, TASK, REGION, IMPLICIT, WORK, MASKED, SYNC, WAIT, REDUCTION, MUTEX, KINDS };
static const char *const names[KINDS] = {"thread", "task", "region", "implicit",  "work",
                                         "masked", "sync", "wait",   "reduction", "mutex"};
static atomic_long begun[KINDS], ended[KINDS], of_work[32], of_sync[32], of_mutex[16], created, switched, completed,
    team_sizes, threads_of[8], initial, parts_ns, whole_ns;
static atomic_int errors;
static char first_errors[8][160];

static _Thread_local struct {
    struct {
        enum frame_kind kind;
        const void *what;
        double began, inside; /* seconds; in work and waits within */
    } open[64];
    int depth, is_open, kernel;
    ompt_data_t *own;
} here;

static ompt_get_thread_data_t thread_data;
static ompt_get_parallel_info_t parallel_info;
static ompt_get_task_info_t task_info;
static ompt_get_unique_id_t unique_id;
static ompt_get_state_t state_now;

static void wrong(const char *what, long a, long b)
{
    const int n = errors++;
    if (n < 8)
        snprintf(first_errors[n], sizeof first_errors[n], "%s (%ld, %ld)", what, a, b);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void push(enum frame_kind kind, const void *what)
{
    begun[kind]++;
    if (!here.is_open && kind != THREAD)
        wrong(names[kind], -1, here.depth); /* on a thread that has not begun */
    if (here.depth == 64) {
        wrong("too deep", kind, 0);
        return;
    }
    here.open[here.depth].kind = kind;
    here.open[here.depth].what = what;
    here.open[here.depth].began = now();
    here.open[here.depth++].inside = 0;
}

/* Returns how long it was open. */
static double pop(enum frame_kind kind, const void *what, double *inside)
{
    ended[kind]++;
    if (here.depth == 0 || here.open[here.depth - 1].kind != kind || (what && here.open[here.depth - 1].what != what)) {
        wrong(names[kind], here.depth, here.depth ? here.open[here.depth - 1].kind : -1);
        return 0;
    }
    here.depth--;
    if (inside)
        *inside = here.open[here.depth].inside;
    return now() - here.open[here.depth].began;
}

static void add_inside(double seconds)
{
    if (here.depth > 0)
        here.open[here.depth - 1].inside += seconds;
}

static void check_thread(void)
{
    if (thread_data() != here.own)
        wrong("another thread's data", (long) thread_data(), (long) here.own);
    if (here.own && (ompt_id_t *) here.own->ptr != (void *) &here)
        wrong("a thread's word has changed", 0, 0);
}

static void thread_begin(ompt_thread_t type, ompt_data_t *data)
{
    push(THREAD, NULL);
    if (here.is_open)
        wrong("a thread begins twice", type, 0);
    here.is_open = 1;
#ifdef ASKS_KERNEL
    here.kernel = gettid();
#endif
    here.own = data;
    data->ptr = &here;
    threads_of[type & 7]++;
    unique_id();
}

static void thread_end(ompt_data_t *data)
{
    if (data != here.own || data->ptr != &here)
        wrong("another thread ends", (long) data, (long) here.own);
    ended[THREAD]++;
    here.is_open = 0;
    here.depth = 0;
}

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned wanted,
                           int flags, const void *address)
{
    ompt_data_t *asked = NULL;
    (void) wanted, (void) flags;
    push(REGION, region);
    check_thread();
    if (!task || !frame || !address)
        wrong("a region begins without its task", 0, 0);
    if (task_info(0, NULL, &asked, NULL, NULL, NULL) != 2 || asked != task)
        wrong("another task opens a region", (long) asked, (long) task);
    if (region->value)
        wrong("a region's word is in use", 0, 0);
    region->value = unique_id();
}

static void parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *address)
{
    (void) task, (void) flags, (void) address;
    pop(REGION, NULL, NULL);
    if (!region->value)
        wrong("a region's word is lost", 0, 0);
}

static void implicit_task(ompt_scope_endpoint_t scope, ompt_data_t *region, ompt_data_t *task, unsigned team,
                          unsigned number, int flags)
{
    if (flags & ompt_task_initial) {
        initial += scope == ompt_scope_begin;
        return;
    }
    check_thread();
    if (scope == ompt_scope_begin) {
        ompt_data_t *asked = NULL, *asked_region = NULL;
        int size = 0, asked_number = -1, asked_flags = 0;
        push(IMPLICIT, task);
        team_sizes += number == 0 ? team : 0;
        if (!region || !region->value)
            wrong("an implicit task is in no region", number, team);
        if (task->value)
            wrong("an implicit task's word is in use", number, team);
        task->value = 1 + number;
        if (parallel_info(0, &asked_region, &size) != 2 || asked_region != region || size != (int) team)
            wrong("another region around an implicit task", size, (long) team);
        if (task_info(0, &asked_flags, &asked, NULL, &asked_region, &asked_number) != 2 || asked != task ||
            asked_region != region || asked_number != (int) number || !(asked_flags & ompt_task_implicit))
            wrong("another implicit task", asked_number, (long) number);
        if (team > 1 && state_now(NULL) != ompt_state_work_parallel && state_now(NULL) != ompt_state_overhead)
            wrong("an implicit task's state", state_now(NULL), 0);
        if (task_info(1, &asked_flags, &asked, NULL, NULL, NULL) != 2 || asked == task)
            wrong("no task around an implicit task", (long) asked, (long) task);
        return;
    }
    double inside = 0;
    const double took = pop(IMPLICIT, NULL, &inside); /* libomp moves the words of regions within regions */
    if (task->value != 1 + number)
        wrong("an implicit task's word is lost", (long) task->value, 1 + number);
    parts_ns += (long) (1e9 * inside);
    whole_ns += (long) (1e9 * took);
}

static void work(ompt_work_t type, ompt_scope_endpoint_t scope, ompt_data_t *region, ompt_data_t *task, uint64_t count,
                 const void *address)
{
    (void) count;
    check_thread();
    if (!region || !region->value || !task || !address)
        wrong("work is in no region", type, scope);
    if (scope == ompt_scope_begin) {
        of_work[type & 31]++;
        push(WORK, (void *) (long) type);
    } else
        add_inside(pop(WORK, (void *) (long) type, NULL));
}

static void masked(ompt_scope_endpoint_t scope, ompt_data_t *region, ompt_data_t *task, const void *address)
{
    (void) address;
    check_thread();
    if (!region || !region->value || !task || task->value != 1)
        wrong("a masked region is another thread's", scope, task ? (long) task->value : -1);
    if (scope == ompt_scope_begin)
        push(MASKED, NULL);
    else
        pop(MASKED, NULL, NULL);
}

static void synchronize(ompt_sync_region_t kind, ompt_scope_endpoint_t scope, ompt_data_t *region, ompt_data_t *task,
                        const void *address)
{
    (void) address;
    check_thread();
    if (!task || (scope == ompt_scope_begin && (!region || !region->value)))
        wrong("a barrier is in no region", kind, scope);
    if (scope == ompt_scope_begin) {
        of_sync[kind & 31]++;
        push(SYNC, (void *) (long) kind);
    } else
        pop(SYNC, (void *) (long) kind, NULL);
}

static void synchronize_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t scope, ompt_data_t *region,
                             ompt_data_t *task, const void *address)
{
    (void) region, (void) task, (void) address;
    if (scope == ompt_scope_begin)
        push(WAIT, (void *) (long) kind);
    else {
        const double took = pop(WAIT, (void *) (long) kind, NULL);
        if (here.depth > 1) /* of what the barrier is in */
            here.open[here.depth - 2].inside += took;
    }
}

static void reduce(ompt_sync_region_t kind, ompt_scope_endpoint_t scope, ompt_data_t *region, ompt_data_t *task,
                   const void *address)
{
    (void) kind, (void) address;
    if (!task || !region || !region->value)
        wrong("a reduction is in no region", scope, 0);
    if (scope == ompt_scope_begin)
        push(REDUCTION, NULL);
    else
        pop(REDUCTION, NULL, NULL);
}

static int is_nested(ompt_mutex_t kind) { return kind == ompt_mutex_nest_lock || kind == ompt_mutex_test_nest_lock; }
static void mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait,
                          const void *address)
{
    (void) hint, (void) implementation, (void) address;
    check_thread();
    of_mutex[kind & 15]++;
    if (!is_nested(kind)) /* which have events of their own inside */
        push(MUTEX, (void *) wait);
}
static void mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait, const void *address)
{
    (void) kind, (void) wait, (void) address;
    check_thread();
}
static void mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void *address)
{
    (void) address;
    check_thread();
    if (!is_nested(kind))
        pop(MUTEX, (void *) wait, NULL);
}

static void task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *new_task, int flags, int dependences,
                        const void *address)
{
    (void) frame, (void) dependences, (void) address;
    check_thread();
    if (flags & ompt_task_explicit) {
        created++;
        if (!task || !task->value)
            wrong("a task without a word creates one", flags, 0);
        new_task->value = 1000000 + unique_id() % 1000000;
    }
}

static void task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    check_thread();
    if (status == ompt_task_complete) {
        completed++;
        if (prior->value < 1000000 || !next || !next->value)
            wrong("a task ends that is none", (long) prior->value, next ? (long) next->value : -1);
    } else {
        switched++;
        if (!prior->value || next->value < 1000000)
            wrong("a task begins that is none", (long) prior->value, (long) next->value);
    }
}

static int of_dependences;
static void dependences(ompt_data_t *task, const ompt_dependence_t *those, int count)
{
    (void) task, (void) those, (void) count;
}

#define SET(event, function) set(ompt_callback_##event, (ompt_callback_t) (function))
static int initialize(ompt_function_lookup_t look_up, int device, ompt_data_t *data)
{
    const ompt_set_callback_t set = (ompt_set_callback_t) look_up("ompt_set_callback");
    (void) device;
#ifdef DECLINES
    return 0;
#endif
    data->value = 42;
    thread_data = (ompt_get_thread_data_t) look_up("ompt_get_thread_data");
    parallel_info = (ompt_get_parallel_info_t) look_up("ompt_get_parallel_info");
    task_info = (ompt_get_task_info_t) look_up("ompt_get_task_info");
    unique_id = (ompt_get_unique_id_t) look_up("ompt_get_unique_id");
    state_now = (ompt_get_state_t) look_up("ompt_get_state");
    const int all =
        SET(thread_begin, thread_begin) == ompt_set_always && SET(thread_end, thread_end) == ompt_set_always &&
        SET(parallel_begin, parallel_begin) == ompt_set_always && SET(parallel_end, parallel_end) == ompt_set_always &&
        SET(implicit_task, implicit_task) == ompt_set_always && SET(work, work) == ompt_set_always &&
        SET(masked, masked) == ompt_set_always && SET(sync_region, synchronize) == ompt_set_always &&
        SET(sync_region_wait, synchronize_wait) == ompt_set_always && SET(reduction, reduce) == ompt_set_always &&
        SET(mutex_acquire, mutex_acquire) == ompt_set_always &&
        SET(mutex_acquired, mutex_acquired) == ompt_set_always &&
        SET(mutex_released, mutex_released) == ompt_set_always && SET(task_create, task_create) == ompt_set_always &&
        SET(task_schedule, task_schedule) == ompt_set_always;
    of_dependences = SET(dependences, dependences);
    if (!all)
        wrong("libomp does not tell of all", 0, 0);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    if (data->value != 42)
        wrong("the tool's word is lost", (long) data->value, 42);
    for (int i = 0; i < KINDS; i++)
        if (i != TASK)
            printf("tool %s %ld %ld\n", names[i], (long) begun[i], (long) ended[i]);
    printf("tool created %ld\ntool switched %ld\ntool completed %ld\ntool team_sizes %ld\n", (long)created,
           (long)switched, (long)completed, (long)team_sizes);
    for (int i = 0; i < 8; i++)
        if (threads_of[i])
            printf("tool threads_of_type_%d %ld\n", i, (long) threads_of[i]);
    for (int i = 0; i < 32; i++) {
        if (of_work[i])
            printf("tool work_%d %ld\n", i, (long) of_work[i]);
        if (of_sync[i])
            printf("tool sync_%d %ld\n", i, (long) of_sync[i]);
    }
    for (int i = 0; i < 16; i++)
        if (of_mutex[i])
            printf("tool mutex_%d %ld\n", i, (long) of_mutex[i]);
    printf("tool parts_us %ld\ntool whole_us %ld\n", (long) parts_ns / 1000, (long) whole_ns / 1000);
    printf("tool set_dependences %d\n", of_dependences);
    printf("tool errors %d\n", errors);
    for (int i = 0; i < errors && i < 8; i++)
        printf("tool error: %s\n", first_errors[i]);
    fflush(stdout);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {initialize, finalize, {0}};
    (void) version, (void) runtime;
    return &tool;
}
