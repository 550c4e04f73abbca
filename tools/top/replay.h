// SPDX-License-Identifier: MIT
//
// A recording: the lines that --json prints, shown again in place of this machine's jobs.
#pragma once

#include "json.h"
#include "watch.h"
#include <string>
#include <vector>

namespace ws::top {

class Replay : public Source {
public:
    // Reads the text of a recording; only jobs whose name begins with `job`. A last line that has no end, because
    // ws-top was killed while it wrote, is left out. Throws std::runtime_error with one line for the user.
    Replay(const std::string& text, const std::string& job);

    // The snapshot at the present place, which then moves on by one. The last one stays.
    std::vector<JobSample> sample(bool now = false) override;
    std::vector<Problem>& problems() override { return problems_; }

    size_t size() const { return snapshots_.size(); }
    size_t shown() const { return shown_; } // the place of the snapshot that sample() gave, from 0 on
    double unix_seconds() const { return snapshots_[shown_].unix_seconds; }
    bool at_end() const { return next_ == snapshots_.size(); }
    // sample() gives the snapshot that is `by` places from the shown one, or the first or last.
    void move(long by);

private:
    std::vector<Snapshot> snapshots_;
    std::vector<Problem> problems_;
    size_t next_ = 0, shown_ = 0;
};

} // namespace ws::top
