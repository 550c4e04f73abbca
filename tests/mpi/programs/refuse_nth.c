/* SPDX-License-Identifier: MIT
 *
 * Preloaded: a system that refuses libws one thing, REFUSE_WHAT: `thread`, `map` (mmap) or `file` (memfd_create).
 * REFUSE_AT: the first that is refused, counted from 1. REFUSE_MORE: those after it, too. REFUSE_RANK: of this rank
 * only; `all`: of each. At its end each rank says how many libws has asked for. Other libraries (UCX's) get what they
 * ask for. But `threads`: whoever asks, a rank has at most REFUSE_AT of them at a time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREAD, MAP, FILE_OF_MEMORY, KINDS };
static const char *const names[KINDS] = {"thread", "map", "file"};
static int asked[KINDS];

static int is_of_libws(const void *code)
{
    Dl_info where;
    return dladdr(code, &where) && where.dli_fname && strstr(where.dli_fname, "libws.so");
}

static int refuses(int kind, const void *code)
{
    const char *what = getenv("REFUSE_WHAT"), *at = getenv("REFUSE_AT"), *whose = getenv("REFUSE_RANK");
    const char *rank = getenv("PMI_RANK");
    if (!what || !rank || !is_of_libws(code))
        return 0;
    const int number = __atomic_add_fetch(&asked[kind], 1, __ATOMIC_RELAXED), first = at ? atoi(at) : 0;
    if (strcmp(what, names[kind]) != 0 || first == 0 || (strcmp(whose, "all") != 0 && strcmp(whose, rank) != 0))
        return 0;
    return number == first || (number > first && getenv("REFUSE_MORE"));
}

/* A thread that counts for the limit. */
struct counted {
    void *(*start)(void *);
    void *argument;
};
static int alive;

static void end_counted(void *counted)
{
    free(counted);
    __atomic_sub_fetch(&alive, 1, __ATOMIC_SEQ_CST);
}

static void *run_counted(void *argument)
{
    struct counted *counted = argument;
    void *result;
    pthread_cleanup_push(end_counted, counted);
    result = counted->start(counted->argument);
    pthread_cleanup_pop(1);
    return result;
}

static int limit(void)
{
    const char *what = getenv("REFUSE_WHAT"), *at = getenv("REFUSE_AT");
    return what && at && strcmp(what, "threads") == 0 && getenv("PMI_RANK") ? atoi(at) : 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
    if (refuses(THREAD, (const void *) start))
        return EAGAIN;
    if (!real)
        real = dlsym(RTLD_NEXT, "pthread_create");
    if (limit() > 0) {
        if (__atomic_add_fetch(&alive, 1, __ATOMIC_SEQ_CST) > limit()) {
            __atomic_sub_fetch(&alive, 1, __ATOMIC_SEQ_CST);
            return EAGAIN;
        }
        struct counted *counted = malloc(sizeof *counted);
        *counted = (struct counted){start, argument};
        start = run_counted;
        argument = counted;
    }
    return real(thread, attributes, start, argument);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (refuses(MAP, __builtin_return_address(0))) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (!real)
        real = dlsym(RTLD_NEXT, "mmap");
    return real(address, length, protection, flags, fd, offset);
}

int memfd_create(const char *name, unsigned flags)
{
    static int (*real)(const char *, unsigned);
    if (refuses(FILE_OF_MEMORY, __builtin_return_address(0))) {
        errno = EMFILE;
        return -1;
    }
    if (!real)
        real = dlsym(RTLD_NEXT, "memfd_create");
    return real(name, flags);
}

__attribute__((destructor)) static void say(void)
{
    if (getenv("REFUSE_WHAT") && getenv("PMI_RANK"))
        for (int kind = 0; kind < KINDS; kind++)
            fprintf(stderr, "libws asked on rank %s: %s %d\n", getenv("PMI_RANK"), names[kind], asked[kind]);
}
