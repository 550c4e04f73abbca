// SPDX-License-Identifier: MIT
//
// What can be wrong with a call, in a form that fits into a message to the other processes: an error of one is raised
// by all.
#pragma once

#include <mpi.h>

namespace ws::policy::placement {

enum class What : int {
    nothing,
    negative, infinite, not_a_number, // loads[index] is value
    no_loads, no_ranks, no_newcomm, no_result, no_active, no_edges, no_weights, // a null pointer
    count,             // value: is negative
    rank_range,        // ranks[index] is value
    rank_given,        // rank index: so often its load is given, value
    edge_range,        // neighbour index is value
    edge_weight,       // weight index is value
    weights_differ,    // weights by some alone
    algorithm, domain, spare, cell, // values of info
    info_differs, measured_differs, // on rank index
    not_measured,
    mpi, // index is the error code
};

struct Fault {
    What what = What::nothing;
    int rank = 0;
    long index = 0;
    double value = 0;
    explicit operator bool() const { return what != What::nothing; }
};

// Returns the fault of the first of `count` loads that is invalid.
Fault check_loads(const double* loads, long count);

// Calls comm's error handler and returns the error code, in the name of the MPIX function.
int raise(MPI_Comm comm, const char* function, const Fault& fault);
// The same for a communicator that does not do; else MPI_SUCCESS.
int refuse_comm(MPI_Comm comm, const char* function);

} // namespace ws::policy::placement
