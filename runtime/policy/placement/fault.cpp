// SPDX-License-Identifier: MIT
#include "policy/placement/fault.h"

#include "policy/mpi_error.h"

#include <cmath>
#include <cstdio>

namespace ws::policy::placement {

Fault check_loads(const double* loads, long count)
{
    for (long i = 0; i < count; i++)
        if (!(loads[i] >= 0) || std::isinf(loads[i])) {
            Fault f;
            f.what = std::isnan(loads[i]) ? What::not_a_number : loads[i] < 0 ? What::negative : What::infinite;
            f.index = i;
            f.value = loads[i];
            return f;
        }
    return {};
}

int raise(MPI_Comm comm, const char* function, const Fault& f)
{
    if (f.what == What::mpi) // its own handler was called where it arose
        return int(f.index);
    char text[256];
    int error_class = MPI_ERR_ARG;
    auto say = [&](const char* format, auto... values) { std::snprintf(text, sizeof text, format, values...); };
    switch (f.what) {
    case What::negative:
    case What::infinite:
    case What::not_a_number:
        say("loads[%ld] is %s (%g) on rank %d", f.index,
            f.what == What::negative   ? "negative"
            : f.what == What::infinite ? "infinite"
                                       : "not a number",
            f.value, f.rank);
        break;
    case What::no_loads: say("loads is NULL on rank %d", f.rank); break;
    case What::no_ranks: say("ranks is NULL on rank %d", f.rank); break;
    case What::no_edges: say("sources or destinations is NULL on rank %d", f.rank); break;
    case What::no_weights: say("sourceweights or destweights is NULL on rank %d", f.rank); break;
    case What::count:
        error_class = MPI_ERR_COUNT;
        say("a count is negative (%g) on rank %d", f.value, f.rank);
        break;
    case What::rank_range:
        error_class = MPI_ERR_RANK;
        say("ranks[%ld] on rank %d is %g, which is not a rank with work", f.index, f.rank, f.value);
        break;
    case What::rank_given:
        error_class = MPI_ERR_RANK;
        if (f.value == 0)
            say("no rank gives the load of rank %ld", f.index);
        else
            say("the load of rank %ld is given %g times", f.index, f.value);
        break;
    case What::edge_range:
        error_class = MPI_ERR_RANK;
        say("neighbour %ld of rank %d is %g, which is not a rank", f.index, f.rank, f.value);
        break;
    case What::edge_weight: say("weight %ld on rank %d is negative (%g)", f.index, f.rank, f.value); break;
    case What::weights_differ: say("MPI_UNWEIGHTED is passed for some weights only (rank %d or rank 0)", f.rank); break;
    case What::no_newcomm: say("newcomm is NULL on rank %d", f.rank); break;
    case What::no_result: say("max_over_mean is NULL on rank %d", f.rank); break;
    case What::no_active: say("active is NULL on rank %d", f.rank); break;
    case What::algorithm:
        error_class = MPI_ERR_INFO_VALUE;
        say("info key ws_load_algorithm on rank %d is none of roundrobin, lpt, exact, auto", f.rank);
        break;
    case What::domain:
        error_class = MPI_ERR_INFO_VALUE;
        say("info key ws_load_domain on rank %d is none of core, numa, node", f.rank);
        break;
    case What::spare:
        error_class = MPI_ERR_INFO_VALUE;
        say("info key ws_load_spare on rank %d is not a number from 0 to %ld, the number of ranks less one", f.rank,
            f.index);
        break;
    case What::cell:
        error_class = MPI_ERR_INFO_VALUE;
        say("info key ws_load_cell on rank %d is not a number of at least 1", f.rank);
        break;
    case What::measured_differs:
        say("loads is MPIX_LOADS_MEASURED on rank %d or on rank %ld, not on both", f.rank, f.index);
        break;
    case What::info_differs:
        error_class = MPI_ERR_INFO_VALUE;
        say("info is not the same on rank %d as on rank %ld", f.rank, f.index);
        break;
    case What::not_measured:
        error_class = MPI_ERR_UNSUPPORTED_OPERATION;
        say("no loads are measured on rank %d: start the job with mpirun -workshare", f.rank);
        break;
    case What::nothing:
    case What::mpi: say("%s", "internal error"); break;
    }
    const int code = error_code(function, error_class, text);
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

int refuse_comm(MPI_Comm comm, const char* function)
{
    const char* text = "comm is MPI_COMM_NULL";
    int inter = 0, error;
    if (comm != MPI_COMM_NULL) {
        if ((error = PMPI_Comm_test_inter(comm, &inter)) || !inter)
            return error;
        text = "comm is an intercommunicator";
    }
    const int code = error_code(function, MPI_ERR_COMM, text);
    PMPI_Comm_call_errhandler(inter ? comm : MPI_COMM_SELF, code);
    return code;
}

} // namespace ws::policy::placement
