// SPDX-License-Identifier: MIT
//
// A rank that lends: its own thread, its workers, its guests on the cores of others, who wakes whom. A process has one,
// which MPICH's hooks are handed to (mpi/attach.cpp); a test has as many as it plays.
#pragma once

#include "lend/guest.h"
#include "lend/home.h"
#include "lend/lend.h"
#include "lend/peers.h"
#include "lend/stand_in.h"
#include "lend/worker.h"
#include "loop/region.h"

namespace ws::lend {

class Rank final : public loop::Lending {
public:
    // `window` and `loops` outlive it. The board and the meter of `loops` are the rank's.
    Rank(window::Window& window, loop::LoopHost& loops, const LendOptions& options)
        : window(window), loops(loops), options(options), times(options.times)
    {}
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    // Starts and stops lending, in this order, by the thread that called MPI_Init: the home thread from here on.
    void start();
    // Other times, from any thread: they act from the next time on that somebody looks at them.
    void retime(const LendTimes& times);
    // Whether this rank lends its core, and its workers', from the next wait on. By the home thread.
    void let_lend(bool on)
    {
        base::Hardware::store_relaxed(lends_, on);
        home_.let_lend(on);
    }
    bool lends() const { return base::Hardware::load_relaxed(lends_); } // relaxed: a worker may lend once more
    // After this no guest of another process will be woken by this rank. Returns when its core is back and its workers
    // have ended.
    void stop();
    // Joins the guests in its process. Every rank of the node has called stop() before.
    void stop_guests() { guests_.stop(); }

    // MPICH's hooks: a thread waits, and has polled `polls` times in vain; its wait is over; MPI_Test or the like found
    // nothing; a message was posted for a rank of the node; a poll has handled something, while somebody waits for its
    // sends.
    void blocked(unsigned polls) { home_.blocked(polls); }
    void unblocked() { home_.unblocked(); }
    void polled() { home_.polled(); }
    // For hosts: notes that MPI has waited from `began` until now, in a call during which nothing could be lent.
    void has_waited(uint64_t began) { home_.has_waited(began); }
    void posted_for(window::Home& core)
    {
        if (WS_UNLIKELY(ring(core)))
            woke_one();
    }
    // Returns whether the rank slept.
    static bool ring(window::Home& core)
    {
        // False almost always, and at each send. relaxed: see OtherThreads::blocked() and Lender::arm()
        return WS_UNLIKELY((base::Hardware::load_relaxed(core.threads_asleep) |
                            (base::Hardware::load_relaxed(core.state) ^ window::core_kept)) != 0) &&
               ring_absent(core);
    }
    void taken();
    // For a call that goes on only when all ranks of the node do. Waits until those that this rank has just woken have
    // left their wait, or for some milliseconds. The kernel may have put one of them on this thread's CPU although
    // another is idle (it takes those of virtual machines for busy), and would leave it there until this thread's time
    // slice ends: so this thread sleeps when that takes longer than a wake-up.
    void let_woken_run();
    // Whether this rank woke another one a moment ago: see let_woken_run().
    bool has_just_woken(uint64_t now) const
    {
        const uint64_t at = base::Hardware::load_relaxed(woke_at_);
        return at != 0 && now - at < times.yield_ticks;
    }

    // Whether another job of the node was seen to use this rank's CPUs.
    bool had_neighbours() const { return home_.had_neighbours(); }

    // Whether a thread of the node is blocked or idle.
    bool somebody_waits() const override;
    void make_guests() override { guests_.make(); }
    // Wakes a few threads of the node that sleep for lack of work, its own workers first.
    void wake() override;
    void long_wait(const char* what) override { check_peers(what); }
    // A wait outside of MPI, or a call that may become one. False: it is not lent, and has no end here.
    bool wait_begins(observe::Outside what, bool declared) override
    {
        return lends() && home_.may_be_stood_in_for() && stand_in_.begin(what, declared);
    }
    void wait_ends() override { stand_in_.end(); }
    // From here on there are waits that are not declared.
    void watch_calls() { stand_in_.watch_calls(); }

    // ---- for the files of this folder

    // The same, of a rank with threads asleep, or whose core is not its own.
    static bool ring_absent(window::Home& core);
    void woke_one();

    // Ends the job when a rank of this node has died; otherwise returns. Cheap enough for every millisecond.
    void check_peers(const char* waiting_for);
    // Whether its own thread sits in a blocking MPI call; guests read it to give cores back early.
    bool is_blocked() const;
    // Whether the program of that core has lately spun on MPI_Test, which is its way of waiting. This expires by itself
    // once the program computes.
    bool looked_just_now(const window::Home& core) const
    {
        return base::ticks() - base::Hardware::load_relaxed(core.looked_at) < times.patience_ticks;
    }
    Workers& workers() { return workers_; }
    StandIn& stand_in() { return stand_in_; }
    // Makes a thread that runs loop bodies, on these CPUs from its first moment if it may use them. Returns an errno as
    // pthread_create does.
    int start_body_thread(pthread_t& thread, base::CpuMask cpus, void* (*run)(void*), void* argument) const;

    window::Window& window;
    loop::LoopHost& loops;
    const LendOptions options;
    LendTimes times; // now

private:
    volatile base::Flag lends_ = 1;
    volatile base::Hardware::Word woke_at_ = 0; // ticks; by any thread that rings; 0: not lately
    Peers peers_;
    HomeThread home_{*this};
    StandIn stand_in_{*this, home_};
    Guests guests_{*this};
    Workers workers_{*this};
};

} // namespace ws::lend
