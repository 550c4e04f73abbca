// SPDX-License-Identifier: MIT
//
// An iteration that never comes to its end, as its thread ends or jumps away, or comes to it in a process that does not have the region.
// Its region would stay open: whoever notices says which loop it is and ends the job.
#pragma once

#include "loop/participant.h"

namespace ws::loop {

// The calling thread may own regions, or (`helper`) runs others' until forget_thread(): its end in an iteration is noticed, and a helper's
// at any time (pthread_exit, pthread_cancel).
void watch_thread(bool helper);
void forget_thread();

// The region that the calling thread is said to be in cannot be any more (longjmp); `now` is what it does instead.
[[noreturn]] void left_by_jump(const Participant& p, const char* now);

// In a child of fork(): the thread's next chunk, or the end of its part in a region that was shared when it was forked.
[[noreturn]] void left_in_child(const ws_site* site);

} // namespace ws::loop
