// SPDX-License-Identifier: MIT
#include "rows.h"

#include "words.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace ws::top {

using observe::Seated;

namespace {

const Shares& shares_of(const CoreLine& row, const View& view)
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

void describe(Line& line, const CoreLine& row, unsigned width)
{
    const RankSample& r = *row.rank;
    const CoreSample& c = *row.core;
    std::string text;
    Style style = Style::plain;
    if (r.condition == RankCondition::died) {
        text = "died";
        style = Style::alert;
    } else if (r.condition == RankCondition::finished) {
        text = "finished";
        style = Style::dim;
    } else if (r.inactive) {
        text = "runs without sharing";
        style = Style::alert;
    } else {
        const std::string call = c.call.empty() ? row.home ? "in MPI" : "no work" : c.call;
        switch (c.state) {
        case Seated::computing:
            text = !row.home ? "helps its rank" : r.phase.empty() ? "computing" : "computing, " + r.phase;
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

double counted(const RankSample& r, const char* name)
{
    for (const Counter& c : r.counters)
        if (std::strcmp(c.name, name) == 0)
            return c.value;
    return 0;
}
bool has_tasks(const RankSample& r) { return counted(r, "tasks_run") > 0 || counted(r, "tasks_waiting") > 0; }

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

} // namespace

std::vector<CoreLine> rows_of(const JobSample& job, const View& view)
{
    std::vector<const RankSample*> order;
    for (const RankSample& r : job.ranks)
        order.push_back(&r);
    std::stable_sort(order.begin(), order.end(), [&](const RankSample* a, const RankSample* b) {
        const double x = sort_key(*a, view), y = sort_key(*b, view);
        return view.reverse ? x > y : x < y;
    });
    std::vector<CoreLine> rows;
    for (const RankSample* r : order)
        for (size_t c = 0; c < r->cores.size(); c++)
            rows.push_back({r, &r->cores[c], c, c == 0});
    return rows;
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

Line core_line(const CoreLine& row, const Layout& l, const View& view, double most_borrowed)
{
    const RankSample& r = *row.rank;
    const Shares& s = shares_of(row, view);
    const bool known = !r.inactive && (view.since_start || r.condition == RankCondition::running ||
                                       s.computing + s.waiting + s.lent > 0);
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

double most_borrowed(const JobSample& job, const View& view)
{
    double most = 1;
    for (const RankSample& r : job.ranks)
        most = std::max(most, view.since_start ? r.total.borrowed : r.interval.borrowed);
    return most;
}

const char* column_name(Column column)
{
    static const char* const names[columns] = {"rank",     "state",      "computing", "lent",  "waiting",
                                               "borrowed", "efficiency", "steals",    "chunks"};
    return names[int(column)];
}

} // namespace ws::top
