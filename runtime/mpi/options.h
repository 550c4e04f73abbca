// SPDX-License-Identifier: MIT
//
// What the launcher and the user set: the WS_ environment. Read once, when a rank attaches.
#pragma once

#include "loop/region.h"
#include "mpich/files/src/include/mpir_workshare.h" // the defaults, which MPI_T shows as well
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ws {

struct Options {
    bool quiet = false;           // WS_QUIET=1: no verdict
    unsigned quantum_us = MPIR_WORKSHARE_DEFAULT_QUANTUM; // WS_QUANTUM: a sleeping thief looks at MPI itself this often
    unsigned spin_us = MPIR_WORKSHARE_DEFAULT_SPIN; // WS_SPIN: blocked this long before anything else
    unsigned linger_us = MPIR_WORKSHARE_DEFAULT_LINGER; // WS_LINGER: a guest without chunks waits this long for its owner's next region
    unsigned chunk_us = MPIR_WORKSHARE_DEFAULT_CHUNK_TIME; // WS_CHUNK_TIME: time a chunk should take when the loop has no schedule
    unsigned victim = 0;          // WS_VICTIM: which row of the table in policy/steal/victim.cpp
    int workers = 0;              // WS_WORKERS: threads on spare cores that help this rank first; all_spare_cores for auto
    bool poll = false;            // WS_POLL=1: help from MPI_Test and MPI_Iprobe too
    RuntimeSchedule schedule;     // WS_SCHEDULE: what schedule(runtime) means, in OMP_SCHEDULE's syntax
    RuntimeSchedule steal_schedule; // WS_STEAL_SCHEDULE: the same for steal_schedule(runtime)
    uint64_t stack_bytes = 0;     // WS_STACKSIZE: stack of a guest or worker, in OMP_STACKSIZE's syntax; 0: as the rank's own
    unsigned cores = 0;           // WS_CORES: as many cores as the node is taken to have, for work that sleeps
    bool steal_all = false;       // WS_STEAL_ALL=1: owners leave every chunk to thieves, for tests
    uint64_t check = 0;           // WS_CHECK=n: every loop is shared, in another order each time, beginning with the n-th; a report at the end
    uint64_t chaos = 0;           // WS_CHAOS=seed: random delays, chunk sizes, recalls and victims, for tests
    std::string stats_file;       // WS_STATS_FILE: where rank 0 writes the counters as JSON
    bool report = false;          // WS_REPORT=1: the report, as text on stderr
    std::string report_file;      // WS_REPORT_FILE: the same in a file, FILE.json or FILE.csv, else text
    std::string trace;            // WS_TRACE: where rank 0 writes the timeline, FILE.json or FILE.otf2
    bool trace_keep_oldest = false; // WS_TRACE_KEEP: newest or oldest, when the memory for events is full
    unsigned trace_buffer_mib = 64; // WS_TRACE_BUFFER: a rank's memory for events
};

constexpr int all_spare_cores = -1;

// The variables; the two last are for tests.
extern const std::array<const char*, 22> option_names;
constexpr unsigned options_for_tests = 2;

// Fills `options`; false with a one-line message in `error` that names the variable and its value. `unknown`: variables
// that begin with WS_ but mean nothing here (misspelt, most likely).
bool read_options(Options& options, std::string& error, std::vector<std::string>& unknown);

// The variable that is nearest to such a one, or nothing.
std::string meant_option(const std::string& misspelt);
std::string with_meant_options(const std::vector<std::string>& misspelt); // for a message

// Whether the report and the trace could be written, before the program has computed for hours; else a message. For the rank
// that will write them. Leaves nothing behind.
bool can_write_files(const Options& options, std::string& error);

} // namespace ws
