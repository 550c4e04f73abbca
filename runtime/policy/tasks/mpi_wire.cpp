// SPDX-License-Identifier: MIT
#include "policy/tasks/mpi_wire.h"

#include "mpi/end_job.h"
#include "policy/bytes.h"

#include <cstdio>
#include <utility>

namespace ws::policy::tasks {

namespace {

constexpr int tag_letter = 1;

void check(int error, const char* call)
{
    if (error == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    PMPI_Error_string(error, text, &length);
    std::fprintf(stderr, "workshare: error: tasks: %s: %s; ending the job\n", call, text);
    mpi::end_job();
}

} // namespace

MpiWire::MpiWire(MPI_Comm comm, Receive receive) : comm_(comm), receive_(std::move(receive))
{
    check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    buffers_.reset(new char[windows * most]);
    requests_.resize(windows, MPI_REQUEST_NULL);
    slots_.resize(windows);
    for (size_t w = 0; w < windows; w++)
        listen(w);
}

void MpiWire::listen(size_t window)
{
    arrived_[window].there = false;
    check(PMPI_Irecv(&buffers_[window * most], int(most), MPI_BYTE, MPI_ANY_SOURCE, tag_letter, comm_,
                     &requests_[window]),
          "MPI_Irecv");
}

void MpiWire::add(MPI_Request request, std::string letter, Done done)
{
    requests_.push_back(request);
    slots_.push_back({std::move(letter), std::move(done)});
}

void MpiWire::post(int to, std::string letter)
{
    MPI_Request request;
    // The bytes must stay where they are, also those of a short string.
    slots_.push_back({std::move(letter), nullptr});
    slots_.back().letter.reserve(64);
    const std::string& bytes = slots_.back().letter;
    check(PMPI_Isend(bytes.data(), int(bytes.size()), MPI_BYTE, to, tag_letter, comm_, &request), "MPI_Isend");
    requests_.push_back(request);
    sent_++;
}

void MpiWire::send(int to, int tag, const void* data, size_t bytes, Done done)
{
    MPI_Request request;
    check(isend_bytes(data, bytes, to, tag, comm_, &request), "MPI_Isend_c");
    base::store_relaxed(data_, data_ + 1);
    add(request, {}, [this, done = std::move(done)] {
        base::store_relaxed(data_, data_ - 1);
        done();
    });
    sent_++;
}

void MpiWire::receive(int from, int tag, void* data, size_t bytes, Done done)
{
    MPI_Request request;
    check(irecv_bytes(data, bytes, from, tag, comm_, &request), "MPI_Irecv_c");
    base::store_relaxed(data_, data_ + 1);
    add(request, {}, [this, done = std::move(done)] {
        base::store_relaxed(data_, data_ - 1);
        received_++;
        done();
    });
}

bool MpiWire::go_on(bool blocking)
{
    const int count = int(requests_.size());
    int done = 0;
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    if (blocking)
        check(PMPI_Waitsome(count, requests_.data(), &done, indices_.data(), statuses_.data()), "MPI_Waitsome");
    else
        check(PMPI_Testsome(count, requests_.data(), &done, indices_.data(), statuses_.data()), "MPI_Testsome");
    if (done == 0 || done == MPI_UNDEFINED)
        return false;
    std::vector<Done> over;
    for (int i = 0; i < done; i++) {
        const size_t slot = size_t(indices_[size_t(i)]);
        if (slot >= windows) {
            if (slots_[slot].done)
                over.push_back(std::move(slots_[slot].done));
            continue;
        }
        const MPI_Status& status = statuses_[size_t(i)];
        int bytes = 0;
        check(PMPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
        arrived_[slot] = {true, status.MPI_SOURCE, bytes};
    }
    size_t kept = windows; // what is complete leaves the list
    for (size_t s = windows; s < requests_.size(); s++)
        if (requests_[s] != MPI_REQUEST_NULL) {
            if (kept != s) {
                requests_[kept] = requests_[s];
                std::swap(slots_[kept], slots_[s]);
            }
            kept++;
        }
    requests_.resize(kept);
    slots_.resize(kept);
    // Those who are told may post.
    for (const Done& d : over)
        d();
    for (size_t w = next_ % windows; arrived_[w].there; w = next_ % windows) {
        const Arrived a = arrived_[w];
        const std::string letter(&buffers_[w * most], size_t(a.bytes));
        listen(w);
        next_++;
        received_++;
        receive_(a.from, letter.data(), letter.size());
    }
    return true;
}

void MpiWire::close()
{
    if (requests_.empty())
        return; // it was closed at MPI_Finalize
    for (size_t w = 0; w < windows; w++) {
        check(PMPI_Cancel(&requests_[w]), "MPI_Cancel");
        check(PMPI_Wait(&requests_[w], MPI_STATUS_IGNORE), "MPI_Wait");
    }
    requests_.clear();
    slots_.clear();
    receive_ = nullptr;
}

} // namespace ws::policy::tasks
