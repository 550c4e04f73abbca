// SPDX-License-Identifier: MIT
//
// The jobs on this machine, read again and again.
#pragma once

#include "sample.h"
#include <map>
#include <string>
#include <vector>

namespace ws::top {

// The job's name as people type it.
std::string job_name(uint64_t id);

struct Selection {
    bool all = false;       // also jobs of other users
    pid_t pid = 0;          // a rank's process, or one that started it; 0: any
    std::string job;        // how the job's name begins
};

class Watch {
public:
    explicit Watch(const Selection& selection);

    // Reads all ranks. Jobs in the order in which they began; those that are over stay, as they ended. Looks for new
    // ones now and then, or `now`.
    std::vector<JobSample> sample(bool now = false);

    std::vector<Problem>& problems() { return finder_.problems; }

private:
    struct Job {
        std::map<int, Reading> ranks; // as last read
        bool chosen = false;
    };
    bool choose(uint64_t id, const Job& job) const;

    Selection selection_;
    Finder finder_;
    std::map<uint64_t, Job> jobs_;
};

} // namespace ws::top
