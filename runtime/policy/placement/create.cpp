// SPDX-License-Identifier: MIT
//
// MPIX_Load_create and what goes with it. The paper gathers places at all processes, each assigns the ranks, and
// MPI_Comm_split makes the communicator. Here rank 0 alone gathers and assigns, and sends the order: 2n messages
// instead of n log n, ranks cannot disagree when the search is limited by time, and with the order known to all the
// communicator needs one agreement instead of MPI_Comm_split's two.
#include "policy/placement/call.h"
#include "policy/placement/exports.h"
#include "base/os.h"

namespace ws::policy::placement {

namespace {

int load_create(Reorder& reorder, MPI_Comm comm, const double* loads, MPI_Info info, MPI_Comm* newcomm)
{
    Call call(reorder, "MPIX_Load_create", comm);
    Record mine;
    if (const int error = begin(call, info, newcomm, mine))
        return error;
    const int working = call.size - mine.settings.spare;
    if (!mine.fault)
        mine.fault = own_loads(call, loads, working, mine);

    std::vector<int> order(static_cast<size_t>(call.size));
    const Fault fault =
        through_rank_0(call, mine, order, [&](const std::vector<Record>& all, std::vector<int>& result) {
            result = arrange(loads_given(call, mine, loads, all), spots_of(all), mine.settings.domain,
                             mine.settings.algorithm);
        });
    if (fault)
        return raise(comm, call.name, fault);
    const int error = make_comm(call, order, mine.settings.spare, newcomm);
    if (!error && mine.settings.measured)
        reorder.measured.begin(call.entered);
    return error;
}

int load_active(Reorder& reorder, MPI_Comm comm, int* active, MPI_Comm* activecomm)
{
    static const char* name = "MPIX_Load_active";
    const Call call(reorder, name, comm);
    if (activecomm)
        *activecomm = MPI_COMM_NULL;
    if (const int error = refuse_comm(comm, name))
        return error;
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    const Notes* known = notes(comm);
    const int working = size - (known ? known->spare : 0);
    if (activecomm) { // collective: before what may be wrong in this process alone
        MPI_Group all, some;
        int range[1][3] = {{0, working - 1, 1}};
        PMPI_Comm_group(comm, &all);
        PMPI_Group_range_incl(all, 1, range, &some);
        int error = PMPI_Comm_create(comm, some, activecomm);
        if (!error && *activecomm != MPI_COMM_NULL)
            error = inherit_handler(comm, *activecomm);
        PMPI_Group_free(&some);
        PMPI_Group_free(&all);
        if (error)
            return error;
    }
    if (!active) {
        Fault f;
        f.what = What::no_active;
        f.rank = rank;
        if (activecomm && *activecomm != MPI_COMM_NULL)
            PMPI_Comm_free(activecomm);
        return raise(comm, name, f);
    }
    *active = rank < working;
    return MPI_SUCCESS;
}

int load_imbalance(Reorder& reorder, MPI_Comm comm, double* max_over_mean)
{
    Call call(reorder, "MPIX_Load_imbalance", comm);
    if (const int error = begin(call))
        return error;
    Record mine = {{}, {}, spot(*call.machine), 0};
    if (!max_over_mean)
        mine.fault.what = What::no_result;
    else
        mine.fault = own_loads(call, MPIX_LOADS_MEASURED, 1, mine);
    std::vector<double> result(1);
    const Fault fault =
        through_rank_0(call, mine, result, [](const std::vector<Record>& all, std::vector<double>& numbers) {
            numbers[0] = imbalance(loads_of(all), spots_of(all));
        });
    if (fault)
        return raise(comm, call.name, fault);
    *max_over_mean = result[0];
    return MPI_SUCCESS;
}

} // namespace

} // namespace ws::policy::placement

WS_EXPORT int ws_MPIX_Load_create(MPI_Comm comm, const double* loads, MPI_Info info, MPI_Comm* newcomm)
{
    return ws::policy::placement::load_create(ws::policy::placement::policy(), comm, loads, info, newcomm);
}

WS_EXPORT int ws_MPIX_Load_active(MPI_Comm comm, int* active, MPI_Comm* activecomm)
{
    return ws::policy::placement::load_active(ws::policy::placement::policy(), comm, active, activecomm);
}

WS_EXPORT int ws_MPIX_Load_imbalance(MPI_Comm comm, double* max_over_mean)
{
    return ws::policy::placement::load_imbalance(ws::policy::placement::policy(), comm, max_over_mean);
}
