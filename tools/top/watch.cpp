// SPDX-License-Identifier: MIT
#include "watch.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace ws::top {

namespace {

constexpr size_t most_over = 16; // jobs that have ended and are still shown

bool is_alive(const Finder::FoundBoard& m)
{
    const auto process = read_process(m.pid);
    return process && process->started == m.started && !process->ended;
}

} // namespace

std::string job_name(uint64_t id)
{
    char name[20];
    std::snprintf(name, sizeof name, "%016" PRIx64, id);
    return name;
}

Watch::Watch(const Selection& selection) : selection_(selection), finder_(selection.all || selection.pid) {}

bool Watch::choose(uint64_t id, const WatchedJob& job) const
{
    if (job_name(id).compare(0, selection_.job.size(), selection_.job) != 0)
        return false;
    if (!selection_.pid)
        return true;
    return std::any_of(job.ranks.begin(), job.ranks.end(),
                       [&](const auto& r) { return descends_from(r.second.pid, selection_.pid); });
}

std::vector<JobSample> Watch::sample(bool now)
{
    if (now)
        finder_.scan();
    else {
        bool missing = jobs_.empty(); // a job's ranks show their boards one after another
        for (const auto& [id, job] : jobs_)
            missing |=
                job.ranks.size() < size_t(job.ranks.begin()->second.node_ranks) && !job.ranks.begin()->second.over();
        finder_.scan_now_and_then(missing);
    }
    std::map<uint64_t, std::map<int, Reading>> before;
    for (const auto& [id, job] : jobs_)
        before[id] = job.ranks;
    std::vector<Finder::FoundBoard> stay;
    for (Finder::FoundBoard& m : finder_.boards) {
        Reading r;
        bool unmade;
        std::string wrong = m.file.read(r, unmade);
        if (wrong.empty() && !unmade) {
            r.alive = is_alive(m);
            if (!r.alive) // what it did since the first read
                wrong = m.file.read(r, unmade);
        }
        if (!wrong.empty() || unmade) {
            finder_.problems.push_back({m.pid, wrong.empty() ? "the board is gone" : wrong});
            continue; // in a job that was right before, the rank stays as it was
        }
        r.pid = m.pid;
        r.uid = m.uid;
        const bool over = r.over();
        const uint64_t id = r.job;
        const int number = r.rank;
        jobs_[id].ranks[number] = std::move(r);
        if (!over)
            stay.push_back(std::move(m));
        else
            finder_.done.push_back({m.device, m.inode});
    }
    finder_.boards = std::move(stay);
    if (selection_.pid) { // what is wrong elsewhere was not asked for
        auto& p = finder_.problems;
        p.erase(
            std::remove_if(p.begin(), p.end(), [&](const Problem& x) { return !descends_from(x.pid, selection_.pid); }),
            p.end());
    }

    std::vector<std::pair<double, JobSample>> found;
    for (auto it = jobs_.begin(); it != jobs_.end();) {
        const uint64_t id = it->first;
        WatchedJob& job = it->second;
        if (!job.chosen)
            job.chosen = choose(id, job);
        if (!job.chosen) {
            const bool over =
                std::all_of(job.ranks.begin(), job.ranks.end(), [](const auto& r) { return r.second.over(); });
            it = over ? jobs_.erase(it) : std::next(it);
            continue;
        }
        ++it;
        std::vector<Reading> readings;
        double began = 0;
        for (const auto& [number, rank] : job.ranks) {
            readings.push_back(rank);
            began = double(rank.attached_at) / rank.ticks_per_us;
        }
        found.emplace_back(began, ws::top::sample(readings, before[id]));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<JobSample> result;
    for (auto& job : found)
        result.push_back(std::move(job.second));
    size_t over = std::count_if(result.begin(), result.end(), [](const JobSample& j) { return j.over; });
    for (size_t i = 0; i < result.size() && over > most_over;)
        if (result[i].over) {
            jobs_.erase(result[i].id);
            result.erase(result.begin() + long(i));
            over--;
        } else
            i++;
    return result;
}

} // namespace ws::top
