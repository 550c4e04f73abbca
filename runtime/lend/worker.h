// SPDX-License-Identifier: MIT
//
// Workers: threads of a rank on cores that it has but does not use.
#pragma once

#include "directive/openmp.h"
#include "lend/lender.h"
#include <memory>
#include <pthread.h>
#include <vector>

namespace ws::lend {

class Workers final : directive::OpenMPWatcher {
public:
    explicit Workers(Rank& rank) : rank_(rank) {}

    // Makes one for each worker's core that the window has for this rank, or fewer if the system refuses threads.
    void start();
    // Returns when they have ended, with their cores back.
    void stop();

private:
    struct Worker {
        Workers& all;
        Lender lender;
        pthread_t thread;
    };
    static void* run(void* worker);
    void live(Lender& lender);
    void help_own_rank(Lender& lender, const Target& target);
    void idle(Lender& lender, uint64_t idle_ticks);
    void openmp_opens() override;
    void sleep_in_openmp();

    Rank& rank_;
    std::vector<std::unique_ptr<Worker>> workers_;
    volatile Flag stopping_ = 0;
};

} // namespace ws::lend
