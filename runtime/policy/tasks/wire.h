// SPDX-License-Identifier: MIT
//
// Letters between the ranks of a pool, and data too large for one. They travel also while the program computes, and a
// rank can wait for the next one in MPI, with its core lent. Only calls of MPI that return at once, but for wait(). Any
// thread, one at a time.
#pragma once

#include "base/atomics.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mpi.h>
#include <string>
#include <vector>

namespace ws::policy::tasks {

class Wire {
public:
    static constexpr size_t most = 60000; // bytes of a letter
    // A letter has come. Those of one rank come in the order in which they were posted.
    using Receive = std::function<void(int from, const char* letter, size_t bytes)>;
    using Done = std::function<void()>;

    // `comm` is the wire's own. Ranks are its ranks; nobody posts to himself.
    void open(MPI_Comm comm, Receive receive);
    void post(int to, std::string letter);
    // `data` stays until `done` is called. One tag at a time between two ranks: from first_tag on.
    static constexpr int first_tag = 16, tags = 16384;
    void send(int to, int tag, const void* data, size_t bytes, Done done);
    void receive(int from, int tag, void* data, size_t bytes, Done done);

    // Takes what has come; true if anything had. wait() blocks until something does.
    bool poll() { return go_on(false); }
    void wait() { go_on(true); }
    // Of letters; data sent and received counts as one.
    uint64_t sent() const { return sent_; }
    uint64_t received() const { return received_; }
    bool sends() const { return slots_.size() > windows; } // something is not complete yet
    // Data is under way that MPI moves only while it is polled. Any thread.
    bool moves_data() const { return base::load_relaxed(data_) != 0; }
    // When nothing is under way.
    void close();

private:
    static constexpr size_t windows = 8; // letters that may come before one is looked at
    struct Slot {
        std::string letter;
        Done done;
    };
    bool go_on(bool blocking);
    void listen(size_t window);
    void add(MPI_Request request, std::string letter, Done done);

    MPI_Comm comm_ = MPI_COMM_NULL;
    Receive receive_;
    std::unique_ptr<char[]> buffers_;
    // The first are those of letters that come, then what is under way.
    std::vector<MPI_Request> requests_;
    std::vector<Slot> slots_;
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    struct Arrived {
        bool there = false;
        int from = 0, bytes = 0;
    } arrived_[windows];
    uint64_t next_ = 0; // letter to be looked at, in the order of the calls that listen
    uint64_t sent_ = 0, received_ = 0;
    volatile uint64_t data_ = 0; // sends and receives of data that are under way
};

} // namespace ws::policy::tasks
