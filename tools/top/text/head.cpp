// SPDX-License-Identifier: MIT
#include "head.h"

#include "rows.h"
#include "watch.h"
#include "words.h"
#include <algorithm>
#include <map>

namespace ws::top {

using observe::Refusal;
using observe::Seated;

std::vector<Line> head(const JobSample& job, const View& view, unsigned width)
{
    std::vector<Line> lines(1);
    lines[0].add(file_name(job.program), Style::strong).add("  job " + job_name(job.id).substr(0, 8)).add("  ");
    const std::string here = counted(job.ranks.size(), "rank", "ranks") + " on " + job.host;
    lines[0].add(job.partial() ? print("%zu of ", job.ranks.size()) + counted(uint64_t(job.size), "rank", "ranks") +
                                     " here, on " + job.host
                               : here);
    if (job.nodes_seen > 1)
        lines[0].add(print(" as %d nodes", job.nodes_seen));
    lines[0].add("  " + duration(job.seconds));
    if (job.over)
        lines[0].add("  ").add(
            job.died ? counted(job.died, "rank", "ranks") + " died: the job is over" : "the job is over", Style::alert);
    else if (job.died)
        lines[0].add("  ").add(counted(job.died, "rank", "ranks") + " died", Style::alert);

    const bool whole = view.since_start || job.over;
    const Metrics& m = whole ? job.total : job.interval;
    Line numbers;
    numbers.add(whole ? "whole run: " : print("last %s: ", duration(m.seconds).c_str()));
    if (m.seconds > 0)
        numbers.add("efficiency ")
            .add(percent(m.parallel_efficiency) + " %", Style::strong)
            .add(", load balance ")
            .add(percent(m.load_balance) + " %", Style::strong)
            .add("; without stealing " + percent(m.parallel_efficiency_without) + " %, " +
                 percent(m.load_balance_without) + " %");
    else
        numbers.add("nothing measured");
    lines.push_back(numbers);

    Line use;
    use.add(counted(job.cores, "core: ", "cores: "));
    bar(use, m.shares, width < 100 ? 10 : 20);
    use.add("  computing " + percent(m.shares.computing) + " %", Style::computing)
        .add(", ")
        .add("lent " + percent(m.shares.lent) + " %", Style::lent)
        .add(", ")
        .add("waiting " + percent(m.shares.waiting) + " %", Style::waiting)
        .add("; " + number(m.steals_per_s) + " steals/s" +
             (width < 100 ? "" : ", " + number(m.lends_per_s) + " lends/s"));
    lines.push_back(use);

    std::vector<std::pair<double, unsigned>> reasons;
    for (unsigned k = 0; k < observe::refusal_kinds; k++)
        if (m.waited_because[k] > 0.005)
            reasons.emplace_back(-m.waited_because[k], k);
    std::sort(reasons.begin(), reasons.end());
    std::string why;
    for (const auto& [share, k] : reasons)
        why += (why.empty() ? "helped nobody: " : ", ") + std::string(refusal_text(Refusal(k))) + " " +
               percent(-share) + " %";
    if (m.shares.waiting > 0.02 && !why.empty())
        lines.emplace_back().add(why, Style::waiting);

    if (job.partial()) {
        Line partial;
        partial.add(job.died || job.over
                        ? "The others had ended before, or run on other nodes, and cannot be seen from here."
                        : "The others run on other nodes, or have ended, and cannot be seen from here.",
                    Style::dim);
        lines.push_back(partial);
    }
    unsigned inactive = 0;
    for (const RankSample& r : job.ranks)
        inactive += r.inactive;
    if (inactive)
        lines.emplace_back().add(counted(inactive, "rank runs", "ranks run") +
                                     " without sharing: the job's summary will say why",
                                 Style::alert);
    return lines;
}

namespace {

// Under -workshare-openmp: how many cores the regions of each rank have now.
std::string region_cores(const JobSample& job)
{
    constexpr size_t shown = 16;
    std::string text;
    bool any = false;
    for (size_t i = 0; i < job.ranks.size() && i < shown; i++)
        for (const Counter& c : job.ranks[i].counters)
            if (std::string(c.name) == "openmp_cores") {
                any = any || c.value > 0;
                text += " " + std::to_string(unsigned(c.value));
            }
    return any ? text + (job.ranks.size() > shown ? " ..." : "") : "";
}

} // namespace

std::vector<Line> summary(const JobSample& job)
{
    std::map<std::string, unsigned> calls, tenants;
    unsigned computing = 0, waiting = 0, asleep = 0, lent = 0, over = 0, workers = 0, helping = 0;
    for (const RankSample& r : job.ranks) {
        if (r.condition != RankCondition::running) {
            over++;
            continue;
        }
        for (size_t c = 0; c < r.cores.size(); c++) {
            const CoreSample& core = r.cores[c];
            const bool home = c == 0;
            workers += !home;
            lent += core.state == Seated::lent;
            helping += !home && core.state == Seated::computing;
            computing += home && core.state == Seated::computing;
            waiting += home && core.state == Seated::blocked;
            asleep += home && core.state == Seated::asleep;
            if (home && core.state != Seated::computing && core.state != Seated::nobody)
                calls[core.call.empty() ? "MPI" : core.call]++;
            if (core.state == Seated::lent)
                tenants[std::to_string(core.tenant)]++;
        }
    }
    auto most = [](const std::map<std::string, unsigned>& counts, const char* before) {
        std::vector<std::pair<unsigned, std::string>> order;
        for (const auto& [name, n] : counts)
            order.emplace_back(n, name);
        std::sort(order.rbegin(), order.rend());
        std::string text;
        for (size_t i = 0; i < order.size() && i < 4; i++)
            text += (i ? ", " : before) + order[i].second + " " + std::to_string(order[i].first);
        return text + (order.size() > 4 ? ", ..." : "");
    };
    Line line;
    line.add(print("now: %u computing", computing), Style::computing)
        .add(", ")
        .add(print("%u lent", lent), Style::lent)
        .add(", ")
        .add(print("%u waiting, %u asleep", waiting, asleep), Style::waiting);
    if (workers)
        line.add(print(", %u of %u workers help", helping, workers));
    if (over)
        line.add(print(", %u over", over), Style::dim);
    std::vector<Line> lines{line};
    if (!calls.empty())
        lines.emplace_back().add(most(calls, "in: "));
    if (!tenants.empty())
        lines.emplace_back().add(most(tenants, "cores lent to rank: "));
    if (const std::string cores = region_cores(job); !cores.empty())
        lines.emplace_back().add("cores of parallel regions:" + cores);
    return lines;
}

} // namespace ws::top
