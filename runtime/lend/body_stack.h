// SPDX-License-Identifier: MIT
//
// The stacks of threads that run loop bodies: as large as the rank's own may become, beside guard and static
// thread-local storage (which glibc takes out of a thread's stack), reserved and not touched; and a message when a body
// needs more than that, for a loop that runs on its rank's stack must not die silently on a guest's.
#pragma once

#include <cstddef>
#include <pthread.h>

namespace ws::lend {

struct BodyStack {
    size_t bytes; // WS_STACKSIZE; 0 if it says nothing
    int rank;     // for a message
};

// pthread_create() with such a stack. From its first moment on the thread blocks loop::idle_signals().
int create_body_thread(pthread_t& thread, pthread_attr_t& attributes, const BodyStack& stack,
                       void* (*run)(void*), void* argument);

// Between these two calls the calling thread, a `kind` of that rank ("guest"), says so when it comes to the end of its
// stack. They are no class with a destructor: a thread that the body ends (pthread_exit) is unwound by another copy of
// the unwinder than libws has.
void watch_stack(const char* kind, int rank);
void unwatch_stack();
// To be called when no thread of ours is left: gives SIGSEGV back to the program.
void stop_watching_stacks();

} // namespace ws::lend
