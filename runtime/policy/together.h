// SPDX-License-Identifier: MIT
//
// Calls of Workshare's own that all processes of a communicator make, and in which they wait for each other. A process
// that never makes the call leaves the others waiting for ever: after times::unfinished_s the first of them to notice
// prints one line per node that names the ranks that are not there.
#pragma once

#include "policy/job.h"

namespace ws::policy {

// While it lives, the calling thread is in the call `name`. Any thread; but only the one that called MPI_Init notices
// that it waits. Nobody does once the job has no steps any more. `may_be_long`: it may wait for long although all is
// well, and says nothing of it.
class InTogether {
public:
    InTogether(const Job& job, window::Together kind, const char* name, MPI_Comm comm, bool may_be_long = false);
    ~InTogether();
    InTogether(const InTogether&) = delete;
    InTogether& operator=(const InTogether&) = delete;

private:
    friend void say_who_is_missing(const Job& job);
    const Job& job_;
    volatile base::Flag* inside_ = nullptr; // null: nobody watches
    window::Together kind_;
    const char* name_;
    MPI_Comm comm_;
    InTogether* outer_ = nullptr; // of the same thread
    bool is_home_ = false;
};

// The thread that called MPI_Init, which has waited for long in an MPI call.
void say_who_is_missing(const Job& job);

} // namespace ws::policy
