// SPDX-License-Identifier: MIT
#include "policy/mpi_processes.h"

#include "mpi/end_job.h"
#include "policy/bytes.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <vector>

namespace ws::policy {

namespace {

class MpiFlight final : public Flight {
public:
    MpiFlight(MPI_Comm comm, const char* what) : comm_(comm), what_(what) {}
    ~MpiFlight() override
    {
        complete(true);
        if (op_ == MPI_OP_NULL)
            return;
        PMPI_Op_free(&op_);
        PMPI_Type_free(&numbers_);
    }

    void send(const void* data, size_t bytes, int to, int tag) override
    {
        must(isend_bytes(data, bytes, to, tag, comm_, one_more()));
    }
    void receive(void* data, size_t bytes, int from, int tag) override
    {
        must(irecv_bytes(data, bytes, from, tag, comm_, one_more()));
    }
    void send(const Pieces& p, int to, int tag) override
    {
        each(p, [&](char* data, int count, MPI_Datatype type) {
            must(PMPI_Isend(data, count, type, to, tag, comm_, one_more()));
        });
    }
    void receive(const Pieces& p, int from, int tag) override
    {
        each(p, [&](char* data, int count, MPI_Datatype type) {
            must(PMPI_Irecv(data, count, type, from, tag, comm_, one_more()));
        });
    }

    void combine(const double* mine, double* all, int count) override
    {
        if (op_ == MPI_OP_NULL) { // all of a flight have as many numbers
            must(PMPI_Type_contiguous(count, MPI_DOUBLE, &numbers_));
            must(PMPI_Type_commit(&numbers_));
            must(PMPI_Op_create(reduce, 1, &op_));
        }
        must(PMPI_Iallreduce(mine, all, 1, numbers_, op_, comm_, one_more()));
    }
    void gather(const void* mine, void* all, size_t bytes) override
    {
        must(PMPI_Iallgather(mine, int(bytes), MPI_BYTE, all, int(bytes), MPI_BYTE, comm_, one_more()));
    }

    bool complete(bool wait) override
    {
        int done = 1;
        // Several calls, as an int counts the requests of one.
        for (size_t i = 0; done && i < requests_.size(); i += INT_MAX) {
            const int n = int(std::min<size_t>(requests_.size() - i, INT_MAX));
            must(wait ? PMPI_Waitall(n, requests_.data() + i, MPI_STATUSES_IGNORE)
                      : PMPI_Testall(n, requests_.data() + i, &done, MPI_STATUSES_IGNORE));
        }
        if (!done)
            return false;
        requests_.clear();
        for (MPI_Datatype& type : types_)
            PMPI_Type_free(&type);
        types_.clear();
        return true;
    }

private:
    static void reduce(void* in, void* inout, int* length, MPI_Datatype* type)
    {
        int bytes = 0;
        PMPI_Type_size(*type, &bytes);
        const int count = bytes / int(sizeof(double));
        for (int i = 0; i < *length; i++)
            add(static_cast<const double*>(in) + i * count, static_cast<double*>(inout) + i * count, count);
    }

    MPI_Request* one_more()
    {
        requests_.push_back(MPI_REQUEST_NULL);
        return &requests_.back();
    }

    // Calls message(data, count, type) for each message that they take.
    template <class Message> void each(const Pieces& p, Message&& message)
    {
        if (p.count == 1) {
            const int64_t most = std::max<int64_t>(most_message / std::max<int64_t>(p.extent, 1), 1);
            for (int64_t i = 0, part; i < p.elements; i += part) {
                part = std::min(most, p.elements - i);
                message(p.data + i * p.extent, int(part), p.type);
            }
            return;
        }
        types_.emplace_back();
        must(PMPI_Type_create_hvector(int(p.count), int(p.elements), MPI_Aint(p.stride), p.type, &types_.back()));
        must(PMPI_Type_commit(&types_.back()));
        message(p.data, 1, types_.back());
    }

    // In the middle of a flight, data of the program may be on their way: going on would lose them.
    void must(int error) const
    {
        if (error == MPI_SUCCESS)
            return;
        char words[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        PMPI_Error_string(error, words, &length);
        std::fprintf(stderr, "workshare: error: %s failed: %s; ending the job\n", what_, words);
        mpi::end_job();
    }

    // The most bytes of a message, because a count of MPI's is an int.
    static constexpr int64_t most_message = int64_t(1) << 28;

    const MPI_Comm comm_;
    const char* const what_;
    MPI_Datatype numbers_ = MPI_DATATYPE_NULL;
    MPI_Op op_ = MPI_OP_NULL;
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Datatype> types_;
};

MPI_Op op_of(Processes::By by)
{
    return by == Processes::By::least ? MPI_MIN : by == Processes::By::most ? MPI_MAX : MPI_SUM;
}

class MpiProcesses final : public Processes {
public:
    MpiProcesses(MPI_Comm own, int rank, int size, const char* what) : Processes(own, rank, size), what_(what) {}
    ~MpiProcesses() override
    {
        MPI_Comm own = comm;
        PMPI_Comm_free(&own);
    }
    void combine(By by, int64_t* numbers, size_t count) override
    {
        PMPI_Allreduce(MPI_IN_PLACE, numbers, int(count), MPI_INT64_T, op_of(by), comm);
    }
    void combine(By by, double* numbers, size_t count) override
    {
        PMPI_Allreduce(MPI_IN_PLACE, numbers, int(count), MPI_DOUBLE, op_of(by), comm);
    }
    void broadcast(void* data, size_t bytes, int from) override
    {
        bcast_bytes(data, bytes, from, comm);
    }
    std::unique_ptr<Processes> split(int number) override
    {
        MPI_Comm part;
        PMPI_Comm_split(comm, number, rank, &part);
        return made(part, what_);
    }
    std::unique_ptr<Flight> flight() override { return std::make_unique<MpiFlight>(comm, what_); }

    static std::unique_ptr<Processes> made(MPI_Comm own, const char* what)
    {
        int rank = 0, size = 1;
        PMPI_Comm_rank(own, &rank);
        PMPI_Comm_size(own, &size);
        return std::make_unique<MpiProcesses>(own, rank, size, what);
    }

private:
    const char* const what_;
};

} // namespace

std::unique_ptr<Processes> processes_of(MPI_Comm comm, const char* what)
{
    MPI_Comm own;
    PMPI_Comm_dup(comm, &own);
    return MpiProcesses::made(own, what);
}

} // namespace ws::policy
