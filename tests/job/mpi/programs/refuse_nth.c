/* SPDX-License-Identifier: MIT
 *
 * Preloaded: a system that refuses a library one thing, REFUSE_WHAT: `thread`, `map` (mmap), `file` (memfd_create) or
 * `heap` (malloc and its like). REFUSE_AT: the first that is refused, counted from 1. REFUSE_MORE: those after it, too.
 * REFUSE_RANK: of this rank only; `all`: of each. REFUSE_LIBRARY: whose requests; libws's, unless something else is
 * said. At its end each rank says for how much that library has asked. Other libraries (UCX's) get what they ask for.
 * But with `threads`, a rank has at most REFUSE_AT of them at a time, whatever library asks.
 *
 * A rank that faults says in which file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREAD, MAP, FILE_OF_MEMORY, HEAP, KINDS };
static const char *const names[KINDS] = {"thread", "map", "file", "heap"};
static int asked[KINDS];

static const char *library(void)
{
    const char *said = getenv("REFUSE_LIBRARY");
    return said ? said : "libws.so";
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

static int is_of_library(const void *code)
{
    Dl_info where;
    return dladdr(code, &where) && strncmp(base_name(where.dli_fname), library(), strlen(library())) == 0;
}

static int refuses(int kind, const void *code)
{
    const char *what = getenv("REFUSE_WHAT"), *at = getenv("REFUSE_AT"), *whose = getenv("REFUSE_RANK");
    const char *rank = getenv("PMI_RANK");
    if (!what || !rank || !is_of_library(code))
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

static void *map(const void *caller, void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (refuses(MAP, caller)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (!real)
        real = dlsym(RTLD_NEXT, "mmap");
    return real(address, length, protection, flags, fd, offset);
}

/* Both names: code compiled with _FILE_OFFSET_BITS=64 calls the second. */
void *map_32(void *, size_t, int, int, int, off_t) __asm__("mmap");
void *map_32(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return map(__builtin_return_address(0), address, length, protection, flags, fd, offset);
}

void *map_64(void *, size_t, int, int, int, off_t) __asm__("mmap64");
void *map_64(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return map(__builtin_return_address(0), address, length, protection, flags, fd, offset);
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

/* The GNU C library's own: dlsym() would ask for memory. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static int refuses_heap(const void *code)
{
    static int is_asked; /* 1: no, 2: yes */
    if (!is_asked) {
        const char *what = getenv("REFUSE_WHAT");
        is_asked = 1 + (what && strcmp(what, names[HEAP]) == 0);
    }
    if (is_asked == 1 || !refuses(HEAP, code))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) { return refuses_heap(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes); }

void *calloc(size_t number, size_t bytes)
{
    return refuses_heap(__builtin_return_address(0)) ? NULL : __libc_calloc(number, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return refuses_heap(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return refuses_heap(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    Dl_info where;
    (void) info;
#if defined(__x86_64__)
    const void *code = (const void *) at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    const void *code = (const void *) at->uc_mcontext.pc;
#endif
    const int known = dladdr(code, &where);
    dprintf(2, "rank %s faults in %s: %s\n", getenv("PMI_RANK"), base_name(known ? where.dli_fname : NULL),
            known && where.dli_sname ? where.dli_sname : "?");
    signal(number, SIG_DFL);
    raise(number);
}

__attribute__((constructor)) static void catch_faults(void)
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_RESETHAND};
    if (getenv("REFUSE_WHAT") && getenv("PMI_RANK")) {
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
    }
}

__attribute__((destructor)) static void say(void)
{
    if (getenv("REFUSE_WHAT") && getenv("PMI_RANK"))
        for (int kind = 0; kind < KINDS; kind++)
            fprintf(stderr, "%s asked on rank %s: %s %d\n", library(), getenv("PMI_RANK"), names[kind], asked[kind]);
}
