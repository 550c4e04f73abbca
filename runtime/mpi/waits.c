/* SPDX-License-Identifier: MIT
 *
 * lib/libws-waits.so, which -workshare-waits loads first: stands before functions that may wait long for a GPU, a file
 * or a socket, tells libws of their begin and end, and calls the next function of that name.
 *
 * Nothing here locks or allocates once main() runs: read() and its like may be called by signal handlers. errno is the
 * function's own. libws decides whether a call counts (abi/waits.cpp, lend/stand_in.h): only the thread that called
 * MPI_Init, outside of MPI and of loops.
 *
 * Arguments are words, handed on as they came, as in calls.c. Costs: two atomic operations and a look at the clock,
 * some 50 ns; a few for other threads, and before MPI_Init.
 */
#define _GNU_SOURCE
#include "abi/call_waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long word;
#define EXPORTED __attribute__((visibility("default")))

EXPORTED struct ws_call_waits ws_call_waits;

/* A GPU's library that is in the process, but for the module alone that brought it. */
struct search {
    const char *name;
    void *found;
};

static int look_into(struct dl_phdr_info *library, size_t size, void *data)
{
    struct search *s = data;
    const char *slash = strrchr(library->dlpi_name, '/'), *file = slash ? slash + 1 : library->dlpi_name;
    (void)size;
    if (strncmp(file, "libcudart.so", 12) != 0 && strncmp(file, "libamdhip64.so", 14) != 0)
        return 0;
    void *handle = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    s->found = handle ? dlsym(handle, s->name) : NULL;
    return s->found != NULL;
}

static __attribute__((cold, noinline)) void *next_of(const char *name)
{
    struct search s = { name, dlsym(RTLD_NEXT, name) };
    if (!s.found)
        dl_iterate_phdr(look_into, &s);
    if (!s.found) {
        fprintf(stderr, "workshare: error: %s is called, but no library has it\n", name);
        abort();
    }
    return s.found;
}

static inline int begins(unsigned kind, const void *caller)
{
    const unsigned kinds = __atomic_load_n(&ws_call_waits.kinds, __ATOMIC_ACQUIRE); /* pairs with libws's store */
    if (__builtin_expect(!(kinds & kind), 1))
        return 0;
    if ((uintptr_t)caller - ws_call_waits.own_begin < ws_call_waits.own_end - ws_call_waits.own_begin)
        return 0;
    const int before = errno;
    const int told = ws_call_waits.begin(kind == WS_CALLS_IO);
    errno = before;
    return told;
}

static inline void ends(void)
{
    const int its = errno;
    ws_call_waits.end();
    errno = its;
}

#define ARGUMENTS_0
#define ARGUMENTS_1 a0
#define ARGUMENTS_2 ARGUMENTS_1, a1
#define ARGUMENTS_3 ARGUMENTS_2, a2
#define ARGUMENTS_4 ARGUMENTS_3, a3
#define ARGUMENTS_5 ARGUMENTS_4, a4
#define ARGUMENTS_6 ARGUMENTS_5, a5
#define WORDS_0 void
#define WORDS_1 word a0
#define WORDS_2 WORDS_1, word a1
#define WORDS_3 WORDS_2, word a2
#define WORDS_4 WORDS_3, word a3
#define WORDS_5 WORDS_4, word a4
#define WORDS_6 WORDS_5, word a5

/* `early`: found before main(), for signal handlers. A GPU's library may come later. */
#define CALL(name, kind, count, early) \
    static word (*next_##name)(WORDS_##count); /* the same, whichever thread finds it */ \
    early static void find_##name(void) { next_##name = (word (*)(WORDS_##count))next_of(#name); } \
    EXPORTED word our_##name(WORDS_##count) __asm__(#name); \
    EXPORTED word our_##name(WORDS_##count) \
    { \
        if (__builtin_expect(!next_##name, 0)) \
            find_##name(); \
        const int told = begins(kind, __builtin_return_address(0)); \
        const word result = next_##name(ARGUMENTS_##count); \
        if (told) \
            ends(); \
        return result; \
    }
#define IO(name, count) CALL(name, WS_CALLS_IO, count, __attribute__((constructor)))
#define GPU(name, count) CALL(name, WS_CALLS_GPU, count, )

/* As programs call them, also where the compiler checks buffers (-D_FORTIFY_SOURCE). */
IO(read, 3)
IO(write, 3)
IO(pread, 4)
IO(pread64, 4)
IO(pwrite, 4)
IO(pwrite64, 4)
IO(readv, 3)
IO(writev, 3)
IO(fsync, 1)
IO(fdatasync, 1)
IO(poll, 3)
IO(ppoll, 4)
IO(select, 5)
IO(pselect, 6)
IO(epoll_wait, 4)
IO(recv, 4)
IO(recvfrom, 6)
IO(recvmsg, 3)
IO(send, 4)
IO(sendto, 6)
IO(sendmsg, 3)
IO(accept, 3)
IO(accept4, 4)
IO(connect, 3)
IO(__read_chk, 4)
IO(__pread_chk, 5)
IO(__pread64_chk, 5)
IO(__poll_chk, 4)
IO(__ppoll_chk, 5)
IO(__recv_chk, 5)

GPU(cudaStreamSynchronize, 1)
GPU(cudaStreamSynchronize_ptsz, 1)
GPU(cudaDeviceSynchronize, 0)
GPU(cudaEventSynchronize, 1)
GPU(hipStreamSynchronize, 1)
GPU(hipStreamSynchronize_spt, 1)
GPU(hipDeviceSynchronize, 0)
GPU(hipEventSynchronize, 1)
