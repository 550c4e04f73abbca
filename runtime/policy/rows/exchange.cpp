// SPDX-License-Identifier: MIT
#include "policy/rows/exchange.h"

#include <algorithm>

namespace ws::policy::rows {

namespace {

constexpr int most_direct = 16; // processes: each message may wake its receiver
constexpr int numbers_of = sizeof(Numbers) / sizeof(double), by_maximum = 8; // those before `real`

void add(const double* a, double* sum)
{
    for (int i = 0; i < numbers_of; i++)
        sum[i] = i < by_maximum ? std::max(a[i], sum[i]) : a[i] + sum[i];
}

} // namespace

Exchange::Exchange(MPI_Comm comm, int tag) : comm_(comm), tag_(tag)
{
    PMPI_Comm_rank(comm_, &rank_);
    PMPI_Comm_size(comm_, &size_);
    direct_ = size_ <= most_direct;
    rows_.resize(size_t(size_));
    if (direct_)
        return;
    PMPI_Type_contiguous(numbers_of, MPI_DOUBLE, &type_);
    PMPI_Type_commit(&type_);
    PMPI_Op_create(reduce, 1, &op_);
}

Exchange::~Exchange()
{
    complete(true);
    if (op_ == MPI_OP_NULL)
        return;
    PMPI_Op_free(&op_);
    PMPI_Type_free(&type_);
}

void Exchange::reduce(void* in, void* inout, int* length, MPI_Datatype*)
{
    for (int i = 0; i < *length; i++)
        add(static_cast<const double*>(in) + i * numbers_of, static_cast<double*>(inout) + i * numbers_of);
}

void Exchange::begin(const Measured& mine)
{
    mine_ = mine;
    rows_[size_t(rank_)] = mine;
    if (!direct_) {
        requests_.resize(1);
        PMPI_Iallreduce(&mine_.numbers, &all_, 1, type_, op_, comm_, &requests_[0]);
        return;
    }
    for (int r = 0; r < size_; r++) {
        if (r == rank_)
            continue;
        requests_.resize(requests_.size() + 2);
        MPI_Request* const two = &requests_.back() - 1;
        PMPI_Irecv(&rows_[size_t(r)], int(sizeof(Measured)), MPI_BYTE, r, tag_, comm_, two);
        PMPI_Isend(&mine_, int(sizeof(Measured)), MPI_BYTE, r, tag_, comm_, two + 1);
    }
}

void Exchange::ask_rows(const Work& mine)
{
    if (direct_)
        return;
    mine_.work = mine;
    requests_.resize(1);
    PMPI_Iallgather(&mine_, int(sizeof mine_), MPI_BYTE, rows_.data(), int(sizeof mine_), MPI_BYTE, comm_,
                    &requests_[0]);
}

bool Exchange::complete(bool wait)
{
    const int n = int(requests_.size());
    int done = 1;
    if (n && wait)
        PMPI_Waitall(n, requests_.data(), MPI_STATUSES_IGNORE);
    else if (n)
        PMPI_Testall(n, requests_.data(), &done, MPI_STATUSES_IGNORE);
    if (done)
        requests_.clear();
    return done;
}

bool Exchange::has_numbers(bool wait)
{
    if (!complete(wait))
        return false;
    if (direct_) { // in the order of the ranks, so that all come to the same sums
        all_ = rows_[0].numbers;
        for (size_t r = 1; r < rows_.size(); r++)
            add(&rows_[r].numbers.shared, &all_.shared);
    }
    return true;
}

} // namespace ws::policy::rows
