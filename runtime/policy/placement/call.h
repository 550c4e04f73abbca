// SPDX-License-Identifier: MIT
//
// What the MPIX functions have in common: how a call begins, how rank 0 learns from all and tells all, how newcomm is
// made.
#pragma once

#include "policy/placement/fault.h"
#include "policy/placement/reorder.h"
#include "policy/placement/settings.h"
#include "policy/together.h"

#include <cstring>
#include <vector>

namespace ws::policy::placement {

// From when the program has called an MPIX function until that returns.
struct Call {
    Call(Reorder& reorder, const char* name, MPI_Comm comm);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    Reorder& reorder;
    const char* const name;
    const MPI_Comm comm;
    const int64_t entered; // Reorder::useful() then, if it can measure
    int rank = 0, size = 0;
    std::shared_ptr<const Machine> machine;

private:
    const InTogether together_;
};
// MPI_SUCCESS or the error, which has been raised.
int begin(Call& call);

// What rank 0 gathers of each process.
struct Record {
    Fault fault;
    PlacementSettings settings;
    Spot spot;
    double load; // measured, or of the call's own rank
};
// The same for one that makes a communicator, none so far: `mine` has the settings, or what is wrong with the
// arguments.
int begin(Call& call, MPI_Info info, MPI_Comm* newcomm, Record& mine);
Spots spots_of(const std::vector<Record>& all);
Loads loads_of(const std::vector<Record>& all);

// What went wrong in MPI itself; nothing for MPI_SUCCESS.
Fault mpi_fault(int error);

// Returns the first fault of all records, or that settings differ.
Fault first_fault(const std::vector<Record>& all);

// Every process gets the first fault of any, and the numbers that rank 0 has made of the records: make(records,
// numbers) leaves as many as there were.
template <class Number, class Make>
Fault through_rank_0(const Call& call, const Record& mine, std::vector<Number>& numbers, Make make)
{
    std::vector<Record> all(call.rank == 0 ? size_t(call.size) : 0);
    const size_t bytes = numbers.size() * sizeof(Number);
    std::vector<char> message(sizeof(Fault) + bytes);
    Fault fault = mpi_fault(PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, call.comm));
    if (fault)
        return fault;
    if (call.rank == 0) {
        fault = first_fault(all);
        if (!fault)
            make(all, numbers);
        std::memcpy(message.data(), &fault, sizeof fault);
        std::memcpy(message.data() + sizeof fault, numbers.data(), bytes);
    }
    if (const Fault broken = mpi_fault(PMPI_Bcast(message.data(), int(message.size()), MPI_BYTE, 0, call.comm)))
        return broken;
    std::memcpy(&fault, message.data(), sizeof fault);
    std::memcpy(numbers.data(), message.data() + sizeof fault, bytes);
    return fault;
}

// Checks the loads of one process, or what measures them.
Fault own_loads(const Call& call, const double* loads, int count, Record& mine);
// Where every process knows all: one for each rank, from rank 0's or from all measured.
Loads loads_given(const Call& call, const Record& mine, const double* loads, const std::vector<Record>& all);

// The communicator in which process order[r] of comm is rank r, with what is noted about it. Collective.
int make_comm(const Call& call, const std::vector<int>& order, int spare, MPI_Comm* newcomm);
int note_spare(const Call& call, int spare, MPI_Comm newcomm);
// MPI_Comm_create does not give `newcomm` the error handler of `comm`, as MPI 4.0 wants it (9.3).
int inherit_handler(MPI_Comm comm, MPI_Comm newcomm);

} // namespace ws::policy::placement
