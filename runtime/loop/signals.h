// SPDX-License-Identifier: MIT
//
// Which signals helper threads block. While one runs iterations it has the mask of the loop's thread, so raise(),
// pthread_kill() to itself and what an iteration starts (posix_spawn, system) behave as on that thread. At all other
// times it blocks everything that it cannot cause itself: the program's signals are for the threads that it knows of.
//
// The kernel prefers the main thread for a signal to the whole process, and takes another thread only if that one
// blocks the signal. A helper thread has the mask of a thread of the program, so it takes nothing that this one would
// not take.
#pragma once

#include <csignal>
#include <sys/types.h>

namespace ws::loop {

// What an idle helper thread blocks: all but SIGPROF and faults.
const sigset_t& idle_signals();

// For helper threads, which begin with idle_signals(). No system call if the thread has that mask already.
void take_signals(const sigset_t& of_loops_thread);
// In a child that a helper thread has forked in an iteration: the CPUs of the loop's thread, whose number in the parent
// is `thread`. Calls nothing but the kernel.
void take_cpus_of(pid_t thread);
inline void rest_signals() { take_signals(idle_signals()); }

} // namespace ws::loop
