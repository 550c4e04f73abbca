/* SPDX-License-Identifier: MIT
 *
 * A module that brings OpenMP with it, loaded by module_host.c into a scope of its own, as Python does. */
#include <dlfcn.h>
#include <omp.h>
#include <stdlib.h>

int most_threads(void) { return omp_get_max_threads(); } /* a jump: the function that it returns to has no OpenMP */

/* How many thread numbers there are in a region; -1: one was there twice, or too large. */
int numbers(int from_table)
{
    const int most = omp_get_max_threads();
    int *seen = calloc((size_t) most, sizeof *seen), bad = 0, count = 0;
    int (*number)(void) = from_table ? (int (*)(void)) dlsym(RTLD_DEFAULT, "omp_get_thread_num") : omp_get_thread_num;
#pragma omp parallel
    {
        const int me = number ? number() : omp_get_thread_num();
        if (me >= most || __atomic_fetch_add(&seen[me], 1, __ATOMIC_RELAXED))
            __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    }
    free(seen);
    return bad ? -1 : count;
}
