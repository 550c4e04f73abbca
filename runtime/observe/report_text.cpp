// SPDX-License-Identifier: MIT
//
// The report for people: at most 100 columns, except names, which stand last. ASCII, except what names contain.
#include "observe/report.h"

#include "observe/format.h"
#include "observe/parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>

namespace ws::observe {

namespace {

constexpr size_t most_rank_rows = 16; // with more ranks, or nodes, they are summarised
constexpr size_t most_rows = 20;      // of loops and calls
constexpr size_t most_changes = 8;    // of a node's cores

std::string time_text(double s)
{
    if (s == 0)
        return "0";
    if (s < 0)
        return "-" + time_text(-s);
    static constexpr struct {
        double unit;
        const char* name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    for (const auto& u : units)
        if (s >= 0.9995 * u.unit || u.unit == 1e-9) {
            const double x = s / u.unit;
            return format(x < 9.995 ? "%.2f %s" : x < 99.95 ? "%.1f %s" : "%.0f %s", x, u.name);
        }
    return "";
}

std::string count_text(double n)
{
    return n < 1e7 ? format("%.0f", n) : n < 1e10 ? format("%.4g M", n / 1e6) : format("%.4g G", n / 1e9);
}
std::string percent(double share) { return format("%.1f %%", 100 * share); }
std::string percent(double part, double whole) { return whole > 0 ? percent(part / whole) : "-"; }

// Control characters of a name would spoil the terminal.
std::string printable(const std::string& s)
{
    std::string p = s;
    for (char& c : p)
        if (static_cast<unsigned char>(c) < 32 || c == 127)
            c = '?';
    return p;
}

size_t width(const std::string& s) // of UTF-8: code points
{
    return size_t(
        std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Columns are as wide as they need to be; '<' at the start of a column's name means that the column is set flush left.
class Table {
public:
    explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    std::string text() const
    {
        const size_t columns = rows_[0].size();
        std::vector<bool> left(columns);
        std::vector<size_t> widths(columns);
        auto rows = rows_;
        for (size_t c = 0; c < columns; c++)
            if (!rows[0][c].empty() && rows[0][c][0] == '<') {
                left[c] = true;
                rows[0][c].erase(0, 1);
            }
        for (const auto& r : rows)
            for (size_t c = 0; c < columns; c++)
                widths[c] = std::max(widths[c], width(r[c]));
        std::string all;
        for (const auto& r : rows) {
            std::string line = "  ";
            for (size_t c = 0; c < columns; c++) {
                const std::string blanks(widths[c] - width(r[c]), ' ');
                line += (left[c] ? r[c] + blanks : blanks + r[c]) + "  ";
            }
            line.erase(line.find_last_not_of(' ') + 1);
            all += line + "\n";
        }
        return all;
    }

private:
    std::vector<std::vector<std::string>> rows_;
};

std::string plural(double n, const char* one) { return format("%.0f %s%s", n, one, n == 1 ? "" : "s"); }

std::string wrapped(const std::string& text, size_t columns)
{
    std::string out, line, word;
    for (size_t at = 0; at <= text.size(); at++) {
        if (at < text.size() && text[at] != ' ') {
            word += text[at];
            continue;
        }
        if (!line.empty() && width(line) + 1 + width(word) > columns) {
            out += line + "\n  ";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
        word.clear();
    }
    return out + line + "\n";
}

std::string head(const Report& r)
{
    const time_t seconds = time_t(r.started_unix_ns / 1000000000);
    char when[64] = "";
    if (tm t; localtime_r(&seconds, &t))
        std::strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &t);
    std::string s = "WORKSHARE REPORT   " + printable(r.program.substr(r.program.rfind('/') + 1)) + ", " +
                    plural(r.ranks, "rank") + " on " + plural(r.nodes, "node");
    if (r.cores > r.ranks)
        s += ", " + plural(r.cores - r.ranks, "worker");
    s += ", started " + std::string(when) + "\n\n";
    return r.verdict.empty() ? s.substr(0, s.size() - 1) : s + "  " + wrapped(printable(r.verdict), 96);
}

// The ranks that differ most in instructions per cycle.
std::string counters_by_rank(const Report& r)
{
    const RankRow *least = nullptr, *most = nullptr;
    const auto per_cycle = [](const RankRow& n) { return counters_of(n.counts).per_cycle; };
    for (const RankRow& n : r.rank) {
        if (per_cycle(n) == 0)
            continue;
        least = !least || per_cycle(n) < per_cycle(*least) ? &n : least;
        most = !most || per_cycle(n) > per_cycle(*most) ? &n : most;
    }
    if (least == most)
        return "";
    const auto text = [&](const RankRow& n) {
        return format("%.2f at %.2f GHz on rank %ld", per_cycle(n), 1e-9 * counters_of(n.counts).hertz, long(n.rank));
    };
    return "  by rank: from " + text(*least) + " to " + text(*most) + "\n";
}

std::string efficiencies(const Report& r)
{
    const Efficiency &a = r.as_is, &b = r.without_stealing;
    Table t({"<", "with sharing", "without (estimate)"});
    t.row({"elapsed", time_text(a.elapsed_s), time_text(b.elapsed_s)});
    for (const EfficiencyLevel& level : efficiency_levels)
        if (r.nodes > 1 || !level.of_nodes)
            t.row({std::string(2 * level.depth, ' ') + level.text, percent(a.*level.value), percent(b.*level.value)});
    std::string s = "\nEFFICIENCY\n" + t.text();
    if (const OpenMPEfficiency e = openmp_efficiency(r); e.parallel < 1) {
        Table levels({"<OpenMP's threads, with MPI as work", ""});
        for (const OpenMPLevel& level : openmp_levels)
            levels.row({(&level == openmp_levels ? "" : "  ") + std::string(level.text), percent(e.*level.value)});
        s += "\n" + levels.text();
    }
    if (const Counters c = counters_of(r.totals); c.hertz > 0)
        s += format("  %.2f instructions per cycle at %.2f GHz, in user code of the ranks' own threads\n", c.per_cycle,
                    1e-9 * c.hertz) +
             counters_by_rank(r);
    else if (!r.conditions.counters.empty())
        s += "  no instructions per cycle: " + printable(r.conditions.counters) + "\n";
    if (r.totals.borrowed_s > 0)
        s += format("  sharing made it about %.2f times as fast\n", r.speedup);
    return s;
}

std::string waiting(const RankCounts& c)
{
    if (c.blocked_s <= 0)
        return "";
    Table t({"<", "", "of the waiting", "times"});
    const double outside = c.waits_program_s + c.waits_gpu_s + c.waits_io_s;
    t.row({outside > 0 ? "waited, all ranks" : "waited in MPI, all ranks", time_text(c.blocked_s), "100 %", ""});
    const std::pair<const char*, double> kinds[] = {{"of it outside MPI, after ws_wait_begin", c.waits_program_s},
                                                    {"of it outside MPI, for a GPU", c.waits_gpu_s},
                                                    {"of it outside MPI, for files and sockets", c.waits_io_s}};
    for (const auto& [text, seconds] : kinds)
        if (seconds > 0)
            t.row({text, time_text(seconds), percent(seconds, c.blocked_s), ""});
    const auto row = [&](const char* lost, const TimePart& p) {
        t.row({std::string(lost) + p.text, time_text(p.seconds), percent(p.seconds, c.blocked_s),
               p.times < 0 ? "" : count_text(p.times)});
    };
    const std::vector<TimePart> parts = waiting_parts(c); // helped, handing over, the reasons, spun
    std::vector<TimePart> reasons(parts.begin() + 2, parts.end() - 1);
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const TimePart& x, const TimePart& y) { return x.seconds > y.seconds; });
    row("", parts[0]);
    row("", parts[1]);
    for (const TimePart& p : reasons)
        if (p.times > 0 || p.seconds > 0)
            row("lost: ", p);
    if (const TimePart& spun = parts.back(); spun.seconds >= 0.0005 * c.blocked_s)
        row("lost: ", spun);
    return "\nWAITING\n" + t.text();
}

std::string stealing(const RankCounts& c)
{
    const double iterations = c.iterations_kept + c.iterations_stolen;
    if (c.executions == 0)
        return "";
    std::string s = "\nSHARING\n";
    s +=
        format("  executions of ws loops: %s; shared: %s; with helpers: %s\n", count_text(c.executions).c_str(),
               count_text(c.executions_shared).c_str(), count_text(c.executions_helped).c_str());
    s += format("  iterations: %s kept, %s stolen (%s); chunks: %s kept, %s stolen\n",
                count_text(c.iterations_kept).c_str(), count_text(c.iterations_stolen).c_str(),
                percent(c.iterations_stolen, iterations).c_str(), count_text(c.chunks_kept).c_str(),
                count_text(c.chunks_stolen).c_str());
    s += format("  computed for others: %s; owners waited %s for helpers at the end of their loops\n",
                time_text(c.borrowed_s).c_str(), time_text(c.close_wait_s).c_str());
    for (const auto& [name, h] :
         {std::pair<const char*, const Histogram&>{"from claim to first iteration", c.steal_latency},
          {"from last iteration to return", c.return_latency}}) {
        if (h.total() == 0)
            continue;
        s +=
            format("\n  %s: half within %s, 95 %% within %s, all within %s\n", name, time_text(h.quantile(0.5)).c_str(),
                   time_text(h.quantile(0.95)).c_str(), time_text(h.longest()).c_str());
        double most = 0;
        unsigned first = latency_buckets, last = 0;
        for (unsigned i = 0; i < latency_buckets; i++)
            if (h.counts[i] > 0) {
                most = std::max(most, h.counts[i]);
                first = std::min(first, i);
                last = i;
            }
        for (unsigned i = first; i <= last; i++) {
            const size_t bar = size_t(std::ceil(50 * h.counts[i] / most));
            s += format("    below %8s %9s ", time_text(1e-9 * std::exp2(i + 1)).c_str(),
                        count_text(h.counts[i]).c_str()) +
                 std::string(bar, '#') + "\n";
        }
    }
    return s;
}

std::string loops(const Report& r)
{
    if (r.loops.empty())
        return "";
    Table t(
        {"execs", "iterations", "stolen", "chunks", "stolen", "own time", "borrowed", "waited", "longest", "<loop"});
    size_t shown = 0;
    for (const LoopFigures& l : r.loops) {
        if (shown++ == most_rows)
            break;
        const LoopCounts& c = l.counts;
        t.row({count_text(c.executions), count_text(c.iterations_kept + c.iterations_stolen),
               percent(c.iterations_stolen, c.iterations_kept + c.iterations_stolen),
               count_text(c.chunks_kept + c.chunks_stolen), percent(c.chunks_stolen, c.chunks_kept + c.chunks_stolen),
               time_text(c.computing_s) + (c.untimed_s > 0 ? "*" : ""), time_text(c.borrowed_s),
               time_text(c.close_wait_s), time_text(c.longest_chunk_s),
               printable(l.name) + (l.phase > 0 ? " in " + printable(path_text(r.phases[size_t(l.phase)].path)) : "")});
    }
    std::string s = "\nLOOPS (execs: executions; waited: for helpers, at their end; longest: chunk)\n" + t.text();
    if (r.loops.size() > most_rows)
        s += format("  ... and %s\n", plural(double(r.loops.size() - most_rows), "loop").c_str());
    if (r.totals.untimed_s > 0)
        s += "  * in part extrapolated from a sample\n";
    return s;
}

std::string cell(const RankColumn& c, double x) { return c.time ? time_text(x) : count_text(x); }

// A few rows are shown as they are; of many only the extremes, by name, and the median.
template <class Row> std::string rows_or_summary(const char* title, const char* what, const std::vector<Row>& rows,
                                                 const std::function<int64_t(const Row&)>& number,
                                                 const std::function<std::string(const Row&)>& note)
{
    std::string s = "\n" + std::string(title) +
                    " (helped: for others; borrowed: from others; waited: for helpers; stolen: iterations)\n";
    if (rows.size() <= most_rank_rows) {
        std::vector<std::string> head = {what};
        for (const RankColumn& c : rank_columns)
            head.push_back(c.text);
        head.push_back(what == std::string("node") ? "<efficiency" : "<");
        Table t(head);
        for (const Row& r : rows) {
            std::vector<std::string> cells = {std::to_string(number(r))};
            for (const RankColumn& c : rank_columns)
                cells.push_back(cell(c, r.counts.*c.value));
            cells.push_back(printable(note(r)));
            t.row(cells);
        }
        return s + t.text();
    }
    Table t({"<", "least", what, "quarter", "median", "three quarters", "most", what, "sum"});
    for (const RankColumn& c : rank_columns) {
        std::vector<std::pair<double, int64_t>> sorted;
        double sum = 0;
        for (const Row& r : rows) {
            sorted.push_back({r.counts.*c.value, number(r)});
            sum += r.counts.*c.value;
        }
        std::sort(sorted.begin(), sorted.end());
        auto at = [&](double q) { return cell(c, sorted[size_t(q * double(sorted.size() - 1))].first); };
        t.row({c.text, at(0), std::to_string(sorted.front().second), at(0.25), at(0.5), at(0.75), at(1),
               std::to_string(sorted.back().second), cell(c, sum)});
    }
    return s + t.text();
}

std::string ranks(const Report& r)
{
    return rows_or_summary<RankRow>(
        "RANKS", "rank", r.rank, [](const RankRow& n) { return n.rank; },
        [&](const RankRow& n) {
            std::string note = r.nodes > 1 ? format("node %ld", long(n.node)) : "";
            if (!n.inactive.empty())
                note += (note.empty() ? "" : "; ") + std::string("without sharing");
            return note;
        });
}

// The cores of a node's ranks over time, a line for each change: "after 3 periods, 1.20 s: 8+8 -> 11+5". In the middle
// of a change one rank has given cores that another has not taken yet; a line is of the time when all had.
std::vector<std::string> cores_over_time(const Report& r, int64_t node)
{
    struct CoreChange {
        double at_s = 0, periods = 0;
        std::map<int64_t, double> cores; // by rank
    };
    std::map<int64_t, CoreChange> changes;
    for (const RankRow& rank : r.rank)
        for (size_t i = 0; rank.node == node && i < rank.cores.size(); i++) {
            CoreChange& change = changes[rank.cores[i].deal];
            change.at_s = std::max(change.at_s, rank.cores[i].at_s);
            change.periods = std::max(change.periods, rank.cores[i].periods);
            change.cores[rank.rank] = rank.cores[i].cores;
        }
    std::map<int64_t, double> now;
    const auto sum = [&] {
        std::string text;
        size_t n = 0;
        for (const auto& [rank, cores] : now)
            if (n++ < most_rank_rows)
                text += (n > 1 ? "+" : "") + format("%.0f", cores);
        return n > most_rank_rows ? text + "+..." : text;
    };
    std::vector<std::string> lines;
    for (const auto& [number, change] : changes) {
        const std::string before = sum();
        for (const auto& [rank, cores] : change.cores)
            now[rank] = cores;
        lines.push_back(before.empty() ? sum()
                                       : "after " + plural(change.periods, "period") + ", " + time_text(change.at_s) +
                                             ": " + before + " -> " + sum());
    }
    if (lines.size() == 1)
        return {lines[0] + ", from begin to end"};
    if (!lines.empty())
        lines.erase(lines.begin()); // which the first change tells, too
    return lines;
}

// Only under -workshare-openmp, which says so by cores.
std::string openmp(const Report& r)
{
    const RankCounts& c = r.totals;
    if (c.openmp_cores == 0)
        return "";
    constexpr size_t shown = 16;
    std::string cores;
    for (size_t i = 0; i < r.rank.size() && i < shown; i++)
        cores += (i ? ", " : "") + format("%.0f", r.rank[i].counts.openmp_cores);
    std::string s = "\nCORES OF PARALLEL REGIONS\n";
    s += "  of the ranks, at the end: " + cores + (r.rank.size() > shown ? ", ...\n" : "\n");
    for (size_t n = 0; n < r.node.size() && n < most_rank_rows; n++) {
        const std::vector<std::string> lines = cores_over_time(r, r.node[n].node);
        const std::string of = r.node.size() > 1 ? format("node %ld: ", long(r.node[n].node)) : "";
        const size_t some = std::min(lines.size(), most_changes);
        for (size_t i = 0; i < some; i++)
            s += "  " + of + lines[i] + "\n";
        if (lines.size() > some)
            s += format("  %s... %s more; the last: ", of.c_str(),
                        plural(double(lines.size() - some), "change").c_str()) +
                 lines.back() + "\n";
    }
    if (r.node.size() > most_rank_rows)
        s += format("  ... and %s\n", plural(double(r.node.size() - most_rank_rows), "node").c_str());
    s += format("  %s regions had lent cores besides, %s of core time; %s of it beside threads that had come back\n",
                count_text(c.openmp_lent).c_str(), time_text(c.openmp_lent_s).c_str(),
                time_text(c.openmp_late_s).c_str());
    if (c.openmp_recalled > 0)
        s += format("  %s times the owner of such a core came back before the region was over; %s of those cores left "
                    "it then\n",
                    count_text(c.openmp_recalled).c_str(), count_text(c.openmp_left).c_str());
    if (c.openmp_beside > 0)
        s += format("  %s times a thread came to a core where a worker or a helper was in its last chunk, for %s\n",
                    count_text(c.openmp_beside).c_str(), time_text(c.openmp_beside_s).c_str());
    if (c.openmp_shared > 0)
        s += format(
            "  %s regions had cores of other jobs besides, %s of core time; %s of it beside ranks that had come back\n",
            count_text(c.openmp_shared).c_str(), time_text(c.openmp_shared_s).c_str(),
            time_text(c.openmp_shared_late_s).c_str());
    if (c.openmp_shared_recalled > 0)
        s += format("  %s times a rank of another job came back before the region with its core was over; %s of those "
                    "cores left it then\n",
                    count_text(c.openmp_shared_recalled).c_str(), count_text(c.openmp_shared_left).c_str());
    if (c.openmp_limited > 0)
        s += format("  %s regions could have had more cores, but the program asked for no more threads\n",
                    count_text(c.openmp_limited).c_str());
    if (c.openmp_given_s > 0)
        s += "  other jobs had cores of this one for " + time_text(c.openmp_given_s) + " of core time\n";
    return s;
}

// Only of programs with pools of tasks.
std::string tasks(const Report& r)
{
    if (r.totals.tasks_run == 0)
        return "";
    constexpr size_t shown = 16;
    std::string s =
        "\nTASKS\n  node        run   moved in  moved out  stayed: not worth it  no room  moved twice  none left\n";
    for (size_t i = 0; i < r.node.size() && i < shown; i++) {
        const RankCounts& c = r.node[i].counts;
        s += format("  %-5ld %9s  %9s  %9s  %20s  %7s  %11s  %9s\n", long(r.node[i].node),
                    count_text(c.tasks_run).c_str(), count_text(c.tasks_in).c_str(), count_text(c.tasks_out).c_str(),
                    count_text(c.tasks_kept_worth).c_str(), count_text(c.tasks_kept_room).c_str(),
                    count_text(c.tasks_kept_moved).c_str(), count_text(c.tasks_kept_none).c_str());
    }
    return s + (r.node.size() > shown ? "  ...\n" : "");
}

// Only of programs that use XMPI.
std::string moved_rows(const Report& r)
{
    const RankCounts& c = r.totals;
    if (c.flex_intervals == 0)
        return "";
    return "\nROWS THAT FOLLOW SPEED\n" +
           format("  %s looks of the ranks at balance; %s times their rows moved, %.4g MB sent and received in %s\n",
                  count_text(c.flex_intervals).c_str(), count_text(c.flex_moves).c_str(), c.flex_bytes * 1e-6,
                  time_text(c.flex_move_s).c_str()) +
           (c.flex_plans > 0 ? format("  %s plans were made, %s of them while the rank waited in MPI\n",
                                      count_text(c.flex_plans).c_str(), count_text(c.flex_plans_blocked).c_str())
                             : "") +
           (c.flex_expected_s > 0 ? format("  measured after moves: %.0f %% of the gain that was expected\n",
                                           100 * c.flex_gained_s / c.flex_expected_s)
                                  : "");
}

std::string nodes(const Report& r)
{
    if (r.node.size() < 2)
        return "";
    return rows_or_summary<NodeRow>(
        "NODES", "node", r.node, [](const NodeRow& n) { return n.node; },
        [](const NodeRow& n) {
            return percent(n.as_is.parallel) + " on " + n.host;
        });
}

std::string calls(const Report& r)
{
    if (r.calls.empty())
        return "";
    double all = 0;
    for (const CallFigures& c : r.calls)
        all += c.counts.time_s;
    Table t({"calls", "time", "of all", "waits", "blocked", "lent", "<call"});
    size_t shown = 0;
    for (const CallFigures& c : r.calls) {
        if (shown++ == most_rows)
            break;
        t.row({count_text(c.counts.calls), time_text(c.counts.time_s), percent(c.counts.time_s, all),
               count_text(c.counts.waits), time_text(c.counts.blocked_s), time_text(c.counts.lent_s),
               printable(c.name)});
    }
    std::string s = "\nMPI CALLS (all ranks; waits: those longer than the spin)\n" + t.text();
    if (r.calls.size() > most_rows)
        s += format("  ... and %s\n", plural(double(r.calls.size() - most_rows), "call").c_str());
    return s;
}

// The phases that took longest, in their order. A phase takes at least as long as those inside it, so each is shown
// behind the phase that it is in.
std::vector<const PhaseRowFigures*> longest_phases(const Report& r)
{
    std::vector<const PhaseRowFigures*> all;
    for (const PhaseRowFigures& p : r.phases)
        all.push_back(&p);
    if (all.size() <= most_rows)
        return all;
    std::stable_sort(all.begin(), all.end(),
                     [](auto* a, auto* b) { return a->whole.counts.wall_s > b->whole.counts.wall_s; });
    all.resize(most_rows);
    std::sort(all.begin(), all.end());
    return all;
}

std::string phase_name(const PhaseRowFigures& p)
{
    return p.path.empty() ? "(run)" : std::string(2 * (p.path.size() - 1), ' ') + printable(p.path.back());
}

// What the ranks waited for in a phase, and the reason for which most of it was lost.
std::string waiting_in_phases(const std::vector<const PhaseRowFigures*>& shown)
{
    Table t({"blocked", "lent", "lost", "<most of the loss", "<phase"});
    bool any = false;
    for (const PhaseRowFigures* p : shown) {
        const PhaseCounts& c = p->whole.counts;
        const unsigned most = unsigned(std::max_element(c.refused_s, c.refused_s + refusal_kinds) - c.refused_s);
        const double lost = std::max(0.0, c.blocked_s - c.lent_s);
        any = any || c.blocked_s > 0;
        t.row({time_text(c.blocked_s), time_text(c.lent_s), time_text(lost),
               c.refused_s[most] > 0 ? percent(c.refused_s[most], lost) + ": " + refusal_text(most) : "",
               phase_name(*p)});
    }
    return any ? "\nWAITING IN PHASES (lent: the part in which cores were lent)\n" + t.text() : "";
}

// What the processor's counters say of phases, each without those inside it.
std::string counters_in_phases(const std::vector<const PhaseRowFigures*>& shown)
{
    Table t({"computing", "counted", "instructions", "per cycle", "GHz", "<phase"});
    bool any = false;
    for (const PhaseRowFigures* p : shown) {
        const PhaseCounts& of = p->own.counts;
        const Counters c = counters_of(of);
        const bool has = c.hertz > 0;
        any = any || has;
        t.row({time_text(of.computing_s), percent(of.counted_s, of.computing_s),
               has ? format("%.3g", c.instructions) : "-", has ? format("%.2f", c.per_cycle) : "-",
               has ? format("%.2f", 1e-9 * c.hertz) : "-", phase_name(*p)});
    }
    return any ? "\nCOUNTERS IN PHASES without those inside them (counted: the part in which they were read)\n" +
                     t.text()
               : "";
}

// What each rank did in each phase, without those inside it, if that is not long.
std::string ranks_in_phases(const Report& r)
{
    size_t rows = 0;
    bool counted = false;
    for (const RankRow& n : r.rank) {
        rows += n.phases.size();
        for (const RankPhase& p : n.phases)
            counted = counted || counters_of(p.counts).hertz > 0;
    }
    if (rows == 0)
        return "";
    if (rows > most_rows)
        return "\n  Figures of each rank in each phase are in reports as JSON, CSV and HTML.\n";
    std::vector<std::string> head = {"rank", "elapsed",  "computing", "blocked",
                                     "lent", "borrowed", "cores",     "parallel"};
    if (counted)
        head.insert(head.end(), {"per cycle", "GHz"});
    head.push_back("<phase");
    Table t(head);
    for (size_t i = 0; i < r.phases.size(); i++)
        for (const RankRow& n : r.rank)
            for (const RankPhase& p : n.phases)
                if (size_t(p.phase) == i) {
                    const PhaseCounts& c = p.counts;
                    std::vector<std::string> cells = {
                        std::to_string(n.rank),  time_text(c.wall_s), time_text(c.computing_s), time_text(c.blocked_s),
                        time_text(c.lent_s), time_text(c.borrowed_s), format("%.2f", p.cores), percent(p.parallel)};
                    if (const Counters of = counters_of(c); counted) {
                        cells.push_back(of.hertz > 0 ? format("%.2f", of.per_cycle) : "-");
                        cells.push_back(of.hertz > 0 ? format("%.2f", 1e-9 * of.hertz) : "-");
                    }
                    cells.push_back(phase_name(r.phases[i]));
                    t.row(cells);
                }
    return "\nRANKS IN PHASES without those inside them (parallel: of the rank's core)\n" + t.text();
}

std::string phases(const Report& r)
{
    if (r.phases.size() < 2)
        return "";
    Table t({"times", "elapsed", "own", "loops", "borrowed", "cores", "parallel", "balance", "| elapsed", "balance",
             "<phase"});
    const std::vector<const PhaseRowFigures*> shown = longest_phases(r);
    for (const PhaseRowFigures* row : shown) {
        const PhasePart& p = row->whole;
        t.row({count_text(p.counts.entered), time_text(p.counts.wall_s), time_text(row->own.counts.wall_s),
               time_text(p.counts.loops_s), time_text(p.counts.borrowed_s), format("%.2f", p.cores),
               percent(p.as_is.parallel), percent(p.as_is.load_balance), time_text(p.without_stealing.elapsed_s),
               percent(p.without_stealing.load_balance), phase_name(*row)});
    }
    const size_t rest = r.phases.size() - shown.size();
    return "\nPHASES with those inside them (own: elapsed without these; behind |: estimate without sharing)\n" +
           t.text() + (rest ? format("  ... and %s that took less\n", plural(double(rest), "phase").c_str()) : "") +
           waiting_in_phases(shown) + counters_in_phases(shown) + ranks_in_phases(r);
}

} // namespace

std::string report_text(const Report& r)
{
    return head(r) + efficiencies(r) + waiting(r.totals) + stealing(r.totals) + openmp(r) + tasks(r) + moved_rows(r) +
           loops(r) + nodes(r) + ranks(r) + calls(r) + phases(r);
}

ReportFormat report_format(const std::string& file)
{
    auto ends = [&](const std::string& end) {
        return file.size() > end.size() && file.compare(file.size() - end.size(), end.size(), end) == 0;
    };
    return ends(".json")   ? ReportFormat::json
           : ends(".csv")  ? ReportFormat::csv
           : ends(".html") ? ReportFormat::html
                           : ReportFormat::text;
}

std::string report_as(ReportFormat format, const Report& r)
{
    switch (format) {
    case ReportFormat::json: return report_json(r);
    case ReportFormat::csv: return report_csv(r);
    case ReportFormat::html: return report_html({NamedReport{"", &r}});
    default: return report_text(r);
    }
}

// ---- two reports

namespace {

std::string change(double a, double b)
{
    return a > 0 && b > 0 ? format("%.3g", b / a) : a == b ? "1" : b > 0 ? "new" : "gone";
}

} // namespace

std::string report_comparison(const Report& a, const Report& b, const std::string& name_a, const std::string& name_b)
{
    std::string s = "A: " + printable(name_a) + "\n   " + printable(a.verdict) + "\nB: " + printable(name_b) + "\n   " +
                    printable(b.verdict) + "\n";
    if (a.program != b.program)
        s += "The programs differ: A ran " + printable(a.program) + ", B ran " + printable(b.program) + ".\n";
    if (a.ranks != b.ranks || a.nodes != b.nodes || a.cores != b.cores)
        s += "A: " + plural(a.ranks, "rank") + ", " + plural(a.cores, "core") + ", " + plural(a.nodes, "node") +
             "; B: " + plural(b.ranks, "rank") + ", " + plural(b.cores, "core") + ", " + plural(b.nodes, "node") +
             ".\n";
    Table t({"<", "A", "B", "B / A"});
    for (const Compared& c : compare({&a, &b})) {
        const auto text = [&](double x) {
            return c.kind == Compared::time ? time_text(x) : c.kind == Compared::share ? percent(x) : count_text(x);
        };
        t.row({std::string(2 * c.depth, ' ') + c.text, text(c.values[0]), text(c.values[1]),
               change(c.values[0], c.values[1])});
    }
    s += "\n" + t.text();
    for (const auto& [of, report] : {std::pair("A", &a), std::pair("B", &b)})
        for (size_t n = 0; n < report->node.size() && n < most_rank_rows; n++)
            if (const auto lines = cores_over_time(*report, report->node[n].node); !lines.empty())
                s += format("%scores of parallel regions, %s", n ? "" : "\n", of) +
                     (report->node.size() > 1 ? format(", node %ld: ", long(report->node[n].node)) : ": ") +
                     lines.back() + "\n";

    Table loops({"A", "B", "B / A", "stolen A", "stolen B", "<loop (time of owners and helpers)"});
    const std::vector<ComparedLoop> both = compare_loops({&a, &b});
    for (size_t i = 0; i < both.size() && i < most_rows; i++) {
        const ComparedLoop& l = both[i];
        loops.row({time_text(l.seconds[0]), time_text(l.seconds[1]), change(l.seconds[0], l.seconds[1]),
                   percent(l.stolen[0]), percent(l.stolen[1]), printable(l.name)});
    }
    if (!both.empty())
        s += "\n" + loops.text();
    return s;
}

} // namespace ws::observe
