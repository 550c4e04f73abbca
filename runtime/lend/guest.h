// SPDX-License-Identifier: MIT
//
// The guests of a rank: one thread per core of the node that was ever offered to it, created on demand.
#pragma once

#include "base/spin_lock.h"
#include "window/types.h"
#include <pthread.h>
#include <vector>

namespace ws::lend {

class Rank;

class Guests {
public:
    explicit Guests(Rank& rank) : rank_(rank) {}

    // Creates guests that thieves have asked for. Any thread of the rank's.
    void make();
    // Tells the guests to end, and joins them. Nobody makes guests, or lends to them, any more.
    void stop();

private:
    struct GuestStart { // of a guest
        Guests* all;
        unsigned core;
    };
    static void* run(void* place);
    void live(unsigned core);

    Rank& rank_;
    std::vector<pthread_t> threads_;
    std::vector<GuestStart> places_; // by core
    base::SpinLock making_; // owner threads of one process may publish at once
    volatile base::Flag stopping_ = 0;
};

// Called by a thread that waits in MPI inside an iteration: if it is a guest, it returns its core and goes on waiting
// beside the thief.
void guest_blocked(unsigned polls);

} // namespace ws::lend
