// SPDX-License-Identifier: MIT
//
// MPIX_Load_create and what goes with it. The paper gathers places at all processes, each deals the ranks, and MPI_Comm_split makes the
// communicator. Here rank 0 alone gathers and deals, and sends the order: 2n messages instead of n log n, ranks cannot disagree when
// the search is limited by time, and with the order known to all the communicator needs one agreement instead of MPI_Comm_split's two.
#include "policy/reorder/create.h"

#include "policy/reorder/measured.h"
#include "window/os.h"
#include "workshare/mpix.h"

#include <cstring>

namespace ws::reorder {

namespace {

// What rank 0 gathers of each process.
struct Record {
    Fault fault;
    Settings settings;
    Seat seat;
    double measured;
};

struct Call {
    const char* name;
    MPI_Comm comm;
    int rank, size;
    std::shared_ptr<const Machine> machine;
};

// The first fault of any process, and what rank 0 made of the records: numbers that fit in an int. Returns the fault to all.
template <class Make> Fault through_rank_0(const Call& call, const Record& mine, std::vector<int>& numbers, Make make)
{
    std::vector<Record> all(call.rank == 0 ? size_t(call.size) : 0);
    int error = PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, call.comm);
    std::vector<char> message(sizeof(Fault) + numbers.size() * sizeof(int));
    Fault fault;
    if (error) {
        fault.what = What::mpi;
        fault.index = error;
        return fault;
    }
    if (call.rank == 0) {
        for (int r = 0; r < call.size && !fault; r++) {
            fault = all[size_t(r)].fault;
            if (!fault && all[size_t(r)].settings != all[0].settings)
                fault.what = What::info_differs;
            fault.rank = r;
        }
        if (!fault)
            make(all, numbers);
        std::memcpy(message.data(), &fault, sizeof fault);
        std::memcpy(message.data() + sizeof fault, numbers.data(), numbers.size() * sizeof(int));
    }
    if ((error = PMPI_Bcast(message.data(), int(message.size()), MPI_BYTE, 0, call.comm))) {
        fault.what = What::mpi;
        fault.index = error;
        return fault;
    }
    std::memcpy(&fault, message.data(), sizeof fault);
    std::memcpy(numbers.data(), message.data() + sizeof fault, numbers.size() * sizeof(int));
    return fault;
}

// Where a call begins; MPI_SUCCESS or the error, which has been raised.
int begin(const char* name, MPI_Comm comm, Call& call)
{
    call.name = name;
    call.comm = comm;
    int error = refuse_comm(comm, name);
    if (error)
        return error;
    PMPI_Comm_rank(comm, &call.rank);
    PMPI_Comm_size(comm, &call.size);
    return find_machine(comm, call.machine);
}

Seats seats_of(const std::vector<Record>& all)
{
    Seats seats;
    for (const Record& r : all)
        seats.push_back(r.seat);
    return seats;
}

Loads measured_of(const std::vector<Record>& all)
{
    Loads loads;
    for (const Record& r : all)
        loads.push_back(r.measured);
    return loads;
}

int load_create(MPI_Comm comm, const double* loads, MPI_Info info, MPI_Comm* newcomm)
{
    if (newcomm)
        *newcomm = MPI_COMM_NULL;
    Call call;
    if (int error = begin("MPIX_Load_create", comm, call))
        return error;
    Record mine = {{}, {}, seat(*call.machine), 0};
    mine.fault = read_settings(info, call.size, mine.settings);
    const int working = call.size - mine.settings.spare;
    const bool measured = loads == MPIX_LOADS_MEASURED;
    if (mine.fault) {
    } else if (!newcomm)
        mine.fault.what = What::no_newcomm;
    else if (!loads)
        mine.fault.what = What::no_loads;
    else if (!measured)
        mine.fault = check_loads(loads, working);
    else if (!can_measure())
        mine.fault.what = What::not_measured;
    else
        mine.measured = measured_load();

    std::vector<int> order(static_cast<size_t>(call.size));
    const Fault fault = through_rank_0(call, mine, order, [&](const std::vector<Record>& all, std::vector<int>& result) {
        Loads dealt = measured ? measured_of(all) : Loads(loads, loads + working);
        dealt.resize(size_t(working));
        dealt.resize(size_t(call.size));
        result = arrange(dealt, seats_of(all), mine.settings.domain, mine.settings.algorithm);
    });
    if (fault)
        return raise(comm, call.name, fault);
    const int error = make_comm(comm, order, mine.settings.spare, call.machine, newcomm);
    if (!error && measured)
        begin_measuring();
    return error;
}

int load_active(MPI_Comm comm, int* active, MPI_Comm* activecomm)
{
    static const char* name = "MPIX_Load_active";
    if (activecomm)
        *activecomm = MPI_COMM_NULL;
    if (int error = refuse_comm(comm, name))
        return error;
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    const Notes* known = notes(comm);
    const int working = size - (known ? known->spare : 0);
    // Collective if the communicator is wanted, so others take part although this one has nowhere to write.
    MPI_Comm all_active = MPI_COMM_NULL;
    if (activecomm) {
        MPI_Group all, some;
        int range[1][3] = {{0, working - 1, 1}};
        PMPI_Comm_group(comm, &all);
        PMPI_Group_range_incl(all, 1, range, &some);
        const int error = PMPI_Comm_create(comm, some, &all_active);
        PMPI_Group_free(&some);
        PMPI_Group_free(&all);
        if (error)
            return error;
        *activecomm = all_active;
    }
    if (!active) {
        Fault f;
        f.what = What::no_active;
        f.rank = rank;
        return raise(comm, name, f);
    }
    *active = rank < working;
    return MPI_SUCCESS;
}

int load_imbalance(MPI_Comm comm, double* max_over_mean)
{
    Call call;
    if (int error = begin("MPIX_Load_imbalance", comm, call))
        return error;
    Record mine = {{}, {}, seat(*call.machine), 0};
    if (!max_over_mean)
        mine.fault.what = What::no_result;
    else if (!can_measure())
        mine.fault.what = What::not_measured;
    else
        mine.measured = measured_load();
    std::vector<int> result(sizeof(double) / sizeof(int));
    const Fault fault = through_rank_0(call, mine, result, [](const std::vector<Record>& all, std::vector<int>& numbers) {
        const double value = imbalance(measured_of(all), seats_of(all));
        std::memcpy(numbers.data(), &value, sizeof value);
    });
    if (fault)
        return raise(comm, call.name, fault);
    std::memcpy(max_over_mean, result.data(), sizeof *max_over_mean);
    return MPI_SUCCESS;
}

} // namespace

int make_comm(MPI_Comm comm, const std::vector<int>& order, int spare, const std::shared_ptr<const Machine>& machine,
              MPI_Comm* newcomm)
{
    MPI_Group old_group, new_group;
    PMPI_Comm_group(comm, &old_group);
    int error = PMPI_Group_incl(old_group, int(order.size()), order.data(), &new_group);
    if (!error) {
        error = PMPI_Comm_create(comm, new_group, newcomm);
        PMPI_Group_free(&new_group);
    }
    PMPI_Group_free(&old_group);
    if (!error && (spare || notes(comm))) // otherwise there is nothing that the job does not know
        error = set_notes(*newcomm, {spare, machine});
    return error;
}

} // namespace ws::reorder

WS_EXPORT int MPIX_Load_create(MPI_Comm comm, const double loads[], MPI_Info info, MPI_Comm* newcomm)
{
    return ws::reorder::load_create(comm, loads, info, newcomm);
}

WS_EXPORT int MPIX_Load_active(MPI_Comm comm, int* active, MPI_Comm* activecomm)
{
    return ws::reorder::load_active(comm, active, activecomm);
}

WS_EXPORT int MPIX_Load_imbalance(MPI_Comm comm, double* max_over_mean)
{
    return ws::reorder::load_imbalance(comm, max_over_mean);
}
