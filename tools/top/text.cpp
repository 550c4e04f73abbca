// SPDX-License-Identifier: MIT
#include "text.h"

#include "watch.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ws::top {

using observe::Refusal;
using observe::Seated;

namespace {

template <class... Values>
std::string print(const char* format, Values... values)
{
    char text[512];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

std::string counted(uint64_t n, const char* one, const char* many)
{
    return print("%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

std::string percent(double share) { return print("%.0f", 100 * share); }

// In five characters.
std::string number(double n)
{
    if (n < 9.95 && n > 0)
        return print("%.1f", n);
    if (n < 99999.5)
        return print("%.0f", n);
    const char* unit = "kMGTPE";
    for (n /= 1000; n >= 999.5 && unit[1]; unit++)
        n /= 1000;
    return print(n < 99.95 ? "%.1f%c" : "%.0f%c", n, *unit);
}

std::string number(uint64_t n) { return n < 100000 ? std::to_string(n) : number(double(n)); }

// The first `n` characters.
std::string cut(const std::string& text, unsigned n)
{
    size_t i = 0;
    for (unsigned seen = 0; i < text.size(); i++)
        if ((text[i] & 0xc0) != 0x80 && seen++ == n)
            break;
    return text.substr(0, i);
}

// All but the first `n` characters.
std::string behind(const std::string& text, unsigned n) { return text.substr(cut(text, n).size()); }

std::string padded(const std::string& text, int width) // negative: to the left
{
    const unsigned want = unsigned(std::abs(width)), has = width_of(text);
    if (has > want)
        return cut(text, want);
    const std::string blanks(want - has, ' ');
    return width < 0 ? text + blanks : blanks + text;
}

std::string where(const std::string& program)
{
    const size_t slash = program.rfind('/');
    return slash == std::string::npos ? program : program.substr(slash + 1);
}

// Without the folders of a file's absolute path; a name that the program gave is left alone.
std::string short_loop(const std::string& name)
{
    const size_t colon = name.find(':'), slash = name.rfind('/', colon);
    return name[0] == '/' && slash != std::string::npos ? name.substr(slash + 1) : name;
}

// The same where there is little room: without folders at all, if it is file:line:function.
std::string shorter_loop(const std::string& name)
{
    const size_t colon = name.find(':'), slash = name.rfind('/', colon);
    if (colon == std::string::npos || slash == std::string::npos)
        return name;
    const size_t end = name.find_first_not_of("0123456789", colon + 1);
    return end != std::string::npos && end > colon + 1 && name[end] == ':' ? name.substr(slash + 1) : name;
}

struct Row {
    const RankSample* rank;
    const CoreSample* core;
    size_t number; // of the worker, from 1
    bool home;
};

const Shares& shares_of(const Row& row, const View& view)
{
    if (row.home)
        return view.since_start ? row.rank->total : row.rank->interval;
    return view.since_start ? row.core->total : row.core->interval;
}

std::string ranks_text(const std::vector<GuestSample>& guests)
{
    std::string text;
    for (size_t i = 0; i < guests.size(); i++) {
        if (i == 4 && guests.size() > 5)
            return text + print(" and %zu more", guests.size() - i);
        text += (i ? "," : "") + std::to_string(guests[i].on);
    }
    return text;
}

void describe(Line& line, const Row& row, unsigned width)
{
    const RankSample& r = *row.rank;
    const CoreSample& c = *row.core;
    std::string text;
    Style style = Style::plain;
    if (r.condition == Condition::died) {
        text = "died";
        style = Style::alert;
    } else if (r.condition == Condition::finished) {
        text = "finished";
        style = Style::dim;
    } else if (r.inactive) {
        text = "runs without stealing";
        style = Style::alert;
    } else {
        const std::string call = c.call.empty() ? row.home ? "in MPI" : "no work" : c.call;
        switch (c.state) {
        case Seated::computing:
            text = row.home ? "computing" : "helps its rank";
            style = Style::computing;
            break;
        case Seated::blocked:
            text = call + " " + duration(row.home ? c.wait_s : c.state_s);
            style = Style::waiting;
            break;
        case Seated::asleep:
            text = call + " " + duration(row.home ? c.wait_s : c.state_s) + ", asleep";
            style = Style::waiting;
            break;
        case Seated::lent:
            text = print("lent to %d", c.tenant) + (c.call.empty() ? "" : ", " + c.call) +
                   (c.loop.empty() ? "" : ": " + shorter_loop(c.loop));
            style = Style::lent;
            break;
        default: text = "not yet there"; style = Style::dim;
        }
        if (row.home && !r.guests.empty()) {
            line.add(cut(text, width), style);
            std::string guests = print(" +%zu on %s", r.guests.size(), ranks_text(r.guests).c_str());
            if (!r.guests[0].loop.empty())
                guests += ": " + shorter_loop(r.guests[0].loop);
            const unsigned has = width_of(cut(text, width));
            line.add(padded(guests, -int(width - has)), Style::borrowed);
            return;
        }
    }
    line.add(padded(text, -int(width)), style);
}

void bar(Line& line, const Shares& s, unsigned width)
{
    const unsigned computing = unsigned(std::lround(s.computing * width));
    const unsigned lent = std::min(width - computing, unsigned(std::lround(s.lent * width)));
    const unsigned waiting = std::min(width - computing - lent, unsigned(std::lround(s.waiting * width)));
    line.add(std::string(computing, '#'), Style::computing);
    line.add(std::string(lent, '='), Style::lent);
    line.add(std::string(waiting, '.'), Style::waiting);
    line.add(std::string(width - computing - lent - waiting, ' '));
}

// The columns that fit, from the most to the least important; the state takes what is left.
struct Layout {
    unsigned rank = 5, state = 12, bar = 0, borrowed_bar = 0;
    bool tasks = false, efficiency = false, shares = false, steals = false, chunks = false, pid = false;
};

double counted(const RankSample& r, const char* name)
{
    for (const Counter& c : r.counters)
        if (std::strcmp(c.name, name) == 0)
            return c.value;
    return 0;
}
bool has_tasks(const RankSample& r) { return counted(r, "tasks_run") > 0 || counted(r, "tasks_waiting") > 0; }

Layout fit_columns(unsigned width, const JobSample& job)
{
    Layout l;
    l.rank = std::max(5u, unsigned(std::to_string(job.size - 1).size()) + 1);
    unsigned used = l.rank + 1 + 14;
    auto take = [&](unsigned columns) {
        if (used + columns > width)
            return false;
        used += columns;
        return true;
    };
    if (take(9))
        l.bar = 8;
    // For programs that have tasks, how many wait is what matters.
    l.tasks = std::any_of(job.ranks.begin(), job.ranks.end(), has_tasks) && take(7);
    l.efficiency = take(5);
    l.steals = l.efficiency && take(8);
    if (l.steals && take(20))
        l.shares = true;
    l.chunks = l.shares && take(7);
    unsigned left = width > used ? width - used : 0;
    if (l.chunks && left >= 34) {
        l.pid = true;
        l.borrowed_bar = 8;
        left -= 17;
    }
    if (l.bar && left > 20) {
        const unsigned more = std::min(left - 20, 20u) / 2;
        l.bar += more;
        left -= more;
    }
    l.state = std::min(14 + left, width > l.rank + 1 ? width - l.rank - 1 : 0);
    return l;
}

Line heading(const Layout& l, const View& view)
{
    auto mark = [&](const char* name, Column c) {
        return std::string(name) + (view.sort == c && !view.plain_list ? (view.reverse ? "^" : "v") : "");
    };
    Line line;
    line.add(padded(mark("RANK", Column::rank), int(l.rank)) + " ", Style::heading);
    line.add(padded(mark("STATE", Column::state), -int(l.state)), Style::heading);
    if (l.bar)
        line.add(" " + padded(l.bar >= 17 ? "#COMP =LENT .WAIT" : "USE", -int(l.bar)), Style::heading);
    if (l.shares)
        line.add(padded(mark("COMP", Column::computing), 5) + padded(mark("LENT", Column::lent), 5) +
                     padded(mark("WAIT", Column::waiting), 5) + padded(mark("BORR", Column::borrowed), 5),
                 Style::heading);
    if (l.borrowed_bar)
        line.add(" " + padded("+BORROW", -int(l.borrowed_bar)), Style::heading);
    if (l.tasks)
        line.add(padded("TASKS", 7), Style::heading);
    if (l.efficiency)
        line.add(padded(mark("EFF", Column::efficiency), 5), Style::heading);
    if (l.steals)
        line.add(padded(mark("STEAL/s", Column::steals), 8), Style::heading);
    if (l.chunks)
        line.add(padded(mark("CHUNKS", Column::chunks), 7), Style::heading);
    if (l.pid)
        line.add(padded("PID", 8), Style::heading);
    return line;
}

Line core_line(const Row& row, const Layout& l, const View& view, double most_borrowed)
{
    const RankSample& r = *row.rank;
    const Shares& s = shares_of(row, view);
    const bool known =
        !r.inactive && (view.since_start || r.condition == Condition::running || s.computing + s.waiting + s.lent > 0);
    auto share = [&](double part) { return padded(known ? percent(part) : "-", 5); };
    Line line;
    line.add(padded(row.home ? std::to_string(r.rank) : "+" + std::to_string(row.number), int(l.rank)) + " ",
             row.home ? Style::strong : Style::dim);
    describe(line, row, l.state);
    if (l.bar) {
        line.add(" ");
        bar(line, known ? s : Shares(), l.bar);
    }
    if (l.shares)
        line.add(share(s.computing) + share(s.lent) + share(s.waiting) + (row.home ? share(s.borrowed) : ""));
    if (l.borrowed_bar) {
        const unsigned full = row.home && known && most_borrowed > 0
                                  ? unsigned(std::lround(std::min(1.0, s.borrowed / most_borrowed) * l.borrowed_bar))
                                  : 0;
        line.add(" ").add(std::string(full, '+'), Style::borrowed).add(std::string(l.borrowed_bar - full, ' '));
    }
    if (!row.home)
        return line;
    if (l.tasks)
        line.add(padded(number(counted(r, "tasks_waiting")), 7));
    if (l.efficiency)
        line.add(share(s.computing + s.borrowed), Style::strong);
    if (l.steals)
        line.add(padded(view.since_start ? number(r.seconds > 0 ? double(r.chunks_stolen) / r.seconds : 0)
                                         : number(r.steals_per_s),
                        8));
    if (l.chunks)
        line.add(padded(number(r.chunks_stolen), 7));
    if (l.pid)
        line.add(padded(std::to_string(r.pid), 8), Style::dim);
    return line;
}

double sort_key(const RankSample& r, const View& view)
{
    const Shares& s = view.since_start ? r.total : r.interval;
    switch (view.sort) {
    case Column::state: return r.cores.empty() ? 0 : double(r.cores[0].state);
    case Column::computing: return -s.computing;
    case Column::lent: return -s.lent;
    case Column::waiting: return -s.waiting;
    case Column::borrowed: return -s.borrowed;
    case Column::efficiency: return -(s.computing + s.borrowed);
    case Column::steals:
        return view.since_start && r.seconds > 0 ? -double(r.chunks_stolen) / r.seconds : -r.steals_per_s;
    case Column::chunks: return -double(r.chunks_stolen);
    default: return r.rank;
    }
}

std::vector<Row> rows_of(const JobSample& job, const View& view)
{
    std::vector<const RankSample*> order;
    for (const RankSample& r : job.ranks)
        order.push_back(&r);
    std::stable_sort(order.begin(), order.end(), [&](const RankSample* a, const RankSample* b) {
        const double x = sort_key(*a, view), y = sort_key(*b, view);
        return view.reverse ? x > y : x < y;
    });
    std::vector<Row> rows;
    for (const RankSample* r : order)
        for (size_t c = 0; c < r->cores.size(); c++)
            rows.push_back({r, &r->cores[c], c, c == 0});
    return rows;
}

// The job in a few lines.
std::vector<Line> head(const JobSample& job, const View& view, unsigned width)
{
    std::vector<Line> lines(1);
    lines[0].add(where(job.program), Style::strong).add("  job " + job_name(job.id).substr(0, 8)).add("  ");
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
        why += (why.empty() ? "helped nobody, as " : ", ") + std::string(refusal_text(Refusal(k))) + " " +
               percent(-share) + " %";
    if (m.shares.waiting > 0.02 && !why.empty())
        lines.emplace_back().add(why, Style::waiting);

    if (job.partial()) {
        Line partial;
        partial.add(job.died || job.over
                        ? "The others were over before, or run on other nodes, and cannot be seen from here."
                        : "The others run on other nodes, or have ended, and cannot be seen from here.",
                    Style::dim);
        lines.push_back(partial);
    }
    unsigned inactive = 0;
    for (const RankSample& r : job.ranks)
        inactive += r.inactive;
    if (inactive)
        lines.emplace_back().add(counted(inactive, "rank runs", "ranks run") +
                                     " without stealing: the job's last line on stderr will say why",
                                 Style::alert);
    return lines;
}

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

// How many ranks do what.
std::vector<Line> summary(const JobSample& job)
{
    std::map<std::string, unsigned> calls, tenants;
    unsigned computing = 0, waiting = 0, asleep = 0, lent = 0, over = 0, workers = 0, helping = 0;
    for (const RankSample& r : job.ranks) {
        if (r.condition != Condition::running) {
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

std::vector<Line> loop_lines(const JobSample& job, size_t most, unsigned width)
{
    std::vector<Line> lines;
    if (job.loops.empty() || most < 2)
        return lines;
    const bool wide = width >= 76;
    const unsigned numbers = wide ? 47 : 22, name = width > numbers ? width - numbers : 0;
    lines.emplace_back().add(padded("LOOP", -int(name)) + "  OWN% GUEST%  STEAL/s" +
                                 (wide ? "   RUNS/s  STOLEN    KEPT" : ""),
                             Style::heading);
    for (size_t i = 0; i < job.loops.size() && i + 1 < most; i++) {
        const LoopSample& l = job.loops[i];
        std::string shown = short_loop(l.name);
        if (width_of(shown) > name) // its end tells more
            shown = name > 3 ? "..." + behind(shown, width_of(shown) - (name - 3)) : cut(shown, name);
        Line line;
        line.add(padded(shown, -int(name)));
        line.add(padded(percent(l.owner_share), 6), Style::computing)
            .add(padded(percent(l.guest_share), 7), Style::borrowed)
            .add(padded(number(l.steals_per_s), 9));
        if (wide)
            line.add(padded(number(l.regions_per_s), 9) + padded(number(l.chunks_stolen), 8) +
                     padded(number(l.chunks_kept), 8));
        lines.push_back(line);
    }
    return lines;
}

double most_borrowed(const JobSample& job, const View& view)
{
    double most = 1;
    for (const RankSample& r : job.ranks)
        most = std::max(most, view.since_start ? r.total.borrowed : r.interval.borrowed);
    return most;
}

const char* const help_text[] = {
    "ws-top shows the -workshare jobs of this node.",
    "",
    "q             quit",
    "s S           sort by the next, the previous column",
    "r             the other way around",
    "t             shares since the job began, or since the last refresh",
    "m             summary: no rows",
    "p, blank      pause",
    "j J           next, previous job",
    "+ -           refresh more seldom, more often",
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

unsigned width_of(const std::string& text)
{
    return unsigned(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

Line& Line::add(const std::string& text, Style style)
{
    if (!text.empty())
        pieces.push_back({text, style});
    return *this;
}

unsigned Line::width() const
{
    unsigned sum = 0;
    for (const Piece& p : pieces)
        sum += width_of(p.text);
    return sum;
}

std::string Line::text() const
{
    std::string all;
    for (const Piece& p : pieces)
        all += p.text;
    return all;
}

void Line::fit(unsigned width)
{
    if (this->width() <= width)
        return;
    const std::string all = text();
    // What is only blanks beyond the edge is not missed.
    const size_t last = all.find_last_not_of(' ');
    const bool missed = last != std::string::npos && width_of(all.substr(0, last + 1)) > width;
    unsigned left = missed && width ? width - 1 : width;
    std::vector<Piece> kept;
    for (Piece& p : pieces) {
        kept.push_back({cut(p.text, left), p.style});
        left -= width_of(kept.back().text);
    }
    pieces = std::move(kept);
    if (missed && width)
        add(">", Style::dim);
}

const char* column_name(Column column)
{
    static const char* const names[columns] = {"rank",     "state",      "computing", "lent",  "waiting",
                                               "borrowed", "efficiency", "steals",    "chunks"};
    return names[int(column)];
}

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
        lines.emplace_back().add("no -workshare job runs on this node; waiting for one", Style::strong);
    } else {
        const size_t which = shown_job(jobs, view);
        const JobSample& job = jobs[which];
        std::vector<Line> top = head(job, view, width);
        if (jobs.size() > 1)
            top[0].add(print("  (job %zu of %zu)", which + 1, jobs.size()), Style::dim);
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
        const std::vector<Row> rows = rows_of(job, view);
        const unsigned left = room > lines.size() ? room - unsigned(lines.size()) : 0;
        std::vector<Line> loops;
        if (view.summary || left >= 8)
            loops = loop_lines(job,
                               view.summary ? left
                                            : std::max<size_t>(left > rows.size() + 2 ? left - rows.size() - 2 : 0,
                                                               std::min<size_t>(left / 3, 6)),
                               width);
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
        for (const Row& row : rows_of(job, view))
            lines.push_back(core_line(row, layout, view, borrowed));
    }
    const std::vector<Line> loops = loop_lines(job, 11, width);
    if (!loops.empty())
        lines.emplace_back();
    lines.insert(lines.end(), loops.begin(), loops.end());
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

std::string duration(double s)
{
    if (s < 0.9995e-3)
        return print("%.0fus", s * 1e6);
    if (s < 0.9995)
        return print(s < 9.995e-3 ? "%.1fms" : "%.0fms", s * 1e3);
    if (s < 59.95)
        return print("%.1fs", s);
    const long whole = std::lround(s);
    return whole < 3600 ? print("%ld:%02ld", whole / 60, whole % 60)
                        : print("%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

} // namespace ws::top
