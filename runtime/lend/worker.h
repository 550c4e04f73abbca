// SPDX-License-Identifier: MIT
//
// Workers: threads of a rank on cores that it has but does not use.
#pragma once

#include "openmp/library/regions.h"
#include "lend/lender.h"
#include <memory>
#include <pthread.h>
#include <vector>

namespace ws::lend {

class Workers final : openmp::Watcher {
public:
    explicit Workers(Rank& rank) : rank_(rank) {}

    // Makes one for each worker's core that the window has for this rank, or fewer if the system refuses threads.
    void start();
    // Returns when they have ended, with their cores back.
    void stop();

    // For threads of the program that are pinned to the core of a worker: it keeps off while they compute there, and
    // has the core to itself while they wait in MPI. By any thread; these do not block.
    static constexpr unsigned none = ~0u;
    unsigned beside_this_thread() const; // the worker whose only CPU is the calling thread's only one; or none
    volatile Flag* begin_visit(unsigned worker);
    static void end_visit(volatile Flag* visitors); // what begin_visit() has returned

private:
    struct Worker {
        Workers& all;
        Lender lender;
        volatile Flag& visitors; // threads of the program that compute on its core
        pthread_t thread;
    };
    static void* run(void* worker);
    void live(Worker& worker);
    void help_own_rank(Worker& worker, const Target& target);
    void keep_off(Worker& worker);
    void idle(Lender& lender, uint64_t now, uint64_t idle_ticks);
    void openmp_opens() override;
    void sleep_in_openmp();

    Rank& rank_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<volatile Flag[]> visitors_; // of each; they outlive the workers, as a thread of the program may
    volatile Flag stopping_ = 0;
};

} // namespace ws::lend
