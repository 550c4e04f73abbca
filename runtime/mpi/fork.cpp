// SPDX-License-Identifier: MIT
//
// fork(): the child is no rank. Its loops run plain, it lends nothing and counts nothing, its critical sections are its
// own, and its end does not end the job. It does not touch the window and the board, which it shares with the ranks,
// and its parent notices nothing. MPI calls in the child do what they do in MPICH without Workshare.
//
// None of this is called by vfork, posix_spawn, system and popen, whose children share or replace the memory
// (children.cpp).
#include "abi/forked.h"
#include "openmp/library/regions.h"
#include "loop/region.h"
#include "measure/meter.h"
#include "mpi/children.h"
#include "mpi/end_job.h"
#include "mpi/job.h"
#include "observe/board.h"
#include "observe/recorder.h"

#include <pthread.h>

namespace ws::mpi {

namespace {
Job* followed; // of this process; null: it has none
}

void follow_forks(Job& job) { followed = &job; }

// Plain stores and system calls: other threads may have held any lock.
void become_no_rank()
{
    leave_job();
    leave_lent_core();
    if (followed) {
        MPIR_Workshare_hooks* const hooks = followed->hooks;
        MPIR_Workshare_hooks none = {};
        none.sends_open = hooks->sends_open; // what MPICH itself set
        none.sends_to = hooks->sends_to;
        none.events = hooks->events;
        none.thread_level_asked = hooks->thread_level_asked;
        none.let_threads_in = hooks->let_threads_in;
        none.call_name = hooks->call_name;
        none.crowded = hooks->crowded;
        *hooks = none;
        if (none.let_threads_in)
            none.let_threads_in(0);
    }
    observe::stop_recording();
    if (followed && followed->board)
        observe::keep_board_private(*followed->board);
    if (followed)
        followed->meter.leave();
    loop::stop_sharing_in_child();
    openmp::set_region_cores(nullptr); // policies are the rank's
    openmp::stop_watching();
    abi::use_fresh_locks();
    abi::free_merge_lock();
    abi::free_call_lock();
    abi::forget_waits();
}

namespace {

__attribute__((constructor)) void watch_forks() { pthread_atfork(nullptr, nullptr, become_no_rank); }

} // namespace

} // namespace ws::mpi
