// SPDX-License-Identifier: MIT
#include "text.h"

#include "text/head.h"
#include "text/loops.h"
#include "text/phases.h"
#include "text/rows.h"
#include <algorithm>

namespace ws::top {

namespace {

const char* const help_text[] = {
    "ws-top shows the -workshare jobs of this node.",
    "",
    "q             quit",
    "s S           sort by the next, the previous column",
    "r             the other way around",
    "t             shares since the job began, or since the last refresh",
    "m             summary: no rows",
    "l             phases of the program in place of loops, and back",
    "p, blank      pause",
    "j J           next, previous job",
    "+ -           refresh less often, more often",
    "left right    of a recording: back, forward",
    "up down, PgUp PgDn, Home End   scroll",
    "",
    "Bars: # computes for its own rank, = lent to another, . waits in MPI.",
    "STATE  what the core does now: an MPI call and how long it has waited;",
    "       +2 on 1,3: two guests of this rank run on the cores of ranks 1 and 3",
    "COMP   percent of the time computing   LENT, WAIT  lent, waiting idle",
    "BORR   percent of one core's time that other cores computed for the rank",
    "EFF    COMP + BORR: more than 100 with help",
    "STEAL/s, CHUNKS   chunks of its loops that others ran: a second, so far",
};

Line keys(const View& view)
{
    Line line;
    if (!view.message.empty())
        return line.add(view.message, Style::alert);
    return line.add("q", Style::strong)
        .add(" quit ")
        .add("?", Style::strong)
        .add(" help ")
        .add("s", Style::strong)
        .add(" sort ")
        .add("r", Style::strong)
        .add(" reverse ")
        .add("p", Style::strong)
        .add(view.paused ? " go on " : " pause ")
        .add("j", Style::strong)
        .add(" job ")
        .add("+-", Style::strong)
        .add(" every " + print("%g", view.interval) + "s ")
        .add("t", Style::strong)
        .add(view.since_start ? " since start " : " interval ")
        .add("m", Style::strong)
        .add(" summary");
}

} // namespace

size_t shown_job(const std::vector<JobSample>& jobs, const View& view)
{
    for (size_t i = 0; i < jobs.size(); i++)
        if (jobs[i].id == view.job)
            return i;
    // None chosen: the first that still runs.
    for (size_t i = 0; i < jobs.size(); i++)
        if (!jobs[i].over)
            return i;
    return 0;
}

std::vector<Line> lay_out(const std::vector<JobSample>& jobs, View& view, unsigned width, unsigned height)
{
    std::vector<Line> lines;
    const bool with_keys = height >= 4 || !view.message.empty();
    const unsigned room = with_keys && height ? height - 1 : height;
    if (view.help) {
        for (const char* line : help_text)
            lines.emplace_back().add(line);
    } else if (jobs.empty()) {
        lines.emplace_back().add(view.replay ? "no job ran at this moment"
                                             : "no -workshare job runs on this node; waiting for one",
                                 Style::strong);
    } else {
        const size_t which = shown_job(jobs, view);
        const JobSample& job = jobs[which];
        std::vector<Line> top = head(job, view, width);
        if (jobs.size() > 1)
            top[0].add(print("  (job %zu of %zu)", which + 1, jobs.size()), Style::dim);
        if (!view.place.empty())
            top[0].add("  " + view.place, Style::dim);
        if (view.paused)
            top[0].add("  paused", Style::alert);
        if (view.summary || job.ranks.size() > 16)
            for (Line& line : summary(job))
                top.push_back(line);
        // A small window: the title and rows, nothing else.
        const unsigned for_rows = view.summary ? 0 : room >= 12 ? 4 : room >= 3 ? 2 : 0;
        if (top.size() + for_rows > room)
            top.resize(room > for_rows ? room - for_rows : std::min(room, 1u));
        lines = std::move(top);
        const std::vector<CoreLine> rows = rows_of(job, view);
        const unsigned left = room > lines.size() ? room - unsigned(lines.size()) : 0;
        std::vector<Line> loops;
        if (view.summary || left >= 8)
            loops = (view.phases ? phase_lines : loop_lines)(
                job,
                view.summary ? left
                             : std::max<size_t>(left > rows.size() + 2 ? left - rows.size() - 2 : 0,
                                                std::min<size_t>(left / 3, 6)),
                view, width);
        unsigned space =
            left - std::min<unsigned>(left, unsigned(loops.size()) + (loops.empty() || view.summary ? 0 : 1));
        if (!view.summary && space) {
            const Layout layout = fit_columns(width, job);
            if (space > 1) {
                lines.push_back(heading(layout, view));
                space--;
            }
            const unsigned most = unsigned(rows.size()) > space ? unsigned(rows.size()) - space : 0;
            view.scroll = std::min(view.scroll, most);
            const double borrowed = most_borrowed(job, view);
            for (unsigned i = view.scroll; i < rows.size() && i < view.scroll + space; i++)
                lines.push_back(core_line(rows[i], layout, view, borrowed));
            if (most && !lines.empty())
                lines[0].add(print("  rows %u-%u of %zu", view.scroll + 1, view.scroll + space, rows.size()),
                             Style::dim);
            if (!loops.empty())
                lines.emplace_back();
        }
        for (Line& line : loops)
            lines.push_back(line);
    }
    lines.resize(std::min<size_t>(lines.size(), room));
    if (with_keys && height) {
        lines.resize(room);
        lines.push_back(keys(view));
    }
    for (Line& line : lines)
        line.fit(width);
    return lines;
}

std::vector<Line> list(const JobSample& job, const View& from, unsigned width)
{
    View view = from;
    view.plain_list = true;
    view.since_start |= job.over;
    std::vector<Line> lines = head(job, view, width);
    for (Line& line : summary(job))
        lines.push_back(line);
    if (!view.summary) {
        const Layout layout = fit_columns(width, job);
        lines.emplace_back();
        lines.push_back(heading(layout, view));
        const double borrowed = most_borrowed(job, view);
        for (const CoreLine& row : rows_of(job, view))
            lines.push_back(core_line(row, layout, view, borrowed));
    }
    for (const auto table : {loop_lines, phase_lines}) {
        const std::vector<Line> rows = table(job, 11, view, width);
        if (!rows.empty())
            lines.emplace_back();
        lines.insert(lines.end(), rows.begin(), rows.end());
    }
    return lines;
}

double next_interval(double interval, bool longer)
{
    static const double steps[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};
    if (longer) {
        for (double s : steps)
            if (s > interval * 1.01)
                return s;
        return std::max(interval, 60.0);
    }
    double best = std::min(interval, 0.1);
    for (double s : steps)
        if (s < interval * 0.99)
            best = s;
    return best;
}

} // namespace ws::top
