// SPDX-License-Identifier: MIT
//
// Letters between ranks, for policies that decide over several nodes; carried in the time of ranks that wait. It has a
// communicator of its own and uses only calls of MPI that return at once, so it never waits for the other side and
// cannot deadlock with the program's messages.
//
// At most one synchronous send is under way to each receiver; what is posted meanwhile becomes the next one. So many
// small letters travel as few messages, MPI never holds more than one message that nobody has asked for, and what a
// receiver does not take stays at the sender.
#pragma once

#include "mail/batch.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <mpi.h>
#include <stdexcept>
#include <unordered_map>

namespace ws::mail {

// MPI returned an error; what() says which call and why.
struct Broken : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One thread at a time, and MPI must allow that thread. Ranks are those of the communicator that it was opened with.
class Mail {
public:
    // A letter has come; `letter` is gone after the call. It may post, but not poll.
    using Receive = std::function<void(int from, Kind kind, std::string_view letter)>;

    Mail() = default;
    Mail(const Mail&) = delete;
    Mail& operator=(const Mail&) = delete;

    // Collective over `comm`, of which it makes a duplicate. Throws Broken, as all of these.
    void open(MPI_Comm comm, Receive receive);
    bool is_open() const { return comm_ != MPI_COMM_NULL; }
    // Never waits. Letters from one rank to another arrive once, in the order in which they were posted. More than
    // `most` bytes: std::length_error.
    void post(int to, Kind kind, std::string letter);
    // Sends what can be sent and hands out what has come, without waiting; if much has come, only a part of it. True if
    // anything was moved.
    bool poll();
    // Bytes that wait here until their receivers ask for them.
    size_t queued() const { return queued_; }
    // Collective: until all letters that any rank has posted, also while others were handed out, have been handed out.
    // `idle` is called when a poll moved nothing.
    void drain(void (*idle)());
    // Collective, after drain(): nothing is under way.
    void close();

    // Since it was opened.
    uint64_t posted() const { return posted_; }
    uint64_t received() const { return received_; }

private:
    // What one MPI message holds: letters, or the bytes of a large one.
    struct Parcel {
        std::string bytes;
        int tag;
    };
    struct Outbox {
        std::deque<Parcel> parcels; // the first is under way if there is a request
        MPI_Request sending = MPI_REQUEST_NULL;
    };
    struct Arrival {
        std::string bytes;
        MPI_Request receiving = MPI_REQUEST_NULL;
        bool is_large = false;
        Kind kind = 0;
    };
    using Inbox = std::deque<Arrival>; // in the order in which their letters were posted

    bool send(int to, Outbox& box);
    bool take();
    bool hand_out(int from, Inbox& inbox);
    bool hand_out_own();
    void receive(int from, Kind kind, std::string_view letter);

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = -1;
    Receive receive_;
    std::unordered_map<int, Outbox> out_;
    std::unordered_map<int, Inbox> in_;
    std::deque<std::pair<Kind, std::string>> own_; // from this rank to itself
    size_t queued_ = 0;
    uint64_t posted_ = 0, received_ = 0;
};

} // namespace ws::mail
