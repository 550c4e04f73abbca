/* SPDX-License-Identifier: MIT
 *
 * Tells ThreadSanitizer what OpenMP orders: its libraries are not built with it, and so regions, barriers and critical
 * sections would look like races. Stands between libws and OpenMP's library (LD_PRELOAD), so that what libws does at
 * the start and at the end of a region is checked, too. What comes here is what the test's programs call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdio.h>
#include <stdlib.h>

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "openmp_order: no %s\n", name);
        abort();
    }
    return found;
}

struct region {
    void (*fn)(void *);
    void *data;
    char begins, ends; /* their addresses stand for what is ordered */
};
static char barriers, critical;

/* All of a thread's work in a region lies between. */
static void member(void *argument)
{
    struct region *const region = (struct region *) argument;
    __tsan_acquire(&region->begins);
    region->fn(region->data);
    __tsan_release(&region->ends);
}

void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags)
{
    static void (*parallel)(void (*)(void *), void *, unsigned, unsigned);
    if (!parallel)
        *(void **) &parallel = next("GOMP_parallel");
    struct region region = { fn, data, 0, 0 };
    __tsan_release(&region.begins);
    parallel(member, &region, threads, flags);
    __tsan_acquire(&region.ends);
}

void GOMP_barrier(void);
void GOMP_barrier(void)
{
    void (*barrier)(void);
    *(void **) &barrier = next("GOMP_barrier");
    __tsan_release(&barriers);
    barrier();
    __tsan_acquire(&barriers);
}

void GOMP_critical_start(void);
void GOMP_critical_start(void)
{
    void (*start)(void);
    *(void **) &start = next("GOMP_critical_start");
    start();
    __tsan_acquire(&critical);
}

void GOMP_critical_end(void);
void GOMP_critical_end(void)
{
    void (*end)(void);
    *(void **) &end = next("GOMP_critical_end");
    __tsan_release(&critical);
    end();
}
