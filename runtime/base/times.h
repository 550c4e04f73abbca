// SPDX-License-Identifier: MIT
//
// Times that several files read, and that no option sets, with their reasons. What one file reads stands in that file.
// Options and their defaults are in options/options.txt; times that are measured (Home::return_ticks, a loop's chunks)
// where they are measured. Names end in their unit.
#pragma once

#include <cstdint>

namespace ws::base::times {

// A region that is expected to last less is not published, by how much a thief wants work (Hungry). Waking a sleeper
// and then a guest takes 5 to 30 us each; who has waited long will most likely stay for the next regions, too.
constexpr double publish_asleep_us = 100, publish_newly_us = 12, publish_long_us = 5;
// A return of a core takes 3 to 8; what took longer is thought to have taken this.
constexpr double return_us = 30;
// Nothing rings for what comes from a thread of the same rank: it may be late by this. A look costs some 5 us, a
// fortieth of a core.
constexpr uint64_t thread_nap_us = 200;
// How often a thread asks the kernel how long it had no CPU: what it missed it learns at the next look.
constexpr double kept_off_us = 8000;
// Time of work in which a thread did not run, for whatever reason, is neglected up to this sum: a quarter of what
// counts as disturbed. A guest misses some 25 each time that the thread whose core it has looks at MPI.
constexpr double kept_off_little_us = 250;
// By itself the exact search for places may take what a program can well spend once; as a part of `automatic` it must
// not be noticed. The search for neighbours likewise.
constexpr double exact_search_s = 0.2, automatic_search_s = 0.001, graph_search_s = 0.1;
// About how long a batch of tasks that a thread takes out of the queue should run, as others cannot have these tasks
// any more; and how long a guest runs tasks before it looks for a recall.
constexpr double task_batch_us = 10, task_chunk_us = 30;
// Letters are looked at so often while tasks run: a look costs up to 1 us. In a longer task the pulse looks, a thread
// that needs 5 us each time, and naps longer while nobody needs it.
constexpr double task_poll_us = 100, task_pulse_us = 1000, task_longest_pulse_us = 8000;
// After a wait of this length a note says what is wrong if it never ends.
constexpr unsigned unfinished_s = 9;
// How often it is looked whether another job's process uses a CPU at all: the kernel counts in units of 10 ms. A look
// takes 10 us. One that uses less than this share of a core is idle: sleeping, stopped, or waiting for input.
constexpr uint64_t activity_look_us = 100000;
constexpr double activity_share = 0.15;

} // namespace ws::base::times
