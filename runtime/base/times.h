// SPDX-License-Identifier: MIT
//
// How long libws waits for what, and what it takes a thing to cost: all times of the runtime that no option sets, with
// their reasons. Names end in their unit. Options and their defaults are in options/options.txt, times that are
// measured (Home::return_ticks, a loop's chunks) where they are measured. The names of those who read a constant stand
// before its reason.
#pragma once

#include <cstdint>

namespace ws::base::times {

// ---- regions (mpi/attach fills LoopHost; loop/)

// A region that is expected to last less is not published, by how much a thief wants work (Hungry). Waking a sleeper
// and then a guest takes 5 to 30 us each; who has waited long will most likely stay for the next regions, too.
constexpr double publish_asleep_us = 100, publish_newly_us = 12, publish_long_us = 5;
// observe/verdict.cpp: so an execution that takes less is called short.
constexpr double short_run_s = 1e-6 * publish_asleep_us;
// A chunk of a published region takes this or more: below it the claim, an atomic operation on a shared line, is felt.
constexpr double least_chunk_us = 0.7;
// A loop that takes less runs whole.
constexpr double run_whole_us = 20;
// So does a longer one that nobody came for while it ran, in many executions: cut into chunks it takes up to 2 % more.
// Not the longest, as one that comes after all waits for its end, and a loop may suddenly take many times as long.
constexpr double calm_whole_us = 500;
// loop/site.cpp: in a region below short_region_us a steal that took less time than the hand-over has delayed its thief
// for nothing; one above long_region_us is not run without help only to find out what help is worth: few of them make
// up a run.
constexpr double handover_us = 8, short_region_us = 500, long_region_us = 5000;
// The same of the begin of some of these: several chunks of the owner's.
constexpr double begun_alone_us = 500;
// loop/site.cpp: a loop that gained nothing goes on unshared for so long at first: long beside the regions that tried
// it, short beside a run, so that one that was only unlucky, or has changed, is tried again.
constexpr double first_pause_us = 20000;
// loop/check.cpp: how long to wait for a helper that is expected. Where none comes again and again, the wait becomes
// short.
constexpr uint64_t helper_patience_us = 100000, helper_little_patience_us = 2000;
// loop/check.cpp: passes above long_pass_s are compared once for each order. A pass may take pass_patience_s, or
// unknown_pass_s where nothing is known of the loop.
constexpr double long_pass_s = 5, pass_patience_s = 2, unknown_pass_s = 10;
// loop/serial_pass.cpp: naps while a child computes: short ones would take its core, long ones make short passes slow.
constexpr unsigned first_child_nap_us = 20, longest_child_nap_us = 2000;

// ---- lending (mpi/mpi_t fills LendTimes; lend/)

// Blocked for longer, a thread counts as long_hungry: it will most likely go on waiting. An MPI_Test in vain counts as
// a wait for as long.
constexpr double patience_us = 20;
// lend/lender.cpp: a return takes 3 to 8; what took longer is thought to have taken this.
constexpr double return_us = 30;
// With nothing to help with for so long a thread goes to sleep, if its core is its own: a wake-up, 5 to 30 us, is
// within 0.5 % or so of that.
constexpr double yield_us = 4000;
// A blocked rank that has nothing to lend for looks this often whether the others live.
constexpr double peers_us = 1e6;
// loop/open_region.h, an owner that waits for its guests: so many yields take 10 ms, but minutes where somebody else
// has the CPU at each. Then it looks so often whether the others live.
constexpr double close_yield_us = 50000, close_look_us = 200000;
// lend/lender.cpp: the same for one that sleeps: after so long slept in vain.
constexpr uint64_t peers_asleep_us = 100000;
// What MPI_Test may take for a chunk: the program has other things to do.
constexpr double test_chunk_us = 10;
// lend/lender.cpp: where ranks share cores, sleepers look at MPI less often, but nothing that fails to ring may cost
// more than a blink.
constexpr uint64_t longest_crowded_nap_us = 25000;
// lend/worker.cpp: a worker does not look at MPI: everything that it sleeps for wakes it, except in a race that costs
// one nap.
constexpr uint64_t worker_nap_us = 20000;
// lend/other_threads.cpp: nothing rings for what comes from a thread of the same rank: it may be late by this. A look
// costs some 5 us, a fortieth of a core.
constexpr uint64_t thread_nap_us = 200;
// lend/guest.cpp: a guest without a core is woken by who lends it one, and looks itself after this.
constexpr uint64_t guest_nap_us = 1000000;

// ---- other rooms

// book/book.cpp: whoever makes a book needs microseconds for it, and many time slices on a crowded machine; one that
// takes longer was stopped, and is passed over.
constexpr unsigned book_patience_us = 200000, book_look_us = 100;
// base/open_file.h: how long a named pipe that is to be read may have no writer: one that is started together with
// the reader needs milliseconds; and how often it is looked for.
constexpr unsigned writer_patience_ms = 2000, writer_look_ms = 10;
// openmp/library/regions.cpp: the end of a region wakes who waits for it, who looks itself after this.
constexpr unsigned openmp_nap_us = 50000;
// openmp/library/threads.cpp: so long may libomp's idle threads spin on a lent core after a region: the least that it
// takes, but for none.
// openmp/shared/watchdog.cpp: a region in which nothing has happened for so long may be stuck, and is looked at; and
// where it cannot be seen what its threads do it is stuck when nothing has happened for so long.
constexpr double stuck_look_us = 6000, stuck_us = 5000000;
// openmp/shared/site.cpp: where a chunk of a loop takes less, dealing it to a virtual thread (a third of that, where
// cores compete for it) may cost more than sharing gains.
constexpr double short_chunk_us = 0.15;
// measure/kept_off.cpp: how often a thread asks the kernel how long it had no CPU: what it missed it learns at the next
// look.
constexpr double kept_off_us = 8000;
// Of work in which a thread did not run, for whatever reason, so much is neglected, all in all: a quarter of what is
// called disturbed. A guest misses some 25 each time that the thread whose core it has looks at MPI.
constexpr double kept_off_little_us = 250;
// measure/meter.cpp: who learns that it was kept off for longer was disturbed: an eighth of the time between two looks.
// In chains of short regions threads were kept off for 0.4 to 0.9 ms of it, most likely by handing cores over and back.
constexpr double disturbed_us = 1000;
// base/os.cpp: the clock is calibrated over so long, for an error below 0.1 %.
constexpr double calibrate_s = 1e-3;

// ---- policies

// policy/placement/: by itself the exact search may take what a program can well spend once; as a part of `automatic`
// it must not be noticed. The search for neighbours likewise.
constexpr double exact_search_s = 0.2, automatic_search_s = 0.001, graph_search_s = 0.1;
// policy/cores/: see there.
constexpr double unknown_period_us = 500000; // measured for so long where no turns are seen
// What threads that come and go cost a region: measured 20 to 50 for one, with libgomp, which ends them.
constexpr double thread_cost_us = 60;
// How often a rank that waits looks whether it is to decide.
constexpr double decide_least_us = 1000, decide_most_us = 20000;
constexpr double settle_us = 5e6; // a rank that hands nothing over for so long keeps what it has
// A rank has to wait for so long before its processors are lent; longer, up to the second, where it came back too
// early.
constexpr unsigned borrow_least_us = 20, borrow_most_us = 20000;
// Whoever waits anew so soon after a region took its processors was on its way from one wait to the next.
constexpr double between_waits_us = 1000;
// The same for those of another job, all of whose ranks must have waited so long: the last of them sleeps by then.
constexpr unsigned share_least_us = 1000, share_most_us = 100000;
constexpr double share_look_us = 20000; // whether a process that has left MPI has ended
// policy/rows/: an interval that the runtime chooses lasts longer than it takes to learn that others had the core
// (kept_off_us). What a move costs at least: a few agreements of all processes, and memory that is asked for.
constexpr double flex_interval_us = 20000, flex_move_us = 1000;
// A rank that waits looks so often whether the others' numbers have come, each time half as often: mostly they have
// before it waits, and each look wakes it.
constexpr double flex_look_least_us = 10, flex_look_most_us = 20000;
// Counters of processors are calibrated for so long, once.
constexpr double flex_calibrate_us = 2000;
// policy/tasks/: tasks that are taken out of the queue at once take about so long: others cannot have them any more.
constexpr double task_batch_us = 10, task_chunk_us = 30; // so long is what a guest runs until it looks for a recall
// How long a thread without tasks looks for those of others; and how long stolen tasks must keep it busy, or it waits
// longer and longer before it steals again. A theft costs each of the two threads some 0.2 us.
constexpr double task_hunt_us = 20, task_steal_us = 1;
// Letters are looked at so often while tasks run: a look costs up to 1 us. In a longer task the pulse looks, a thread
// that needs 5 us each time, and naps longer while nobody needs it.
constexpr double task_poll_us = 100, task_pulse_us = 1000, task_longest_pulse_us = 8000;
constexpr uint64_t task_rest_us = 1000000; // between runs, when somebody wakes it
// The unit of time by which C is counted, at least: some ten times what it takes to get tasks.
constexpr double task_unit_us = 500;
// An owner without tasks, while guests are in theirs.
constexpr unsigned task_tail_nap_us = 20;

// loop/left.h, policy/together.h: after a wait of this length a note says what is wrong if it never ends.
constexpr unsigned unfinished_s = 9;

// How often it is looked whether another job's process uses a CPU at all: the kernel counts in units of 10 ms. A look
// takes 10 us. One that uses less than this share of a core is idle: sleeping, stopped, or waiting for input.
constexpr uint64_t activity_look_us = 100000;
constexpr double activity_share = 0.15;

} // namespace ws::base::times
