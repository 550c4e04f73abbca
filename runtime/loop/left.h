// SPDX-License-Identifier: MIT
//
// Iterations that never end, because their thread ends or jumps away, or that end in a process without the region. The
// region would stay open for ever, so the thread that notices names the loop and ends the job.
#pragma once

#include "loop/participant.h"

namespace ws::loop {

// From here until forget_thread() it is noticed when the calling thread ends (pthread_exit, pthread_cancel): in an
// iteration if it may own regions; at any time if it is a `helper`, which runs iterations of others.
void watch_thread(bool helper);
void forget_thread();

// The calling thread cannot be in the region any more that is noted for it (longjmp); `now` is what it does instead.
[[noreturn]] void left_by_jump(const Participant& p, const char* now);

// The calling thread, rank `rank`'s own, has waited in MPI for `seconds`: says so if it is noted to be in a region. It
// may be: an iteration may call MPI.
void waits_in_iteration(int rank, unsigned seconds);

// The owner of a region of `site` has waited `seconds` for guests that are in its last iterations. The first time, says
// so: iterations may be that long.
void waits_for_guests(const ws_site* site, unsigned seconds);

// In a child of fork(): the thread asks for its next chunk, or ends its part, in a region that was shared when the
// child was forked.
[[noreturn]] void left_in_child(const ws_site* site);

// The region's descriptor gives iterations that the loop does not have: another process has written there.
[[noreturn]] void beyond_the_end(const ws_site* site);

} // namespace ws::loop
