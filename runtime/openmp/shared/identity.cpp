// SPDX-License-Identifier: MIT
#include "openmp/shared/identity.h"

#include "loop/participant.h"
#include "loop/stack.h"
#include "base/os.h"
#include "base/own_stack.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <link.h>
#include <linux/futex.h>
#include <new>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc registers an area for restartable sequences, in which the kernel writes on which CPU the thread is. Older ones
// have none.
extern "C" const ptrdiff_t __rseq_offset __attribute__((weak));
extern "C" const unsigned __rseq_size __attribute__((weak));

namespace ws::openmp {

namespace {

constexpr size_t KiB = 1024, MiB = 1024 * KiB;
// glibc's own two signals cannot be blocked: their handlers run just below the parked thread's frame.
constexpr size_t parking_room = 64 * KiB;

// Not glibc's syscall(): that writes errno, which is that of the virtual thread.
long raw_call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    long result = number;
    register long fourth asm("r10") = d;
    asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
    return result;
#else
    register long code asm("x8") = number;
    register long result asm("x0") = a;
    register long second asm("x1") = b;
    register long third asm("x2") = c;
    register long fourth asm("x3") = d;
    asm volatile("svc 0" : "+r"(result) : "r"(code), "r"(second), "r"(third), "r"(fourth) : "memory");
    return result;
#endif
}

#if defined(__x86_64__)
bool can_write_fs()
{
    constexpr unsigned long fsgsbase = 1 << 1; // of AT_HWCAP2: the kernel lets programs use wrfsbase
    return getauxval(AT_HWCAP2) & fsgsbase;
}
const bool writes_fs = can_write_fs();
constexpr long arch_set_fs = 0x1002;
#endif

// The kernel would go on writing the parked thread's CPU where the virtual thread looks for its own. Without it
// sched_getcpu() asks the kernel.
void leave_restartable_sequences()
{
    if (!&__rseq_size || !&__rseq_offset || __rseq_size == 0)
        return;
    struct Area {
        uint32_t cpu_id_start, cpu_id;
    };
    auto* const area = reinterpret_cast<volatile Area*>(thread_pointer() + uintptr_t(__rseq_offset));
    constexpr long unregister = 1, least_size = 32;
#if defined(__x86_64__)
    constexpr long signature = 0x53053053;
#else
    constexpr long signature = 0xd428bc00;
#endif
    const long size = std::max(long(__rseq_size), least_size);
    if (raw_call(SYS_rseq, long(area), size, unregister, signature) == 0)
        area->cpu_id = uint32_t(-2); // as where registering has failed
}

// glibc takes static thread-local storage out of a thread's stack.
size_t thread_local_bytes()
{
    size_t bytes = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* all) {
            for (unsigned i = 0; i < info->dlpi_phnum; i++)
                if (info->dlpi_phdr[i].p_type == PT_TLS)
                    *static_cast<size_t*>(all) += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
            return 0;
        },
        &bytes);
    return bytes;
}

// What the user has said of the stacks of OpenMP's threads, in bytes; 0: nothing.
size_t size_said()
{
    for (const char* name : {"OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE"}) {
        const char* const text = std::getenv(name);
        char* end;
        const unsigned long long number = text ? std::strtoull(text, &end, 10) : 0;
        if (number == 0)
            continue;
        end += std::strspn(end, " \t");
        static constexpr char units[] = "BKMGT";
        const char* const unit = *end ? std::strchr(units, *end & ~0x20) : units + 1; // capital letters
        const unsigned shift = unit ? 10 * unsigned(unit - units) : 10;
        return size_t(number) << shift;
    }
    return 0;
}

} // namespace

void set_thread_pointer(uintptr_t pointer)
{
#if defined(__x86_64__)
    if (WS_LIKELY(writes_fs))
        asm volatile("wrfsbase %0" : : "r"(pointer) : "memory");
    else
        raw_call(SYS_arch_prctl, arch_set_fs, long(pointer), 0, 0);
#else
    asm volatile("msr tpidr_el0, %0" : : "r"(pointer) : "memory");
#endif
}

__attribute__((noinline)) void run_as(uintptr_t pointer, void (*run)(void*), void* argument)
{
    const uintptr_t own = thread_pointer();
    set_thread_pointer(pointer);
    run(argument);
    set_thread_pointer(own);
}

// While its identity is borrowed this thread touches nothing but its own frame.
void* Identity::park(void* argument)
{
    Identity& me = *static_cast<Identity*>(argument);
    const base::OwnStack stack = base::own_stack();
    me.number_ = int(raw_call(SYS_gettid, 0, 0, 0, 0));
    me.pointer_ = thread_pointer();
    me.lowest_ = stack.lowest;
    me.guard_ = stack.lowest - stack.guard;
    me.highest_ = (uintptr_t(__builtin_frame_address(0)) - parking_room) & ~uintptr_t(63);
    loop::Participant& p = loop::self;
    p.in_region = true; // loops of ours in a virtual thread's body are its own
    p.frame = me.highest_;
    loop::other_stack = {me.lowest_, me.guard_};
    leave_restartable_sequences();
    Flag turn = 0;
    Hardware::store_release(me.ready_, 1); // pairs with make()
    raw_call(SYS_futex, long(&me.ready_), FUTEX_WAKE, 1, 0);
    for (;;) {
        while (Hardware::load_acquire(me.turn_) == turn) // pairs with wake()
            raw_call(SYS_futex, long(&me.turn_), FUTEX_WAIT, long(turn), 0);
        turn = Hardware::load_relaxed(me.turn_);
        if (!me.run_)
            break;
        me.run_(me.argument_);
    }
    return nullptr;
}

void Identity::wake(void (*run)(void*), void* argument)
{
    run_ = run;
    argument_ = argument;
    Hardware::store_release(turn_, Hardware::load_relaxed(turn_) + 1); // pairs with park()
    raw_call(SYS_futex, long(&turn_), FUTEX_WAKE, 1, 0);
}

void Identity::end()
{
    wake(nullptr, nullptr);
    pthread_join(thread_, nullptr);
    // The kernel counts it for a moment longer.
    for (unsigned turn = 0; turn < 1000 && raw_call(SYS_tgkill, getpid(), number_, 0, 0) == 0; turn++)
        usleep(20);
    delete this;
}

Identity* Identity::make()
{
    Identity* const identity = new (std::nothrow) Identity;
    if (!identity)
        return nullptr;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    const loop::StackSize size = loop::stack_size(std::max(size_t(loop::host().stack_bytes), size_said()));
    const size_t beside = parking_room + thread_local_bytes() + 64 * KiB;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_setguardsize(&attributes, size.guard);
    // Under a limit of memory a smaller stack is better than none; not where the user has chosen how large it is.
    int error = EAGAIN;
    for (size_t bytes = size.bytes; error; bytes /= 2) {
        pthread_attr_setstacksize(&attributes, bytes + beside);
        error = pthread_create(&identity->thread_, &attributes, park, identity);
        if (error != EAGAIN || size.chosen || bytes <= 16 * MiB)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (error) {
        delete identity;
        return nullptr;
    }
    while (!Hardware::load_acquire(identity->ready_)) // pairs with park()
        base::futex_wait(&identity->ready_, 0, 100000);
    return identity;
}

} // namespace ws::openmp
