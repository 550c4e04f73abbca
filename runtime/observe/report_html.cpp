// SPDX-License-Identifier: MIT
//
// The report as a page for a browser: one file, without network. What the page shows is computed here and in parts.cpp
// and put into it as JSON; page.html only draws it.
#include "observe/format.h"
#include "observe/parts.h"
#include "report_page.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

namespace ws::observe {

namespace {

using Json = nlohmann::ordered_json;

// More digits than a page shows.
Json number(double x)
{
    if (!std::isfinite(x))
        return 0;
    if (x == std::floor(x) && std::fabs(x) < 1e15)
        return int64_t(x);
    return std::strtod(format(std::fabs(x) < 1000 ? "%.4g" : "%.5g", x).c_str(), nullptr);
}

// Appends two letters for a number from 0 to 1155. As JSON's numbers, the slices would be a third of a large page.
void put_letters(std::string& to, double x)
{
    constexpr int letters = 34;
    constexpr char first = ']'; // up to ~ no letter means something to JSON or HTML
    const int n = int(std::lround(std::min(std::max(0.0, x), letters * letters - 1.0)));
    to += char(first + n / letters);
    to += char(first + n % letters);
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string title_of(const Report& r)
{
    const auto plural = [](double n, const char* one) { return format("%.0f %s%s", n, one, n == 1 ? "" : "s"); };
    return plural(r.ranks, "rank") + " on " + plural(r.nodes, "node") +
           (r.cores > r.ranks ? ", " + plural(r.cores - r.ranks, "worker") : "");
}

// The verdict's first clause is the result, the others explain it.
Json verdict(const std::string& line)
{
    constexpr char begin[] = "workshare: ";
    const std::string text = line.compare(0, sizeof begin - 1, begin) == 0 ? line.substr(sizeof begin - 1) : line;
    const size_t end = text.find("; ");
    return end == text.npos ? Json{text, ""} : Json{text.substr(0, end), text.substr(end + 2)};
}

Json efficiencies(const Efficiency& with, const Efficiency& without, double nodes)
{
    Json tree = Json::array();
    for (const EfficiencyLevel& level : efficiency_levels)
        if (nodes > 1 || !level.of_nodes)
            tree.push_back({level.text, level.depth, number(with.*level.value), number(without.*level.value)});
    return tree;
}

// Behind the tree, without an estimate.
void add_openmp(Json& tree, const Report& r)
{
    if (const OpenMPEfficiency e = openmp_efficiency(r); e.parallel < 1)
        for (const OpenMPLevel& level : openmp_levels)
            tree.push_back({level.text, &level == openmp_levels ? 0 : 1, number(e.*level.value), nullptr});
}

Json ranks_of(const Report& r)
{
    Json names = Json::array(), sums = Json::array(), rows = Json::array();
    for (const TimePart& p : time_parts(r.totals)) {
        names.push_back({p.name, p.text});
        sums.push_back({number(p.seconds), p.times < 0 ? Json() : number(p.times)});
    }
    for (const RankRow& n : r.rank) {
        Json parts = Json::array();
        for (const TimePart& p : time_parts(n.counts))
            parts.push_back(number(p.seconds));
        rows.push_back({n.rank, n.node, std::move(parts), number(n.counts.borrowed_s), n.inactive});
    }
    return {{"parts", names}, {"sums", sums}, {"rows", rows}};
}

// One text for each figure: the slices of the first rank, then those of the next. Null if a rank has none.
Json over_time(const Report& r)
{
    std::string computing, lent, borrowed;
    double most = 1;
    for (const RankRow& n : r.rank)
        for (const TimeSlice& s : n.over_time)
            most = std::max(most, s.borrowed);
    constexpr double steps = 1000;
    const size_t slices = r.rank.empty() ? 0 : r.rank[0].over_time.size();
    for (const RankRow& n : r.rank) {
        if (n.over_time.size() != slices || slices == 0)
            return {};
        for (const TimeSlice& s : n.over_time) {
            put_letters(computing, steps * s.computing);
            put_letters(lent, steps * s.lent);
            put_letters(borrowed, steps * s.borrowed / most);
        }
    }
    if (slices == 0)
        return {};
    return {{"slices", slices},
            {"computing", computing},
            {"lent", lent},
            {"borrowed", borrowed},
            {"units", {{"computing", 1 / steps}, {"lent", 1 / steps}, {"borrowed", most / steps}}}};
}

// The moments at which the cores of each rank's parallel regions changed. Null without -workshare-openmp.
Json openmp_cores(const Report& r)
{
    Json all = Json::array();
    bool any = false;
    for (const RankRow& n : r.rank) {
        Json changes = Json::array();
        for (const CoresFrom& c : n.cores)
            changes.push_back({number(c.at_s), number(c.cores)});
        any = any || !changes.empty();
        all.push_back(std::move(changes));
    }
    return any ? all : Json();
}

Json loops_of(const Report& r)
{
    Json rows = Json::array(), causes = Json::array();
    for (const LoopFigures& l : r.loops) {
        const LoopCounts& c = l.counts;
        const double iterations = c.iterations_kept + c.iterations_stolen;
        rows.push_back({l.name, number(c.executions), number(iterations),
                        number(iterations > 0 ? c.iterations_stolen / iterations : 0), number(c.computing_s),
                        number(c.borrowed_s), number(c.close_wait_s), number(c.longest_chunk_s), unsigned(l.cause),
                        l.phase > 0              ? Json(path_text(r.phases[size_t(l.phase)].path))
                        : l.phase == several_phases ? Json("several")
                                                    : Json("")});
    }
    for (unsigned i = 0; i < unsigned(LoopCause::kinds); i++)
        causes.push_back({words_of(LoopCause(i)).text, words_of(LoopCause(i)).remedy});
    return {{"rows", rows}, {"causes", causes}};
}

Json nodes_of(const Report& r)
{
    Json rows = Json::array();
    for (const NodeRow& n : r.node) {
        Json row = {n.node, n.host, number(n.ranks), number(n.cores), number(n.as_is.parallel),
                    number(n.without_stealing.parallel)};
        for (const RankColumn& c : rank_columns)
            row.push_back(number(n.counts.*c.value));
        rows.push_back(std::move(row));
    }
    return rows;
}

Json calls_of(const Report& r)
{
    Json rows = Json::array();
    for (const CallFigures& c : r.calls)
        rows.push_back({c.name, number(c.counts.calls), number(c.counts.time_s), number(c.counts.waits),
                        number(c.counts.blocked_s), number(c.counts.lent_s)});
    return rows;
}

Json phases_of(const Report& r)
{
    Json rows = Json::array();
    for (const PhaseRowFigures& row : r.phases) {
        const PhasePart& p = row.whole;
        const PhaseCounts& c = p.counts;
        const unsigned most = unsigned(std::max_element(c.refused_s, c.refused_s + refusal_kinds) - c.refused_s);
        rows.push_back({row.path.empty() ? "(run)" : path_text(row.path), number(c.entered), number(c.wall_s),
                        number(row.own.counts.wall_s), number(c.loops_s), number(c.blocked_s), number(c.lent_s),
                        c.refused_s[most] > 0 ? Json(most) : Json(), number(c.borrowed_s),
                        number(p.cores), number(p.as_is.parallel), number(p.as_is.load_balance),
                        number(p.without_stealing.elapsed_s), number(p.without_stealing.parallel),
                        number(p.without_stealing.load_balance), number(counters_of(row.own.counts).per_cycle),
                        number(1e-9 * counters_of(row.own.counts).hertz)});
    }
    return rows;
}

// What each rank did in each phase: the ranks and phases are places in their lists.
Json rank_phases_of(const Report& r)
{
    Json rows = Json::array(), reasons = Json::array();
    for (size_t i = 0; i < r.rank.size(); i++)
        for (const RankPhase& p : r.rank[i].phases) {
            const PhaseCounts& c = p.counts;
            Json lost = Json::array();
            for (unsigned k = 0; k < refusal_kinds; k++)
                if (c.refused_s[k] > 0)
                    lost.push_back({k, number(c.refused_s[k])});
            rows.push_back({i, p.phase, number(c.entered), number(c.wall_s), number(c.computing_s), number(c.mpi_s),
                            number(c.blocked_s), number(c.lent_s), number(c.borrowed_s), number(c.loops_s),
                            number(p.cores), number(p.parallel), number(p.load_balance),
                            number(counters_of(c).per_cycle), number(1e-9 * counters_of(c).hertz), std::move(lost)});
        }
    for (unsigned k = 0; k < refusal_kinds; k++)
        reasons.push_back(refusal_text(k));
    return {{"rows", rows}, {"reasons", reasons}, {"omitted", number(r.rank_phases_omitted)}};
}

Json page_of(const NamedReport& run)
{
    const Report& r = *run.report;
    const time_t seconds = time_t(r.started_unix_ns / 1000000000);
    char when[64] = "";
    if (tm t; localtime_r(&seconds, &t))
        std::strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &t);
    Json tree = efficiencies(r.as_is, r.without_stealing, r.nodes);
    add_openmp(tree, r);
    return {{"name", run.name},
            {"program", base_name(r.program)},
            {"title", title_of(r)},
            {"started", when},
            {"workshare", r.workshare},
            {"verdict", verdict(r.verdict)},
            {"elapsed", number(r.elapsed_s)},
            {"plain_elapsed", number(r.without_stealing.elapsed_s)},
            {"speedup", number(r.speedup)},
            {"cores", number(r.cores)},
            {"tree", tree},
            {"ranks", ranks_of(r)},
            {"over_time", over_time(r)},
            {"openmp_cores", openmp_cores(r)},
            {"loops", loops_of(r)},
            {"nodes", nodes_of(r)},
            {"calls", calls_of(r)},
            {"phases", phases_of(r)},
            {"rank_phases", rank_phases_of(r)}};
}

Json comparison(const std::vector<NamedReport>& runs)
{
    std::vector<const Report*> reports;
    for (const NamedReport& run : runs)
        reports.push_back(run.report);
    Json rows = Json::array(), loop_rows = Json::array();
    for (const Compared& c : compare(reports)) {
        Json values = Json::array();
        for (double x : c.values)
            values.push_back(number(x));
        rows.push_back({c.text, c.depth,
                        c.kind == Compared::time    ? "time"
                        : c.kind == Compared::share ? "share"
                                                    : "count",
                        values});
    }
    for (const ComparedLoop& l : compare_loops(reports)) {
        Json seconds = Json::array();
        for (double x : l.seconds)
            seconds.push_back(number(x));
        loop_rows.push_back({l.name, seconds});
    }
    return {{"rows", rows}, {"loops", loop_rows}};
}

std::string escaped(const std::string& text)
{
    std::string out;
    for (char c : text)
        out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
    return out;
}

void replace(std::string& page, const std::string& mark, const std::string& text)
{
    for (size_t at = page.find(mark); at != page.npos; at = page.find(mark, at + text.size()))
        page.replace(at, mark.size(), text);
}

} // namespace

std::string report_html(const std::vector<NamedReport>& runs)
{
    Json data = {{"columns", Json::array()}, {"runs", Json::array()}};
    for (const RankColumn& c : rank_columns)
        data["columns"].push_back({c.text, c.time});
    for (const NamedReport& run : runs)
        data["runs"].push_back(page_of(run));
    if (runs.size() > 1)
        data["comparison"] = comparison(runs);
    // Names come from file names, which need not be UTF-8, and may contain what ends a script.
    std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
    replace(json, "<", "\\u003c");
    const Report& last = *runs.back().report;
    const Json title = base_name(last.program) + ", " + title_of(last);
    const std::string valid = title.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string page = report_page;
    replace(page, "@TITLE@", escaped(Json::parse(valid).get<std::string>()));
    replace(page, "@VERSION@", escaped(last.workshare));
    replace(page, "@DATA@", json);
    return page;
}

} // namespace ws::observe
