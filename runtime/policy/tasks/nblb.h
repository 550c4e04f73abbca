// SPDX-License-Identifier: MIT
//
// Tasks that move between nodes, as in "Dynamic Load Balancing Algorithm for MPI Parallel Computing" (Sun, Liang).
// Programs use it through include/workshare/task.h. The policy itself knows how the job was started, and reports in the
// end. While a task is blocked in MPI, and on idle workers, it lets a pool look at its letters, and on rank 0 at the
// scheduler's work. Pools also poll on their own, because they must react while tasks run, when policies get no time.
//
//   task.h -> exports.cpp -> pool.h -> peers.h, wire.h (letters), queue.h (tasks that wait), ending.h (is it over?)
//                              |-----> balancer.h (who gives to whom): central.cpp with scheduler.h, rivals.cpp
//                                      classify.h, worth.h, predict.h
#pragma once

#include "policy/policy.h"

#include <mutex>
#include <vector>

namespace ws::policy::tasks {

class Pool;

// For the verdict: what all pools of this rank have done.
struct Sums {
    uint64_t put = 0, run = 0, moved_out = 0, moved_in = 0, bytes_out = 0, bytes_in = 0, letters = 0;
    uint64_t kept_worth = 0, kept_room = 0, kept_moved = 0, kept_none = 0;
    uint64_t stepped = 0, worked = 0, pulsed = 0; // looks at letters in blocked time, by idle workers, by the pulse
    uint64_t unfreed = 0; // pools that there are
};

// Collective over MPI_COMM_WORLD: those of all ranks, on rank 0. mpi_peers.cpp
Sums summed(const Sums& mine);

// One a rank. Pools have it from when they are made.
class Nblb final : public policy::Policy {
public:
    policy::Wants attach(policy::Job& job) override;
    policy::Wants step(policy::Job&, uint64_t now, uint64_t) override;
    uint64_t worker_step(uint64_t now) override;
    void end(policy::Job&) override;
    void tell(observe::Facts& facts) const override;
    void detach(policy::Job&) override { job_ = &policy::no_job; }

    // Any thread.
    const policy::Job& job() const { return *job_; }
    bool is_on() const { return is_on_; }   // between attach() and end()
    bool lends() const { return lends_; }   // somebody may lend cores to this rank's tasks
    uint64_t next_letter() { return base::Hardware::fetch_add_full(letters_, 1); } // with tasks: its number

    // Pools that there are: the number of a new one, from 1; what one that goes has done.
    uint64_t add(Pool& pool);
    void remove(const Pool& pool, const Sums& done);
    // Sets the pool whose letters the home thread looks at while a task is blocked in MPI, in steps. Null: no pool, or
    // the pool looks by itself. Does nothing if another thread than the home thread calls it.
    void look_while_blocked(Pool* pool);
    // The pool whose letters this rank's idle workers look at; null: none, and no worker is in it any more.
    void look_on_workers(Pool* pool);

private:
    policy::Wants soon(uint64_t now) const;

    const policy::Job* job_ = &policy::no_job;
    bool is_on_ = false, lends_ = false;
    volatile base::Hardware::Word letters_ = 0;
    Pool* looks_ = nullptr;
    std::mutex workers_lock_; // of what follows, and while a worker looks
    Pool* workers_look_ = nullptr;
    std::mutex pools_lock_; // of what follows
    std::vector<Pool*> pools_;
    uint64_t made_ = 0;
    Sums sums_;
    Sums all_; // of all ranks, on rank 0
};

// This process's, for the registry and for the functions of task.h, which have no argument for it.
Nblb& policy();

} // namespace ws::policy::tasks
