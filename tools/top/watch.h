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

// Where snapshots come from: this machine, or a recording (replay.h).
class Source {
public:
    virtual ~Source() = default;
    // The next snapshot. Jobs in the order in which they began; those that are over stay, as they ended. `now`: with
    // jobs that have only just begun.
    virtual std::vector<JobSample> sample(bool now = false) = 0;
    // What went wrong; who shows one takes it out.
    virtual std::vector<Problem>& problems() = 0;
};

class Watch : public Source {
public:
    explicit Watch(const Selection& selection);

    // Reads all ranks. Looks for new ones now and then, or `now`.
    std::vector<JobSample> sample(bool now = false) override;
    std::vector<Problem>& problems() override { return finder_.problems; }

private:
    struct WatchedJob {
        std::map<int, Reading> ranks; // as last read
        bool chosen = false;
    };
    bool choose(uint64_t id, const WatchedJob& job) const;

    Selection selection_;
    Finder finder_;
    std::map<uint64_t, WatchedJob> jobs_;
};

} // namespace ws::top
