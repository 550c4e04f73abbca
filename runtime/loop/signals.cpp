// SPDX-License-Identifier: MIT
#include "loop/signals.h"

#include "base/os.h"

#include <cstring>
#include <initializer_list>
#include <sys/syscall.h>
#include <unistd.h>

namespace ws::loop {

namespace {

// The kernel's part of a set: the library's has room for 1,024 signals.
constexpr size_t bytes = 8;

struct Now {
    sigset_t mask;
    bool known;
};
WS_THREAD_LOCAL Now own_mask; // as this file set it last

} // namespace

const sigset_t& idle_signals()
{
    static const sigset_t set = [] {
        sigset_t all;
        sigfillset(&all);
        for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
            sigdelset(&all, signal);
        return all;
    }();
    return set;
}

void take_signals(const sigset_t& mask)
{
    if (own_mask.known && std::memcmp(&own_mask.mask, &mask, bytes) == 0)
        return;
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    std::memcpy(&own_mask.mask, &mask, bytes);
    own_mask.known = true;
}

void take_cpus_of(pid_t thread)
{
    unsigned long cpus[512];
    const long size = syscall(SYS_sched_getaffinity, thread, sizeof cpus, cpus);
    if (size > 0)
        syscall(SYS_sched_setaffinity, 0, size, cpus);
}

} // namespace ws::loop
