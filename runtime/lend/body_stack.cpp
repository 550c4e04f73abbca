// SPDX-License-Identifier: MIT
#include "lend/body_stack.h"

#include "loop/participant.h"
#include "loop/signals.h"
#include "loop/stack.h"
#include "base/os.h"
#include "base/own_stack.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>

namespace ws::lend {

namespace {

constexpr size_t KiB = 1024, MiB = 1024 * KiB;

// ---- at the end of a stack

struct Watched {
    uintptr_t lowest, guard; // of the stack, and of what lies below it
    char text[128];
    int length;
    void* signal_stack;
};
WS_THREAD_LOCAL Watched watched;

struct sigaction before; // what the program, or a library, did about SIGSEGV
bool installed;

bool ran_out(const siginfo_t& info, const ucontext_t& at)
{
    if (!watched.lowest || info.si_code <= 0) // si_code <= 0: sent by somebody, not a fault
        return false;
    const uintptr_t address = uintptr_t(info.si_addr);
#if defined(__x86_64__)
    const uintptr_t pointer = uintptr_t(at.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    const uintptr_t pointer = uintptr_t(at.uc_mcontext.sp);
#else
    const uintptr_t pointer = watched.lowest;
    (void) at;
#endif
    const loop::OtherStack& other = loop::other_stack;
    const uintptr_t lowest = other.lowest ? other.lowest : watched.lowest;
    const uintptr_t guard = other.lowest ? other.guard : watched.guard;
    return pointer < lowest || (address >= guard && address < lowest);
}

// A signal handler. Whatever the fault is, what the program does about such faults follows.
void fault(int signal, siginfo_t* info, void* context)
{
    const int error = errno;
    if (ran_out(*info, *static_cast<ucontext_t*>(context))) {
        const char* where = loop::self.site ? loop::self.site->where : nullptr;
        iovec parts[] = {{watched.text, size_t(watched.length)},
                         {const_cast<char*>(" in the ws loop "), where ? size_t(16) : 0},
                         {const_cast<char*>(where), where ? std::strlen(where) : 0},
                         {const_cast<char*>("; mpirun -workshare-stacksize or ulimit -s gives it more\n"), 57}};
        if (writev(STDERR_FILENO, parts, 4) < 0)
            errno = error;
    }
    // Back to the handler that was there before: the instruction faults again, and that handler gets the fault.
    sigaction(SIGSEGV, &before, nullptr);
    if (info->si_code <= 0)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info);
    errno = error;
}

void install()
{
    struct sigaction ours = {};
    ours.sa_sigaction = fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    installed = sigaction(SIGSEGV, &ours, &before) == 0;
}

size_t signal_stack_bytes() { return std::max(size_t(std::max(sysconf(_SC_SIGSTKSZ), 0L)), 256 * KiB); }

} // namespace

int create_body_thread(pthread_t& thread, pthread_attr_t& attributes, const BodyStack& stack,
                       void* (*run)(void*), void* argument)
{
    if (!installed)
        install();
    sigset_t were_blocked;
    pthread_sigmask(SIG_SETMASK, &loop::idle_signals(), &were_blocked);
    loop::StackSize size = loop::stack_size(stack.bytes);
    int error;
    for (;; size.bytes /= 2) {
        pthread_attr_setstacksize(&attributes, size.bytes + loop::static_tls_bytes());
        pthread_attr_setguardsize(&attributes, size.guard);
        error = pthread_create(&thread, &attributes, run, argument);
        if (error != EAGAIN || size.chosen || size.bytes <= 16 * MiB)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &were_blocked, nullptr);
    if (error == EAGAIN && size.chosen) {
        static bool said;
        if (!said)
            std::fprintf(stderr,
                         "workshare: warning: rank %d gets no helper thread with a stack of %zu MiB (WS_STACKSIZE): "
                         "%s; its loops run without helpers\n",
                         stack.rank, size.bytes / MiB, std::strerror(error));
        said = true;
    }
    return error;
}

void watch_stack(const char* kind, int rank)
{
    const size_t bytes = signal_stack_bytes();
    // mmap, because untouched pages must cost nothing (MAP_NORESERVE)
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    const base::OwnStack own = base::own_stack();
    if (memory == MAP_FAILED || !own.bytes)
        return;
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = bytes;
    sigaltstack(&stack, nullptr);
    Watched& w = watched;
    w.signal_stack = memory;
    w.guard = own.lowest - own.guard;
    w.length =
        std::snprintf(w.text, sizeof w.text, "workshare: error: a %s thread of rank %d ran out of its stack of %zu MiB",
                      kind, rank, (own.bytes - std::min(own.bytes, loop::static_tls_bytes())) / MiB);
    w.lowest = own.lowest;
}

void unwatch_stack()
{
    if (!watched.lowest)
        return;
    watched.lowest = 0;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(watched.signal_stack, signal_stack_bytes());
}

void stop_watching_stacks()
{
    struct sigaction now;
    if (installed && sigaction(SIGSEGV, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == fault)
        sigaction(SIGSEGV, &before, nullptr);
    installed = false;
}

} // namespace ws::lend
