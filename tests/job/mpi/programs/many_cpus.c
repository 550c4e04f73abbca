/* SPDX-License-Identifier: MIT
 *
 * Preloaded: libws finds a machine that may have 4,096 CPUs, and itself on those from 2,048 on; with CPUS=refused one
 * that answers no question about CPUs (a sandbox). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { POSSIBLE = 4096 / 8, FIRST = 2048 }; /* bytes of a mask, a CPU */

static const char before[FIRST / 8];

static int of_libws(void *caller)
{
    Dl_info where;
    return dladdr(caller, &where) && strstr(where.dli_fname, "libws.so");
}
#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

static int refused(void)
{
    errno = EPERM;
    return getenv("CPUS") != NULL;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    if (!of_libws(__builtin_return_address(0)))
        return REAL(sched_getaffinity)(pid, size, set);
    if (refused())
        return -1;
    errno = EINVAL;
    if (size < POSSIBLE)
        return -1;
    memset(set, 0, size);
    return REAL(sched_getaffinity)(pid, size - FIRST / 8, (cpu_set_t *) ((char *) set + FIRST / 8));
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    if (!of_libws(__builtin_return_address(0)))
        return REAL(sched_setaffinity)(pid, size, set);
    if (refused())
        return -1;
    errno = EINVAL;
    if (size <= FIRST / 8 || memcmp(set, before, FIRST / 8))
        return -1;
    return REAL(sched_setaffinity)(pid, size - FIRST / 8, (const cpu_set_t *) ((const char *) set + FIRST / 8));
}

int pthread_attr_setaffinity_np(pthread_attr_t *attributes, size_t size, const cpu_set_t *set)
{
    int (*real)(pthread_attr_t *, size_t, const cpu_set_t *) = REAL(pthread_attr_setaffinity_np);
    if (!of_libws(__builtin_return_address(0)))
        return real(attributes, size, set);
    if (refused() || size <= FIRST / 8)
        return EPERM;
    return real(attributes, size - FIRST / 8, (const cpu_set_t *) ((const char *) set + FIRST / 8));
}

int sched_getcpu(void)
{
    const int cpu = REAL(sched_getcpu)();
    return of_libws(__builtin_return_address(0)) ? cpu + FIRST : cpu;
}
