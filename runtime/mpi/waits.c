/* SPDX-License-Identifier: MIT
 *
 * lib/libws-waits.so, which -workshare-waits loads first: stands before functions that may wait long for a GPU, a file
 * or a socket, tells libws of their begin and end, and calls the next function of that name.
 *
 * Nothing here locks or allocates once main() runs: read() and its like may be called by signal handlers. errno is the
 * function's own. libws decides whether a call counts (abi/waits.cpp, lend/stand_in.h): only the thread that called
 * MPI_Init, outside of MPI and of loops.
 *
 * Costs: two atomic operations and a look at the clock; for other threads, and before MPI_Init, a comparison.
 */
#define _GNU_SOURCE
#include "abi/call_waits.h"
#include "mpi/next_call.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

EXPORTED struct ws_call_waits ws_call_waits;

/* A GPU's library that only the module that loaded it can see (RTLD_LOCAL). */
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
    if (!s.found)
        no_next(name);
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
