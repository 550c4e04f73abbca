// SPDX-License-Identifier: MIT
//
// What the launcher and the user set: the WS_ environment. Read once, when a rank attaches.
#pragma once

#include <cstdint>
#include <string>

namespace ws {

struct Options {
    bool quiet = false;           // WS_QUIET=1: no verdict
    unsigned quantum_us = 400;    // WS_QUANTUM: a sleeping thief looks at MPI itself this often
    unsigned spin_us = 2;         // WS_SPIN: blocked this long before anything else
    unsigned linger_us = 50;      // WS_LINGER: a guest without chunks waits this long for its owner's next region
    unsigned chunk_us = 30;       // WS_CHUNK_TIME: time a chunk should take when the loop has no schedule
    uint64_t chaos = 0;           // WS_CHAOS=seed: random delays and chunk sizes, for tests
    std::string stats_file;       // WS_STATS_FILE: where rank 0 writes the counters as JSON
};

// Fills `options`; false with a one-line message in `error` that names the variable and its value. `warning` names
// variables that begin with WS_ but mean nothing here (misspelt, most likely).
bool read_options(Options& options, std::string& error, std::string& warning);

} // namespace ws
