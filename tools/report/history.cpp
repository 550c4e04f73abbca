// SPDX-License-Identifier: MIT
#include "history.h"

#include "gate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace ws::report {

using observe::Report;

const std::vector<Followed> followed = {
    {"elapsed_s", "elapsed time", true, true, [](const Report& r) { return r.elapsed_s; }},
    {"parallel_efficiency", "parallel efficiency", false, false, [](const Report& r) { return r.as_is.parallel; }},
    {"load_balance", "load balance", false, false, [](const Report& r) { return r.as_is.load_balance; }},
    {"communication_efficiency", "communication efficiency", false, false,
     [](const Report& r) { return r.as_is.communication; }},
};

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double noise_of(const std::vector<std::vector<double>>& values)
{
    double squares = 0, runs = 0;
    size_t degrees = 0;
    std::vector<double> medians, differences;
    for (const auto& of_commit : values) {
        const Sample s = sample_of(of_commit);
        squares += s.deviation * s.deviation * double(s.size > 1 ? s.size - 1 : 0);
        degrees += s.size > 1 ? s.size - 1 : 0;
        runs += double(s.size);
        medians.push_back(median(of_commit));
    }
    constexpr size_t least_degrees = 3, least_differences = 3;
    double within = 0, between = 0;
    if (degrees >= least_degrees)
        within = std::sqrt(squares / double(degrees) / (runs / double(values.size())));
    for (size_t i = 1; i < medians.size(); i++)
        differences.push_back(std::fabs(medians[i] - medians[i - 1]));
    // 1.4826: from the median of deviations to the standard deviation of a normal distribution; a difference of two
    // values varies sqrt(2) times as much as one
    if (differences.size() >= least_differences)
        between = 1.4826 * median(differences) / std::sqrt(2.0);
    return std::max(within, between);
}

namespace {

// The sum of distances from the median.
double spread(const std::vector<double>& v, size_t begin, size_t end)
{
    const double middle = median({v.begin() + long(begin), v.begin() + long(end)});
    double sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += std::fabs(v[i] - middle);
    return sum;
}

// Adds the changes within [begin, end) in their order: divides it where the two parts vary least, if they differ.
void divide(const std::vector<double>& v, size_t begin, size_t end, double noise, std::vector<size_t>& changes)
{
    constexpr size_t least = 2;
    constexpr double least_deviations = 5, least_part = 0.01;
    if (end - begin < 2 * least)
        return;
    size_t best = 0;
    double best_spread = INFINITY;
    for (size_t at = begin + least; at + least <= end; at++)
        if (const double s = spread(v, begin, at) + spread(v, at, end); s < best_spread) {
            best_spread = s;
            best = at;
        }
    const double before = median({v.begin() + long(begin), v.begin() + long(best)}),
                 after = median({v.begin() + long(best), v.begin() + long(end)});
    const double by_chance = noise * std::sqrt(1 / double(best - begin) + 1 / double(end - best));
    if (std::fabs(after - before) < std::max(least_deviations * by_chance, least_part * std::fabs(before)))
        return;
    divide(v, begin, best, noise, changes);
    changes.push_back(best);
    divide(v, best, end, noise, changes);
}

Curve curve_of(const Followed& figure, const std::vector<Commit>& commits)
{
    Curve c = {&figure, {}, {}, 0, {}, {}};
    for (const Commit& commit : commits) {
        std::vector<double> values;
        for (const Run* run : commit.runs)
            values.push_back(figure.of(run->report));
        c.medians.push_back(median(values));
        c.values.push_back(std::move(values));
    }
    c.noise = noise_of(c.values);
    std::vector<size_t> bounds = changes_in(c.medians, c.noise);
    bounds.insert(bounds.begin(), 0);
    bounds.push_back(c.medians.size());
    for (size_t i = 0; i + 1 < bounds.size(); i++) {
        const double level = median({c.medians.begin() + long(bounds[i]), c.medians.begin() + long(bounds[i + 1])});
        if (i > 0)
            c.changes.push_back({bounds[i], c.levels.back(), level});
        c.levels.resize(bounds[i + 1], level);
    }
    return c;
}

} // namespace

std::vector<size_t> changes_in(const std::vector<double>& medians, double noise)
{
    std::vector<size_t> changes;
    divide(medians, 0, medians.size(), noise, changes);
    return changes;
}

std::vector<Experiment> experiments_of(const std::vector<Run>& runs)
{
    std::map<std::tuple<std::string, double, double>, std::map<std::string, Commit>> found;
    for (const Run& run : runs) {
        const Report& r = run.report;
        const std::string program = r.program.substr(r.program.rfind('/') + 1);
        Commit& commit = found[{program, r.ranks, r.nodes}][run.commit];
        commit.started_unix_ns =
            commit.runs.empty() ? r.started_unix_ns : std::min(commit.started_unix_ns, r.started_unix_ns);
        commit.name = run.commit;
        commit.runs.push_back(&run);
    }
    std::vector<Experiment> all;
    for (auto& [key, commits] : found) {
        Experiment e = {std::get<0>(key), std::get<1>(key), std::get<2>(key), {}, {}};
        for (auto& [name, commit] : commits)
            e.commits.push_back(std::move(commit));
        std::stable_sort(e.commits.begin(), e.commits.end(),
                         [](const Commit& a, const Commit& b) { return a.started_unix_ns < b.started_unix_ns; });
        for (const Followed& figure : followed)
            e.curves.push_back(curve_of(figure, e.commits));
        all.push_back(std::move(e));
    }
    return all;
}

} // namespace ws::report
