// SPDX-License-Identifier: MIT
//
// Calls of Workshare's own that all processes of a communicator make, and in which they wait for each other. A process
// that never makes the call leaves the others waiting for ever: after times::unfinished_s the first of them to notice
// prints one line per node that names the ranks that are not there.
#pragma once

#include "window/window.h"

#include <mpi.h>

namespace ws::policy {

// While it lives, the calling thread is in the call `name`. Any thread; but only the one that called MPI_Init notices
// that it waits.
class InTogether {
public:
    InTogether(window::Together kind, const char* name, MPI_Comm comm);
    ~InTogether();
    InTogether(const InTogether&) = delete;
    InTogether& operator=(const InTogether&) = delete;

private:
    friend void say_who_is_missing();
    volatile base::Flag* inside_ = nullptr; // null: nobody watches
    window::Together kind_;
    const char* name_;
    MPI_Comm comm_;
    InTogether* outer_ = nullptr; // of the same thread
    bool is_home_ = false;
};

// The window in which ranks are looked for, from the thread that called MPI_Init; null: nobody looks any more.
void watch_together(window::Window* window);

// The thread that called MPI_Init, which has waited for long in an MPI call.
void say_who_is_missing();

} // namespace ws::policy
