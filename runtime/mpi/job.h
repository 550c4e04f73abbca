// SPDX-License-Identifier: MIT
//
// What one process knows of its job while libws is attached; shared by the files of this folder alone.
#pragma once

#include "book/book.h"
#include "lend/rank.h"
#include "measure/meter.h"
#include "node/memory.h"
#include "observe/board.h"
#include "options/options.h"
#include "mpich/files/src/include/mpir_workshare.h"
#include "window/locks.h"
#include "base/os.h"
#include "window/window.h"

#include <mpi.h>
#include <optional>
#include <string>
#include <vector>

namespace ws::mpi {

// Reasons why a rank runs without stealing. Reduced by maximum, so a number.
enum Inactive { is_active, window_refused, shm_too_small, too_many_ranks };
const char* inactive_text(int why); // in the verdict's words

// Passed to the functions that need it. MPICH's hooks, MPI_T's functions and fork() do not say which job they mean. So
// the files with these functions keep a pointer to the job of their process.
struct Job {
    option::Options options;
    base::Clock clock;
    MPI_Comm node = MPI_COMM_NULL; // a duplicate, for this runtime alone
    node::Memory memory; // of the window, and of what the host keeps beside it
    window::Window window;
    std::optional<window::LockTable> locks;
    book::Reader book;        // the other jobs of the node
    std::string book_problem; // what was found in its place
    Inactive inactive = is_active;
    observe::Board* board = nullptr; // once show_rank() has made it
    measure::Meter meter;            // of what its own work costs
    lend::Rank* lending = nullptr; // of a rank that is active. Never destroyed: exit() may be called while it lends
    uint64_t attached_at = 0; // ticks
    // how long its thread could run and had no CPU: first until it attached, in the end from then on
    double kept_off_s = 0;
    std::vector<double> cpu_s_before; // by CPU, when it attached: rank 0 of the node
    std::string counters_refused; // why the processor's counters cannot be read; else empty, also without a report
    double process_s_before = 0, thread_s_before = 0; // CPU time of this process and of its home thread, then
    int rank = 0, size = 1;   // in MPI_COMM_WORLD
    std::vector<window::Home*> home_of; // world rank -> its row, null on other nodes
    MPIR_Workshare_hooks* hooks = nullptr;
};

// Allocates the node's window, with the workers that the ranks want; collective over job.node. `stealing`: with what
// lending needs, not only the locks.
Inactive make_window(Job& job, bool stealing);
void free_window(Job& job);

// Takes this process's page in the node book: first rank 0 of the node, then the others. Without a page other jobs are
// not known.
void join_book(Job& job);

// This rank's board (observe/board.h). Collective over MPI_COMM_WORLD; false on all ranks if one has no memory for it.
// Then, when the rank has attached, and when all is counted.
bool show_rank(Job& job);
void show_attached(Job& job);
void show_ended(Job& job);

// From here on a child of fork() becomes no rank: it has nothing to do with the job.
void follow_forks(Job& job);
void become_no_rank();

// Under WS_WAITS: from here on calls that may take long are waits. Once job.lending has started.
void watch_calls(Job& job);

// What is needed to tell at the end what other programs used of the node's CPUs: called when the rank has attached.
void note_cpus(Job& job);

// -workshare-verbose: a line per rank, printed by rank 0. Collective over MPI_COMM_WORLD, when the ranks have attached.
void print_ranks(Job& job);

// MPICH's hook where MPI_Test and its like do not help: the verdict tells that they could.
void count_poll();

// The end of the job: counters put together, the verdict, the statistics file. Collective over MPI_COMM_WORLD.
void report(Job& job);
// Under WS_CHECK. From the start on: a process in which a comparison failed does not exit with status 0.
void watch_status();
// On stderr: the loops. Collective over MPI_COMM_WORLD.
void report_check(Job& job);

} // namespace ws::mpi
