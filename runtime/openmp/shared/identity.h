// SPDX-License-Identifier: MIT
//
// The identity of a thread: its thread control block, and with it its thread-local storage in all modules, its
// pthread_self(), thread-specific data and malloc cache, and its stack. A parked thread lends its identity to the
// thread that runs a virtual thread. That one switches its stack and its thread pointer, and switches back at a
// barrier. (User-level processes do the same: Hori et al., Process-in-Process.)
//
// The kernel knows nothing of it. What it keeps for each thread stays that of the thread which runs: its number,
// signal mask, affinity and timers (early.c says which programs are left alone for that).
//
// A switch takes some 10 ns with wrfsbase, 70 ns by a system call. Making a parked thread takes some 25 us, once.
#pragma once

#include "base/atomics.h"

#include <cstdint>
#include <pthread.h>

namespace ws::openmp {

using base::Flag;
using base::Hardware;

// The thread pointer of the calling thread. Code that sets it must not use thread-local variables before and after in
// one function: their addresses may have been computed before.
inline uintptr_t thread_pointer()
{
    uintptr_t pointer;
#if defined(__x86_64__)
    asm volatile("movq %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    asm volatile("mrs %0, tpidr_el0" : "=r"(pointer));
#else
#error "the thread pointer"
#endif
    return pointer;
}
void set_thread_pointer(uintptr_t pointer);
// Calls run(argument) on that identity, which nobody else uses meanwhile.
void run_as(uintptr_t pointer, void (*run)(void*), void* argument);

class Identity {
public:
    // Null: the system refuses a thread, or the memory for its stack. Blocks until the thread is parked. The thread
    // inherits the caller's affinity.
    static Identity* make();

    // Ends the parked thread, whose identity nobody has borrowed. When this returns the system can give its thread and
    // stack to others.
    void end();

    uintptr_t pointer() const { return pointer_; }
    // A virtual thread's stack is [lowest, highest); below it lies the guard.
    uintptr_t lowest() const { return lowest_; }
    uintptr_t highest() const { return highest_; }
    uintptr_t guard() const { return guard_; }

    // The parked thread itself calls run(argument), under its own identity, which nobody has borrowed, and parks again.
    // Returns at once. Its signals stay blocked.
    void wake(void (*run)(void*), void* argument);

private:
    Identity() = default;
    static void* park(void* identity);

    uintptr_t pointer_ = 0, lowest_ = 0, highest_ = 0, guard_ = 0;
    volatile Flag turn_ = 0;  // what the parked thread sleeps on: changes when it is to run
    volatile Flag ready_ = 0; // it is parked for the first time
    pthread_t thread_ = {};
    int number_ = 0; // the kernel's
    void (*run_)(void*) = nullptr; // null: it ends
    void* argument_ = nullptr;
};

} // namespace ws::openmp
