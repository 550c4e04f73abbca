// SPDX-License-Identifier: MIT
//
// Waits outside of MPI: for a GPU, a file, a socket. The rank's own thread is blocked in a call that knows nothing of
// Workshare. So a second thread, its stand-in, lends the core in its place: it has the seat of the home thread (its
// Lender, its row of the core table) until the wait is over.
//
// One word says whose the seat is. Its upper bits count the waits, so that no two waits look the same.
//
//    home -> offered    the home thread: a wait begins
//    offered -> home    the home thread: it is over, and the stand-in had not come
//    offered -> taken   the stand-in
//    taken -> wanted    the home thread: it is over
//    wanted -> home     the stand-in: it has left
//    taken -> offered   the stand-in: the call that is waited in does not sleep now
//
// So only the holder of the seat uses what belongs to it, and each hand-over is a full compare-and-swap or a release
// that an acquire pairs with. The home thread takes no lock and allocates nothing, except for the thread itself.
#pragma once

#include "base/atomics.h"
#include "loop/region.h"
#include <pthread.h>
#include <sys/types.h>

namespace ws::lend {

class HomeThread;
class Rank;

class StandIn {
public:
    StandIn(Rank& rank, HomeThread& thread) : rank_(rank), home_(thread) {}

    // By the home thread, which is in no iteration, while the seat is its own. `declared`: by the program, so that the
    // core may be lent at once. Otherwise the wait is a call that is short as a rule: it is not lent before the
    // stand-in has seen it last. False if the system gives no thread.
    bool begin(observe::Outside what, bool declared);
    // Returns when the seat is the home thread's again: at once if the stand-in had not come, otherwise when it has
    // been woken and has left. A guest on the core finishes its chunk beside the caller, as after a wait in MPI.
    void end();
    // From here on calls are watched. Makes the thread, because such a call may come from a signal handler.
    void watch_calls();
    // Called by Rank::start() and Rank::stop(). After the second no wait is lent any more.
    void start();
    void stop();

    // Whether a wait is open. By the home thread.
    bool is_open() const { return state_of(base::Hardware::load_relaxed(word_)) != home; }
    // The home thread is in MPI. So if the open wait is a call, a jump has left that, and it ends here.
    void end_if_left()
    {
        if (!declared_)
            end();
    }

private:
    enum State : base::Flag { home = 0, offered = 1, taken = 2, wanted = 3, states = 4 };
    static State state_of(base::Flag word) { return State(word % states); }
    static base::Flag with(base::Flag word, State state) { return word - word % states + state; }

    static void* run(void* stand_in);
    bool make_thread();
    void live();
    void rest(base::Flag word);
    void lend();
    void look_for_work();
    bool is_in_call() const;
    void call_back();
    void account(uint64_t now);

    Rank& rank_;
    HomeThread& home_;
    volatile base::Flag word_ = home;
    volatile base::Flag parked_ = 0;   // the stand-in sleeps until it is woken
    volatile base::Flag stopping_ = 0;
    bool made_ = false, refused_ = false, watches_calls_ = false;
    pthread_t thread_ = {};
    pid_t home_thread_ = 0;
    // The open wait. Written before it is offered.
    observe::Outside what_ = observe::Outside::program;
    bool declared_ = false;
    uint64_t began_ = 0;        // ticks
    uint64_t mpi_before_ = 0;   // ticks in MPI
    // Used by the holder of the seat.
    bool was_lent_ = false;     // the stand-in had it in this wait
    uint64_t lent_before_ = 0;  // ticks
    // Used by the stand-in alone.
    base::Flag seen_ = 0;       // at its last look
    unsigned quiet_looks_ = 0;  // since anything changed
    uint64_t look_us_ = 0;      // until its next look
    uint64_t little_until_ = 0; // ticks: until then there is only work that is not worth a hand-over
};

} // namespace ws::lend
