/* SPDX-License-Identifier: MIT
 *
 * Parallel regions of many kinds, each with an exact result. The functions of regions/ return whether it is right. */
#include "frame.h"

#include <errno.h>
#include <sched.h>

/* With it the functions with barriers refer to errno; the program always does. */
#ifdef LOOKS_AT_ERRNO
#define TOUCH_ERRNO(value) errno = value;
#else
#define TOUCH_ERRNO(value)
#endif

#define LOOP(name, clauses)                                                                                           \
    static int name(void)                                                                                             \
    {                                                                                                                 \
        int sum = 0;                                                                                                  \
        _Pragma(clauses) for (int i = 0; i < iterations; i++)                                                         \
        {                                                                                                             \
            work(i);                                                                                                  \
            sum += i;                                                                                                 \
        }                                                                                                             \
        return sum == sum_to(iterations);                                                                             \
    }

#include "regions/barriers.h"
#include "regions/late.h"
#include "regions/loops.h"
#include "regions/numbers.h"
#include "regions/own.h"

static const struct kind kinds[] = {
    {"plain", plain, iterations},
    {"chunks", chunks, iterations},
    {"rounds", rounds, iterations},
    {"dynamic", dynamic, iterations},
    {"dynamic_chunks", dynamic_chunks, iterations},
    {"guided", guided, iterations},
    {"auto", by_itself, iterations},
    {"runtime", runtime, iterations},
    {"runtime_chunks", runtime_chunks, iterations},
    {"three", three, iterations},
    {"one", one, iterations},
    {"down", down, 0},
    {"two_loops", two_loops, iterations},
    {"variables", variables, iterations},
    {"last_of_dynamic", last_of_dynamic, iterations},
    {"exclusion", exclusion, iterations},
    {"uncombined", uncombined, iterations},
    {"without_waiting", without_waiting, iterations},
    {"numbers", numbers, iterations},
    {"asks_late", asks_late, iterations},
    {"numbers_in_a_row", numbers_in_a_row, iterations},
    {"number_after_loop", number_after_loop, iterations},
    {"nameless_phases", nameless_phases, iterations},
    {"threads_counted", threads_counted, iterations},
    {"parts", parts, iterations},
    {"single", single, iterations},
    {"barriers", barriers, iterations},
    {"phases", phases, iterations},
    {"lock_over_barrier", lock_over_barrier, iterations},
    {"nest_locks", nest_locks, iterations},
    {"late_nest_locks", late_nest_locks, iterations},
    {"late_barrier", late_barrier, iterations},
    {"late_copyprivate", late_copyprivate, iterations},
    {"late_order", late_order, iterations},
    {"late_conditional", late_conditional, iterations},
    {"late_task_reduction", late_task_reduction, iterations},
    {"group_reductions", group_reductions, iterations},
    {"final_tasks", final_tasks, iterations},
    {"allocators", allocators, iterations},
    {"spinning", spinning, iterations},
    {"pipeline", pipeline, iterations},
    {"tasks", tasks, iterations},
    {"late_tasks", late_tasks, iterations},
    {"late_tasks_of_all", late_tasks_of_all, iterations},
    {"in_order", in_order, iterations},
    {"nested", nested, iterations},
    {"settings", settings, iterations},
    {"teams", teams, iterations},
    {"empty_first", empty_first, 0},
};

int *where_errno_is(void) { return &errno; }

int main(int argc, char **argv) { return run_kinds(argc, argv, kinds, sizeof kinds / sizeof *kinds); }
