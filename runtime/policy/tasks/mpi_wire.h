// SPDX-License-Identifier: MIT
//
// Letters by MPI: only calls that return at once, except wait().
#pragma once

#include "base/atomics.h"
#include "policy/tasks/wire.h"

#include <memory>
#include <mpi.h>
#include <vector>

namespace ws::policy::tasks {

class MpiWire final : public Wire {
public:
    // `comm` is the wire's own. Ranks are its ranks.
    MpiWire(MPI_Comm comm, Receive receive);

    void post(int to, std::string letter) override;
    void send(int to, int tag, const void* data, size_t bytes, Done done) override;
    void receive(int from, int tag, void* data, size_t bytes, Done done) override;
    bool poll() override { return go_on(false); }
    void wait() override { go_on(true); }
    uint64_t sent() const override { return sent_; }
    uint64_t received() const override { return received_; }
    bool sends() const override { return slots_.size() > windows; }
    bool moves_data() const override { return base::load_relaxed(data_) != 0; }
    void close() override;

private:
    static constexpr size_t windows = 8; // letters that may come before one is looked at
    struct Slot {
        std::string letter;
        Done done;
    };
    bool go_on(bool blocking);
    void listen(size_t window);
    void add(MPI_Request request, std::string letter, Done done);

    const MPI_Comm comm_;
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
