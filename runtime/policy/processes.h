// SPDX-License-Identifier: MIT
//
// The processes of a communicator, as pools of tasks and partitions of rows reach them: by MPI (mpi_processes.h), or
// played by threads of one process, in tests. Nothing that is called here is on a fast path: each call waits for other
// processes, or begins a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mpi.h>

namespace ws::policy {

// Messages and collective operations under way. One thread at a time.
class Flight {
public:
    virtual ~Flight() = default; // when nothing is under way

    // `data` stays until complete(). Messages of one sender with the same tag come in the order in which they are sent.
    virtual void send(const void* data, size_t bytes, int to, int tag) = 0;
    virtual void receive(void* data, size_t bytes, int from, int tag) = 0;
    // `count` pieces of `elements` of type `type` each, `stride` bytes from one to the next.
    struct Pieces {
        char* data;
        int64_t count, elements, stride;
        MPI_Datatype type;
        int64_t extent; // of the type
    };
    virtual void send(const Pieces& pieces, int to, int tag) = 0;
    virtual void receive(const Pieces& pieces, int from, int tag) = 0;
    // Collective: of all processes' numbers the greatest of each of the first `by_most`, and the sum of each other.
    static constexpr int by_most = 8;
    virtual void combine(const double* mine, double* all, int count) = 0;
    static void add(const double* a, double* sum, int count)
    {
        for (int i = 0; i < count; i++)
            sum[i] = i >= by_most ? a[i] + sum[i] : a[i] > sum[i] ? a[i] : sum[i];
    }
    // Collective: `all` gets `bytes` of each process, by rank.
    virtual void gather(const void* mine, void* all, size_t bytes) = 0;

    // Whether all of it is complete; with `wait` it is.
    virtual bool complete(bool wait) = 0;
};

class Processes {
public:
    enum class By { least, most, sum };

    virtual ~Processes() = default;

    const MPI_Comm comm; // theirs, for errors; MPI_COMM_NULL where they are played
    const int rank, size;

    // Collective, and all wait for all: each number becomes that of all processes' numbers.
    virtual void combine(By by, int64_t* numbers, size_t count) = 0;
    virtual void combine(By by, double* numbers, size_t count) = 0;
    int64_t combined(By by, int64_t number)
    {
        combine(by, &number, 1);
        return number;
    }
    double combined(By by, double number)
    {
        combine(by, &number, 1);
        return number;
    }
    bool all(bool is_so) { return combined(By::least, int64_t(is_so)) != 0; }
    virtual void broadcast(void* data, size_t bytes, int from) = 0;
    // Collective: those of them with the same number, in the same order.
    virtual std::unique_ptr<Processes> split(int number) = 0;

    virtual std::unique_ptr<Flight> flight() = 0;

protected:
    Processes(MPI_Comm comm, int rank, int size) : comm(comm), rank(rank), size(size) {}
};

} // namespace ws::policy
