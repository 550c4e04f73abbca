// SPDX-License-Identifier: MIT
#include "policy/placement/call.h"

#include "workshare/mpix.h"

namespace ws::policy::placement {

Call::Call(Reorder& reorder, const char* name, MPI_Comm comm)
    : reorder(reorder), name(name), comm(comm), entered(reorder.can_measure() ? reorder.useful() : 0),
      together_(reorder.job(), window::Together::mpix, name, comm)
{
}

Call::~Call()
{
    if (reorder.can_measure())
        reorder.measured.call_ends(entered, reorder.useful());
}

int begin(Call& call)
{
    if (const int error = refuse_comm(call.comm, call.name))
        return error;
    PMPI_Comm_rank(call.comm, &call.rank);
    PMPI_Comm_size(call.comm, &call.size);
    return call.reorder.machine.find(call.reorder.job(), call.comm, call.machine);
}

int begin(Call& call, MPI_Info info, MPI_Comm* newcomm, Record& mine)
{
    if (newcomm)
        *newcomm = MPI_COMM_NULL;
    if (const int error = begin(call))
        return error;
    mine = {{}, {}, spot(*call.machine), 0};
    mine.fault = read_settings(info, call.size, mine.settings);
    if (!mine.fault && !newcomm)
        mine.fault.what = What::no_newcomm;
    return MPI_SUCCESS;
}

Spots spots_of(const std::vector<Record>& all)
{
    Spots spots;
    for (const Record& r : all)
        spots.push_back(r.spot);
    return spots;
}

Loads loads_of(const std::vector<Record>& all)
{
    Loads loads;
    for (const Record& r : all)
        loads.push_back(r.load);
    return loads;
}

Fault mpi_fault(int error)
{
    Fault f;
    if (error) {
        f.what = What::mpi;
        f.index = error;
    }
    return f;
}

Fault first_fault(const std::vector<Record>& all)
{
    for (size_t r = 0; r < all.size(); r++) {
        Fault f = all[r].fault;
        if (!f && all[r].settings != all[0].settings)
            f.what = What::info_differs;
        else if (!f && all[r].settings.measured != all[0].settings.measured)
            f.what = What::measured_differs;
        else if (!f && all[r].settings.weighted != all[0].settings.weighted)
            f.what = What::weights_differ;
        f.rank = int(r);
        if (f)
            return f;
    }
    return {};
}

Fault own_loads(const Call& call, const double* loads, int count, Record& mine)
{
    Fault f;
    mine.settings.measured = loads == MPIX_LOADS_MEASURED;
    if (!loads && count > 0)
        f.what = What::no_loads;
    else if (!mine.settings.measured)
        return check_loads(loads, count);
    else if (!call.reorder.can_measure())
        f.what = What::not_measured;
    else
        mine.load = call.reorder.measured.load(call.entered, call.reorder.job().ticks_per_us);
    return f;
}

Loads loads_given(const Call& call, const Record& mine, const double* loads, const std::vector<Record>& all)
{
    const size_t working = size_t(call.size - mine.settings.spare);
    Loads assigned = mine.settings.measured ? loads_of(all) : Loads(loads, loads + working);
    assigned.resize(working); // spare ranks have none
    assigned.resize(size_t(call.size));
    return assigned;
}

int make_comm(const Call& call, const std::vector<int>& order, int spare, MPI_Comm* newcomm)
{
    MPI_Group old_group, new_group;
    PMPI_Comm_group(call.comm, &old_group);
    int error = PMPI_Group_incl(old_group, int(order.size()), order.data(), &new_group);
    PMPI_Group_free(&old_group);
    if (error)
        return error;
    error = PMPI_Comm_create(call.comm, new_group, newcomm);
    PMPI_Group_free(&new_group);
    if (!error)
        error = inherit_handler(call.comm, *newcomm);
    return error ? error : note_spare(call, spare, *newcomm);
}

int inherit_handler(MPI_Comm comm, MPI_Comm newcomm)
{
    MPI_Errhandler handler;
    int error = PMPI_Comm_get_errhandler(comm, &handler);
    if (error)
        return error;
    error = PMPI_Comm_set_errhandler(newcomm, handler);
    bool predefined = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN;
#if MPI_VERSION >= 4
    predefined = predefined || handler == MPI_ERRORS_ABORT;
#endif
    if (!predefined)
        PMPI_Errhandler_free(&handler); // one of the program's own has been counted once more
    return error;
}

int note_spare(const Call& call, int spare, MPI_Comm newcomm)
{
    // Where the processes of the whole job are, all communicators know.
    return spare || notes(call.comm) ? set_notes(newcomm, {spare, call.machine, nullptr}) : MPI_SUCCESS;
}

} // namespace ws::policy::placement
