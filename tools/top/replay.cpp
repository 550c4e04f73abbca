// SPDX-License-Identifier: MIT
#include "replay.h"

#include <algorithm>
#include <stdexcept>

namespace ws::top {

Replay::Replay(const std::string& text, const std::string& job)
{
    size_t number = 1;
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1, number++) {
        Snapshot s;
        try {
            s = from_json(text.substr(begin, end - begin));
        } catch (const std::exception& error) {
            throw std::runtime_error("line " + std::to_string(number) + ": " + error.what());
        }
        s.jobs.erase(
            std::remove_if(s.jobs.begin(), s.jobs.end(),
                           [&](const JobSample& j) { return job_name(j.id).compare(0, job.size(), job) != 0; }),
            s.jobs.end());
        snapshots_.push_back(std::move(s));
    }
    if (snapshots_.empty())
        throw std::runtime_error("there is no snapshot in it");
}

std::vector<JobSample> Replay::sample(bool)
{
    shown_ = std::min(next_, snapshots_.size() - 1);
    next_ = shown_ + 1;
    const Snapshot& s = snapshots_[shown_];
    problems_.insert(problems_.end(), s.problems.begin(), s.problems.end());
    return s.jobs;
}

void Replay::move(long by)
{
    next_ = size_t(std::clamp(long(shown_) + by, 0l, long(snapshots_.size()) - 1));
}

} // namespace ws::top
