// SPDX-License-Identifier: MIT
//
// Letters between the ranks of a pool, and data too large for one. They travel also while the program computes, and a
// rank can wait for the next one, with its core lent. Any thread, one at a time. By MPI (mpi_wire.h), or between ranks
// that a test plays. A letter takes microseconds, so that these may be virtual: no task of a rank's own passes here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace ws::policy::tasks {

class Wire {
public:
    static constexpr size_t most = 60000; // bytes of a letter
    // A letter has come. Those of one rank come in the order in which they were posted.
    using Receive = std::function<void(int from, const char* letter, size_t bytes)>;
    using Done = std::function<void()>;

    virtual ~Wire() = default; // nothing is under way

    // Nobody posts to himself.
    virtual void post(int to, std::string letter) = 0;
    // `data` stays until `done` is called. One tag at a time between two ranks: from first_tag on.
    static constexpr int first_tag = 16, tags = 16384;
    virtual void send(int to, int tag, const void* data, size_t bytes, Done done) = 0;
    virtual void receive(int from, int tag, void* data, size_t bytes, Done done) = 0;

    // Takes what has come; true if anything had. wait() blocks until something does.
    virtual bool poll() = 0;
    virtual void wait() = 0;
    // Counts letters; data sent and received counts as one.
    virtual uint64_t sent() const = 0;
    virtual uint64_t received() const = 0;
    virtual bool sends() const = 0; // something is not complete yet
    // Data is under way that moves only while it is polled. Any thread.
    virtual bool moves_data() const = 0;
    // No letter is listened for any more.
    virtual void close() = 0;
};

} // namespace ws::policy::tasks
