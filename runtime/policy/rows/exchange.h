// SPDX-License-Identifier: MIT
//
// What processes tell each other at the end of an interval. Nobody waits for it: it arrives while they compute, and is
// looked at in blocked time or at the next end of an iteration.
//
// Where processes are few each sends all that it has measured to all, at once: then nothing depends on when a slow
// process, which is hardly ever in MPI, passes on what others said. Where they are many their numbers are reduced, and
// their rows gathered only when data may have to move.
#pragma once

#include "policy/processes.h"
#include "policy/rows/partition.h"

#include <vector>

namespace ws::policy::rows {

// What all need to know of an interval.
struct Numbers {
    double shared, longest, shorter, error, wall, asking, ungiven, trouble; // by maximum
    double real, computing, bytes, units, given_units; // by sum
    double allowed; // by sum: of rank 0, how many processes may have rows; 0: it does not know
};

// What one process has measured: a row of what is gathered.
struct ProcessMeasurement {
    Numbers numbers; // its own; of its node, what all processes of a node have in common
    Work work;       // of this interval; as asked for by ask_rows(), what is to be taken for it
    int leader;      // the lowest rank of its node, if shares are of nodes; else itself
};

class Exchange {
public:
    // For these processes, whose messages with `tag` are its own.
    Exchange(Processes& processes, int tag);

    // All processes begin, look at the numbers, and then all or none ask for the rows, before they begin again. Nothing
    // waits but what is told to.
    void begin(const ProcessMeasurement& mine);
    // Not if the rows have come with the numbers.
    void ask_rows(const Work& mine);
    bool is_direct() const { return direct_; } // they have
    // Whether they are there; what is to wait does so until they are.
    bool has_numbers(bool wait);
    bool has_rows(bool wait) { return flight_->complete(wait); }
    const Numbers& numbers() const { return all_; }
    const std::vector<ProcessMeasurement>& rows() const { return rows_; } // by rank

private:
    const int tag_;
    const size_t rank_;
    const bool direct_;
    std::unique_ptr<Flight> flight_;
    ProcessMeasurement mine_ = {};
    Numbers all_ = {};
    std::vector<ProcessMeasurement> rows_;
};

} // namespace ws::policy::rows
