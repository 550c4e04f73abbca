// SPDX-License-Identifier: MIT
//
// The report as JSON, written and read. The format is in docs/reference/report.schema.json.
#include "observe/format.h"
#include "observe/parts.h"
#include "observe/report.h"

#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ws::observe {

namespace {

using Json = nlohmann::ordered_json;

bool is_time(const std::string& name) { return name.size() > 2 && name.compare(name.size() - 2, 2, "_s") == 0; }

Json count(double x) { return x < 0 ? Json(int64_t(std::llround(x))) : Json(whole(x)); }
Json number(const std::string& name, double x)
{
    if (!std::isfinite(x))
        x = 0;
    return is_time(name) || name.find("efficiency") != name.npos || name.find("balance") != name.npos ? Json(x)
                                                                                                      : count(x);
}
Json text_or_null(const std::string& s) { return s.empty() ? Json() : Json(s); }

struct Put {
    Json& j;
    void operator()(const char* name, double value) const { j[name] = number(name, value); }
};

Json histogram(const Histogram& h)
{
    Json j = {{"count", count(h.total())},
              {"p50_s", h.quantile(0.5)},
              {"p95_s", h.quantile(0.95)},
              {"longest_s", h.longest()},
              {"buckets", Json::array()}};
    for (unsigned i = 0; i < latency_buckets; i++)
        if (h.counts[i] > 0)
            j["buckets"].push_back({{"from_ns", i ? int64_t(1) << i : 0},
                                    {"to_ns", int64_t(1) << (i + 1)},
                                    {"count", count(h.counts[i])}});
    return j;
}

template <class Counts> Json refused(const Counts& c)
{
    Json j;
    for (unsigned k = 0; k < refusal_kinds; k++)
        j[refusal_name(k)] = {{"times", count(c.refused[k])}, {"time_s", c.refused_s[k]}};
    return j;
}

// Only where the processor's counters were read.
template <class Counts> void put_counters(Json& j, const Counts& counts)
{
    if (const Counters c = counters_of(counts); c.hertz > 0) {
        j["instructions_per_cycle"] = c.per_cycle;
        j["frequency_hz"] = c.hertz;
    }
}

Json counts(const RankCounts& c)
{
    Json j;
    fields_of_rank(c, Put{j});
    put_counters(j, c);
    j["refused"] = refused(c);
    j["steal_latency"] = histogram(c.steal_latency);
    j["return_latency"] = histogram(c.return_latency);
    return j;
}

Json loops(const std::vector<LoopFigures>& all, const std::vector<PhaseRowFigures>& phases)
{
    Json list = Json::array();
    for (const LoopFigures& l : all) {
        Json j = {{"loop", l.name}};
        fields_of_loop(l.counts, Put{j});
        if (l.cause != LoopCause::unknown)
            j["cause"] = words_of(l.cause).name;
        if (l.phase != no_phase_known)
            j["phase"] = l.phase >= 0 ? Json(phases[size_t(l.phase)].path) : Json();
        list.push_back(std::move(j));
    }
    return list;
}

// Figures that are 0 are left out: there are many rows, and most of them have few figures.
Json rank_phases(const std::vector<RankPhase>& all, const std::vector<PhaseRowFigures>& phases)
{
    Json list = Json::array();
    for (const RankPhase& p : all) {
        Json j = {{"phase", phases[size_t(p.phase)].path}};
        fields_of_phase(p.counts, [&](const char* name, double value) {
            if (value != 0)
                j[name] = number(name, value);
        });
        put_counters(j, p.counts);
        for (unsigned k = 0; k < refusal_kinds; k++)
            if (p.counts.refused[k] != 0 || p.counts.refused_s[k] != 0)
                j["refused"][refusal_name(k)] = {{"times", count(p.counts.refused[k])},
                                                 {"time_s", p.counts.refused_s[k]}};
        j["cores_used"] = p.cores;
        j["useful_s"] = p.useful_s;
        j["parallel_efficiency"] = p.parallel;
        j["load_balance"] = p.load_balance;
        list.push_back(std::move(j));
    }
    return list;
}

Json over_time(const std::vector<TimeSlice>& slices)
{
    Json j = {{"computing", Json::array()}, {"lent", Json::array()}, {"borrowed", Json::array()}};
    for (const TimeSlice& s : slices) {
        j["computing"].push_back(s.computing);
        j["lent"].push_back(s.lent);
        j["borrowed"].push_back(s.borrowed);
    }
    return j;
}

Json conditions(const Conditions& c)
{
    return {{"arguments", c.arguments},
            {"openmp", c.openmp},
            {"victim", c.victim},
            {"openmp_threads", count(c.openmp_threads)},
            {"cpus", count(c.cpus)},
            {"rank_cpus", count(c.rank_cpus)},
            {"others", c.others},
            {"counters_refused", text_or_null(c.counters)}};
}

Json efficiency(const Efficiency& e)
{
    Json j;
    fields_of_efficiency(e, Put{j});
    return j;
}

void put_part(Json& j, const PhasePart& p)
{
    fields_of_phase(p.counts, Put{j});
    put_counters(j, p.counts);
    j["refused"] = refused(p.counts);
    j["cores_used"] = p.cores;
    j["efficiency"] = efficiency(p.as_is);
    j["without_stealing"] = efficiency(p.without_stealing);
}

} // namespace

std::string report_json(const Report& r)
{
    Json j = {{"schema", report_schema},
              {"workshare", r.workshare},
              {"program", r.program},
              {"started_unix_ns", r.started_unix_ns},
              {"ranks", count(r.ranks)},
              {"nodes", count(r.nodes)},
              {"cores", count(r.cores)},
              {"elapsed_s", r.elapsed_s},
              {"verdict", r.verdict},
              {"reason", text_or_null(r.reason)},
              {"efficiency", efficiency(r.as_is)},
              {"without_stealing",
               {{"estimated", true}, {"speedup", r.speedup}, {"efficiency", efficiency(r.without_stealing)}}},
              {"totals", counts(r.totals)}};
    if (const OpenMPEfficiency e = openmp_efficiency(r); e.parallel < 1)
        for (const OpenMPLevel& level : openmp_levels)
            j["openmp_efficiency"][level.name] = e.*level.value;
    if (r.conditions.openmp_threads > 0)
        j["conditions"] = conditions(r.conditions);
    for (const char* list : {"by_node", "by_rank", "by_call", "by_phase"})
        j[list] = Json::array();
    for (const NodeRow& n : r.node)
        j["by_node"].push_back({{"node", n.node},
                                {"host", n.host},
                                {"ranks", count(n.ranks)},
                                {"cores", count(n.cores)},
                                {"efficiency", efficiency(n.as_is)},
                                {"without_stealing", efficiency(n.without_stealing)},
                                {"totals", counts(n.counts)}});
    for (const RankRow& n : r.rank) {
        Json rank = {{"rank", n.rank},
                     {"node", n.node},
                     {"workers", n.workers},
                     {"inactive", text_or_null(n.inactive)},
                     {"totals", counts(n.counts)}};
        rank["loops"] = r.rank_loops_omitted ? Json() : loops(n.loops, r.phases);
        rank["openmp_cores_over_time"] = Json::array();
        for (const CoresFrom& c : n.cores)
            rank["openmp_cores_over_time"].push_back(
                {{"deal", c.deal}, {"at_s", c.at_s}, {"periods", count(c.periods)}, {"cores", count(c.cores)}});
        if (!n.over_time.empty())
            rank["over_time"] = over_time(n.over_time);
        if (r.phases.size() > 1)
            rank["phases"] = rank_phases(n.phases, r.phases);
        j["by_rank"].push_back(std::move(rank));
    }
    if (r.rank_phases_omitted > 0)
        j["rank_phases_omitted"] = count(r.rank_phases_omitted);
    j["by_loop"] = loops(r.loops, r.phases);
    for (const CallFigures& c : r.calls) {
        Json call = {{"call", c.name}};
        fields_of_call(c.counts, Put{call});
        j["by_call"].push_back(std::move(call));
    }
    for (const PhaseRowFigures& p : r.phases) {
        Json phase = {{"path", p.path}, {"level", p.level == named_phase ? Json() : Json(p.level)}};
        put_part(phase, p.own);
        put_part(phase["whole"], p.whole);
        j["by_phase"].push_back(std::move(phase));
    }
    // Names come from file names, which need not be UTF-8.
    return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// ---- reading

namespace {

// A value, where it stands, for messages, and the version of the report that it is of.
struct At {
    const Json& j;
    std::string path;
    int version;

    [[noreturn]] void wrong(const char* what) const { throw std::runtime_error(path + " is " + what); }
    At operator[](const char* name) const
    {
        if (!j.is_object())
            wrong("not an object");
        const auto at = j.find(name);
        const std::string full = path.empty() ? name : path + "." + name;
        if (at == j.end())
            throw std::runtime_error("there is no " + full);
        return {*at, full, version};
    }
    double number() const
    {
        if (!j.is_number())
            wrong("not a number");
        return j.get<double>();
    }
    int64_t integer() const
    {
        if (!j.is_number_integer())
            wrong("not a whole number");
        return j.get<int64_t>();
    }
    std::string text() const
    {
        if (!j.is_string())
            wrong("not text");
        return j.get<std::string>();
    }
    std::string text_or_null() const { return j.is_null() ? "" : text(); }
    template <class F> void each(F f) const
    {
        if (!j.is_array())
            wrong("not a list");
        for (size_t i = 0; i < j.size(); i++)
            f(At{j[i], path + "[" + std::to_string(i) + "]", version});
    }
};

// What version 1 calls a field: executions were runs there.
std::string name_in(int version, const std::string& name)
{
    constexpr char now[] = "executions", before[] = "runs";
    return version == 1 && name.compare(0, sizeof now - 1, now) == 0 ? before + name.substr(sizeof now - 1) : name;
}

// Fields that reports of the first version can lack: they are 0 then. Each list has its own.
#define WS_CAME_LATER(kind, counter, where, mpi_t, help) \
    if (std::strcmp(#where, "LATER") == 0 && name == WS_NAME_##kind(counter)) \
        return true;
bool of_rank_came_later([[maybe_unused]] const std::string& name)
{
    WS_RANK_COUNTERS(WS_CAME_LATER, WS_CAME_LATER, WS_CAME_LATER, WS_CAME_LATER, WS_CAME_LATER, WS_CAME_LATER)
    return false;
}
bool of_loop_came_later([[maybe_unused]] const std::string& name)
{
    WS_LOOP_COUNTERS(WS_CAME_LATER, WS_CAME_LATER)
    return false;
}
bool of_call_came_later([[maybe_unused]] const std::string& name)
{
    WS_CALL_COUNTERS(WS_CAME_LATER)
    return false;
}
bool of_phase_came_later([[maybe_unused]] const std::string& name)
{
    WS_PHASE_COUNTERS(WS_CAME_LATER, WS_CAME_LATER)
    return false;
}
bool none_came_later(const std::string&) { return false; }

struct Get {
    const At& at;
    bool (*came_later)(const std::string& name);
    void operator()(const char* name, double& value) const
    {
        const std::string there = name_in(at.version, name);
        value = came_later(name) && !at.j.contains(there) ? 0 : at[there.c_str()].number();
    }
};

Histogram read_histogram(const At& at)
{
    Histogram h = {};
    at["buckets"].each([&](const At& b) {
        const double to = b["to_ns"].number();
        int i = 0;
        if (std::frexp(to, &i) != 0.5 || i < 2 || i - 2 >= int(latency_buckets))
            b["to_ns"].wrong("not a bound of a bucket");
        h.counts[i - 2] = b["count"].number();
    });
    return h;
}

template <class Counts> void read_refused(const At& at, Counts& c)
{
    for (unsigned k = 0; k < refusal_kinds; k++) {
        if (Refusal(k) == Refusal::full && !at["refused"].j.contains(refusal_name(k)))
            continue; // reports of the first version can lack it
        const At reason = at["refused"][refusal_name(k)];
        c.refused[k] = reason["times"].number();
        c.refused_s[k] = reason["time_s"].number();
    }
}

RankCounts read_counts(const At& at)
{
    RankCounts c = {};
    fields_of_rank(c, Get{at, of_rank_came_later});
    read_refused(at, c);
    c.steal_latency = read_histogram(at["steal_latency"]);
    c.return_latency = read_histogram(at["return_latency"]);
    return c;
}

LoopCause read_cause(const At& at)
{
    const std::string name = at.text();
    for (unsigned i = 0; i < unsigned(LoopCause::kinds); i++)
        if (name == words_of(LoopCause(i)).name)
            return LoopCause(i);
    return LoopCause::unknown; // of a newer version
}

using Paths = std::map<std::vector<std::string>, int64_t>;

std::vector<std::string> read_path(const At& at)
{
    std::vector<std::string> path;
    at.each([&](const At& name) { path.push_back(name.text()); });
    return path;
}

int64_t read_phase_named(const At& at, const Paths& paths)
{
    if (at.j.is_null())
        return several_phases;
    const auto found = paths.find(read_path(at));
    if (found == paths.end())
        at.wrong("not a phase of this report");
    return found->second;
}

std::vector<LoopFigures> read_loops(const At& at, const Paths& paths)
{
    std::vector<LoopFigures> loops;
    at.each([&](const At& l) {
        LoopFigures f = {l["loop"].text(), {}, {}, no_phase_known};
        fields_of_loop(f.counts, Get{l, of_loop_came_later});
        if (l.j.contains("cause")) // reports of old versions, and loops of ranks, lack it
            f.cause = read_cause(l["cause"]);
        if (l.j.contains("phase")) // likewise
            f.phase = read_phase_named(l["phase"], paths);
        loops.push_back(f);
    });
    return loops;
}

std::vector<RankPhase> read_rank_phases(const At& at, const Paths& paths)
{
    std::vector<RankPhase> phases;
    at.each([&](const At& j) {
        RankPhase p = {};
        p.phase = read_phase_named(j["phase"], paths);
        if (p.phase < 0)
            j["phase"].wrong("null");
        const auto all_may_lack = [](const std::string&) { return true; };
        fields_of_phase(p.counts, Get{j, all_may_lack});
        for (unsigned k = 0; k < refusal_kinds && j.j.contains("refused"); k++)
            if (j["refused"].j.contains(refusal_name(k))) {
                p.counts.refused[k] = j["refused"][refusal_name(k)]["times"].number();
                p.counts.refused_s[k] = j["refused"][refusal_name(k)]["time_s"].number();
            }
        p.cores = j["cores_used"].number();
        p.useful_s = j["useful_s"].number();
        p.parallel = j["parallel_efficiency"].number();
        p.load_balance = j["load_balance"].number();
        phases.push_back(p);
    });
    return phases;
}

std::vector<TimeSlice> read_over_time(const At& at)
{
    std::vector<TimeSlice> slices;
    at["computing"].each([&](const At& part) { slices.push_back({part.number(), 0, 0}); });
    const auto fill = [&](const char* name, double TimeSlice::*field) {
        size_t i = 0;
        at[name].each([&](const At& part) {
            if (i < slices.size())
                slices[i].*field = part.number();
            i++;
        });
        if (i != slices.size())
            at[name].wrong("not as long as the others");
    };
    fill("lent", &TimeSlice::lent);
    fill("borrowed", &TimeSlice::borrowed);
    return slices;
}

Conditions read_conditions(const At& at)
{
    Conditions c;
    at["arguments"].each([&](const At& word) { c.arguments.push_back(word.text()); });
    c.openmp = at["openmp"].text();
    c.victim = at["victim"].text();
    c.openmp_threads = at["openmp_threads"].number();
    c.cpus = at["cpus"].number();
    c.rank_cpus = at["rank_cpus"].number();
    c.others = at["others"].number();
    c.counters = at["counters_refused"].text_or_null();
    return c;
}

Efficiency read_efficiency(const At& at)
{
    Efficiency e = {};
    fields_of_efficiency(e, Get{at, none_came_later});
    return e;
}

PhasePart read_part(const At& at)
{
    PhasePart p = {};
    fields_of_phase(p.counts, Get{at, of_phase_came_later});
    if (at.j.contains("refused")) // reports of old versions lack it
        read_refused(at, p.counts);
    if (at.j.contains("cores_used"))
        p.cores = at["cores_used"].number();
    p.as_is = read_efficiency(at["efficiency"]);
    p.without_stealing = read_efficiency(at["without_stealing"]);
    return p;
}

// In reports of old versions phases are levels of MPI_Pcontrol, each by itself, and level null is all that had no row.
PhaseRowFigures read_phase(const At& at)
{
    const bool is_level = !at["level"].j.is_null();
    PhaseRowFigures p = {{}, is_level ? at["level"].integer() : named_phase, read_part(at), {}};
    if (at.j.contains("path"))
        p.path = read_path(at["path"]);
    else if (!is_level)
        p.path = {other_phases};
    else if (p.level != 1)
        p.path = {"phase " + std::to_string(p.level)};
    p.whole = at.j.contains("whole") ? read_part(at["whole"]) : p.own;
    return p;
}

// The number behind the last slash of a schema's name, if it is this one's: 0 if it is none.
int version_of(const std::string& schema)
{
    const std::string own = report_schema, family = own.substr(0, own.find('/') + 1);
    if (schema.compare(0, family.size(), family) != 0)
        return 0;
    return std::atoi(schema.c_str() + family.size());
}

} // namespace

Report read_report(const std::string& bytes)
{
    if (bytes.find_first_not_of(" \t\r\n") == bytes.npos)
        throw std::runtime_error("it is empty");
    Json j;
    try {
        j = Json::parse(bytes);
    } catch (const Json::parse_error& error) {
        if (error.byte >= bytes.size()) // what is there is right, but the rest is missing
            throw std::runtime_error("it ends too early: the report was not written to its end");
        throw std::runtime_error("it is not JSON, at byte " + std::to_string(error.byte));
    }
    if (!j.is_object() || !j.contains("schema") || !j["schema"].is_string())
        throw std::runtime_error("it is not a report of Workshare: there is no \"schema\"");
    const std::string schema = j["schema"].get<std::string>();
    const int version = version_of(schema), own = version_of(report_schema);
    if (version <= 0)
        throw std::runtime_error("it is not a report of Workshare: its schema is " + schema);
    if (version > own)
        throw std::runtime_error("it is of a newer version of Workshare: its schema is " + schema + ", expected " +
                                 report_schema);

    const At at = {j, "", version};
    Report r;
    r.workshare = at["workshare"].text();
    r.program = at["program"].text();
    r.started_unix_ns = at["started_unix_ns"].integer();
    r.ranks = at["ranks"].number();
    r.nodes = at["nodes"].number();
    r.cores = at["cores"].number();
    r.elapsed_s = at["elapsed_s"].number();
    r.verdict = at["verdict"].text();
    r.reason = at["reason"].text_or_null();
    r.as_is = read_efficiency(at["efficiency"]);
    r.speedup = at["without_stealing"]["speedup"].number();
    r.without_stealing = read_efficiency(at["without_stealing"]["efficiency"]);
    r.totals = read_counts(at["totals"]);
    if (at.j.contains("conditions")) // reports of old versions lack it
        r.conditions = read_conditions(at["conditions"]);
    at["by_node"].each([&](const At& n) {
        r.node.push_back({n["node"].integer(), n["host"].text(), n["ranks"].number(), n["cores"].number(),
                          read_counts(n["totals"]), read_efficiency(n["efficiency"]),
                          read_efficiency(n["without_stealing"])});
    });
    Paths paths;
    at["by_phase"].each([&](const At& p) {
        r.phases.push_back(read_phase(p));
        paths[r.phases.back().path] = int64_t(r.phases.size()) - 1;
    });
    at["by_rank"].each([&](const At& n) {
        RankRow row = {n["rank"].integer(), n["node"].integer(), n["workers"].integer(), n["inactive"].text_or_null(),
                       read_counts(n["totals"]), {}, {}, {}, {}};
        if (n["loops"].j.is_null())
            r.rank_loops_omitted = true;
        else
            row.loops = read_loops(n["loops"], paths);
        if (n.j.contains("openmp_cores_over_time")) // reports of the first version can lack it
            n["openmp_cores_over_time"].each([&](const At& c) {
                row.cores.push_back(
                    {c["deal"].integer(), c["at_s"].number(), c["periods"].number(), c["cores"].number()});
            });
        if (n.j.contains("over_time")) // likewise
            row.over_time = read_over_time(n["over_time"]);
        if (n.j.contains("phases")) // likewise
            row.phases = read_rank_phases(n["phases"], paths);
        r.rank.push_back(std::move(row));
    });
    if (at.j.contains("rank_phases_omitted"))
        r.rank_phases_omitted = at["rank_phases_omitted"].number();
    r.loops = read_loops(at["by_loop"], paths);
    at["by_call"].each([&](const At& c) {
        CallFigures f = {c["call"].text(), {}};
        fields_of_call(f.counts, Get{c, of_call_came_later});
        r.calls.push_back(f);
    });
    return r;
}

} // namespace ws::observe
