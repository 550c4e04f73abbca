// SPDX-License-Identifier: MIT
#include "json.h"

#include "watch.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace ws::top {

using observe::Seated;

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Shares& s) { return {{"computing", s.computing}, {"lent", s.lent}, {"waiting", s.waiting}}; }

Json to_json(const Metrics& m)
{
    Json j = {{"elapsed_s", m.seconds}};
    if (m.seconds > 0)
        j.update({{"parallel_efficiency", m.parallel_efficiency},
                  {"parallel_efficiency_without_stealing", m.parallel_efficiency_without},
                  {"load_balance", m.load_balance},
                  {"load_balance_without_stealing", m.load_balance_without},
                  {"computing", m.shares.computing},
                  {"lent", m.shares.lent},
                  {"waiting", m.shares.waiting},
                  {"borrowed", m.shares.borrowed},
                  {"steals_per_s", m.steals_per_s},
                  {"lends_per_s", m.lends_per_s}});
    for (unsigned k = 0; k < observe::refusal_kinds; k++)
        if (m.waited_because[k] > 0)
            j["refused"][refusal_name(observe::Refusal(k))] = m.waited_because[k];
    return j;
}

const char* name_of(Seated state)
{
    switch (state) {
    case Seated::computing: return "computing";
    case Seated::blocked: return "blocked";
    case Seated::lent: return "lent";
    case Seated::asleep: return "asleep";
    default: return "none";
    }
}

const char* name_of(RankCondition condition)
{
    return condition == RankCondition::running ? "running" : condition == RankCondition::finished ? "finished" : "died";
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json to_json(const CoreSample& c)
{
    return {{"kind", c.kind == observe::SeatKind::home ? "home" : "worker"},
            {"state", name_of(c.state)},
            {"state_s", c.state_s},
            {"call", text_or_null(c.call)},
            {"wait_s", c.wait_s},
            {"tenant", c.tenant < 0 ? Json(nullptr) : Json(c.tenant)},
            {"loop", text_or_null(c.loop)},
            {"interval", to_json(c.interval)},
            {"total", to_json(c.total)},
            {"lends", c.lends},
            {"lends_per_s", c.lends_per_s}};
}

Json to_json(const std::vector<Counter>& counters)
{
    Json j = Json::object();
    for (const Counter& c : counters) {
        const std::string name = c.name;
        const bool time = name.size() > 2 && name.compare(name.size() - 2, 2, "_s") == 0;
        j[name] = time ? Json(c.value) : Json(uint64_t(c.value));
    }
    return j;
}

Json to_json(const RankSample& r)
{
    Json interval = to_json(r.interval), total = to_json(r.total);
    interval.update({{"borrowed", r.interval.borrowed},
                     {"own_efficiency", r.own_efficiency},
                     {"efficiency", r.efficiency},
                     {"steals_per_s", r.steals_per_s}});
    total.update({{"borrowed", r.total.borrowed},
                  {"own_efficiency", r.total.computing},
                  {"efficiency", r.total.computing + r.total.borrowed}});
    Json cores = Json::array(), guests = Json::array();
    for (const CoreSample& c : r.cores)
        cores.push_back(to_json(c));
    for (const GuestSample& g : r.guests)
        guests.push_back({{"home", g.on}, {"loop", text_or_null(g.loop)}, {"visit_s", g.visit_s}});
    return {{"rank", r.rank},
            {"node", r.node},
            {"pid", r.pid},
            {"program", r.program},
            {"phase", text_or_null(r.phase)},
            {"condition", name_of(r.condition)},
            {"stealing", !r.inactive},
            {"wall_s", r.seconds},
            {"interval", interval},
            {"total", total},
            {"chunks_stolen", r.chunks_stolen},
            {"chunks_kept", r.chunks_kept},
            {"iterations_stolen", r.iterations_stolen},
            {"counters", to_json(r.counters)},
            {"cores", cores},
            {"guests", guests}};
}

Json to_json(const LoopSample& l)
{
    return {{"loop", l.name},
            {"owner_share", l.owner_share},
            {"guest_share", l.guest_share},
            {"executions_per_s", l.executions_per_s},
            {"steals_per_s", l.steals_per_s},
            {"executions", l.executions},
            {"chunks_kept", l.chunks_kept},
            {"chunks_stolen", l.chunks_stolen},
            {"iterations_stolen", l.iterations_stolen}};
}

Json to_json(const PhaseMetrics& m)
{
    Json j = {{"time_share", m.time_share}};
    j.update(to_json(m.shares));
    j.update({{"borrowed", m.shares.borrowed},
              {"parallel_efficiency", m.parallel_efficiency},
              {"load_balance", m.load_balance},
              {"load_balance_without_stealing", m.load_balance_without}});
    return j;
}

Json to_json(const PhaseSample& p)
{
    return {{"phase", text_or_null(p.path)},  {"ranks_now", p.ranks_now},
            {"entered", p.entered},
            {"longest_s", p.longest_s},       {"interval", to_json(p.interval)},
            {"total", to_json(p.total)}};
}

Json to_json(const JobSample& job)
{
    Json ranks = Json::array(), loops = Json::array(), phases = Json::array();
    for (const PhaseSample& p : job.phases)
        phases.push_back(to_json(p));
    for (const RankSample& r : job.ranks)
        ranks.push_back(to_json(r));
    for (const LoopSample& l : job.loops)
        loops.push_back(to_json(l));
    return {{"job", job_name(job.id)},
            {"program", job.program},
            {"host", job.host},
            {"uid", job.uid},
            {"ranks", job.size},
            {"ranks_here", job.ranks.size()},
            {"nodes_here", job.nodes_seen},
            {"cores", job.cores},
            {"elapsed_s", job.seconds},
            {"over", job.over},
            {"died", job.died},
            {"chunks_stolen", job.total.chunks_stolen},
            {"lends", job.total.lends},
            {"interval", to_json(job.interval)},
            {"total", to_json(job.total)},
            {"by_rank", ranks},
            {"by_loop", loops},
            {"by_phase", phases}};
}

} // namespace

Json to_json(const std::vector<JobSample>& jobs, const std::vector<Problem>& problems, double unix_seconds,
             const char* workshare)
{
    Json all = Json::array(), wrong = Json::array();
    for (const JobSample& job : jobs)
        all.push_back(to_json(job));
    for (const Problem& p : problems)
        wrong.push_back({{"pid", p.pid}, {"what", p.what}});
    return {{"schema", json_schema},
            {"workshare", workshare},
            {"at_unix_s", unix_seconds},
            {"jobs", all},
            {"problems", wrong}};
}

// ---- reading

namespace {

[[noreturn]] void wrong(const char* name, const char* what)
{
    throw std::runtime_error(std::string(name) + " is " + what);
}

const Json& at(const Json& j, const char* name)
{
    if (!j.is_object())
        throw std::runtime_error("there is a value in place of an object");
    const auto found = j.find(name);
    if (found == j.end())
        throw std::runtime_error(std::string("there is no ") + name);
    return *found;
}

template <class T> void read(const Json& j, const char* name, T& value)
{
    const Json& found = at(j, name);
    if (!(std::is_same_v<T, bool> ? found.is_boolean() : found.is_number()))
        wrong(name, std::is_same_v<T, bool> ? "neither true nor false" : "not a number");
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        const double x = found.get<double>();
        if (!(x >= double(std::numeric_limits<T>::min()) && x <= double(std::numeric_limits<T>::max())))
            wrong(name, "out of range");
    }
    if (std::is_same_v<T, double> && !(found.get<double>() >= 0 && found.get<double>() < 1e18))
        wrong(name, "out of range");
    value = found.get<T>();
}

std::string text(const Json& j, const char* name) // null: empty
{
    const Json& found = at(j, name);
    if (!found.is_string() && !found.is_null())
        wrong(name, "not text");
    const std::string s = found.is_null() ? "" : found.get<std::string>();
    return clean(s.c_str(), s.size());
}

const Json& list(const Json& j, const char* name)
{
    if (!at(j, name).is_array())
        wrong(name, "not a list");
    return at(j, name);
}

void read(const Json& j, Shares& s)
{
    read(j, "computing", s.computing);
    read(j, "lent", s.lent);
    read(j, "waiting", s.waiting);
    if (std::max({s.computing, s.lent, s.waiting}) > 1)
        throw std::runtime_error("a share is more than 1");
}

void read(const Json& j, Metrics& m)
{
    read(j, "elapsed_s", m.seconds);
    if (m.seconds > 0) {
        read(j, "parallel_efficiency", m.parallel_efficiency);
        read(j, "parallel_efficiency_without_stealing", m.parallel_efficiency_without);
        read(j, "load_balance", m.load_balance);
        read(j, "load_balance_without_stealing", m.load_balance_without);
        read(j, m.shares);
        read(j, "borrowed", m.shares.borrowed);
        read(j, "steals_per_s", m.steals_per_s);
        read(j, "lends_per_s", m.lends_per_s);
    }
    for (unsigned k = 0; j.contains("refused") && k < observe::refusal_kinds; k++)
        if (const char* const name = refusal_name(observe::Refusal(k)); at(j, "refused").contains(name))
            read(at(j, "refused"), name, m.waited_because[k]);
}

// The value of an enumeration, from 0 to `last`, that has this name.
template <class Enum> Enum named(const std::string& name, const char* field, Enum last)
{
    for (unsigned i = 0; i <= unsigned(last); i++)
        if (name == name_of(Enum(i)))
            return Enum(i);
    wrong(field, "unknown");
}

CoreSample core_of(const Json& j)
{
    CoreSample c;
    c.kind = text(j, "kind") == "worker" ? observe::SeatKind::worker : observe::SeatKind::home;
    c.state = named(text(j, "state"), "state", Seated::asleep);
    read(j, "state_s", c.state_s);
    c.call = text(j, "call");
    read(j, "wait_s", c.wait_s);
    if (!at(j, "tenant").is_null())
        read(j, "tenant", c.tenant);
    c.loop = text(j, "loop");
    read(at(j, "interval"), c.interval);
    read(at(j, "total"), c.total);
    read(j, "lends", c.lends);
    read(j, "lends_per_s", c.lends_per_s);
    return c;
}

RankSample rank_of(const Json& j)
{
    RankSample r;
    read(j, "rank", r.rank);
    read(j, "node", r.node);
    read(j, "pid", r.pid);
    r.program = text(j, "program");
    if (j.contains("phase")) // recordings of old versions lack it
        r.phase = text(j, "phase");
    r.condition = named(text(j, "condition"), "condition", RankCondition::died);
    bool stealing = true;
    read(j, "stealing", stealing);
    r.inactive = !stealing;
    read(j, "wall_s", r.seconds);
    const Json &interval = at(j, "interval"), &total = at(j, "total");
    read(interval, r.interval);
    read(interval, "borrowed", r.interval.borrowed);
    read(interval, "own_efficiency", r.own_efficiency);
    read(interval, "efficiency", r.efficiency);
    read(interval, "steals_per_s", r.steals_per_s);
    read(total, r.total);
    read(total, "borrowed", r.total.borrowed);
    read(j, "chunks_stolen", r.chunks_stolen);
    read(j, "chunks_kept", r.chunks_kept);
    read(j, "iterations_stolen", r.iterations_stolen);
    for (const auto& [name, value] : at(j, "counters").items())
        if (const char* const known = counter_name(name); known && value.is_number())
            r.counters.push_back({known, value.get<double>()});
    for (const Json& c : list(j, "cores"))
        r.cores.push_back(core_of(c));
    if (r.cores.empty())
        wrong("cores", "empty");
    for (const Json& g : list(j, "guests")) {
        GuestSample guest = {0, text(g, "loop"), 0};
        read(g, "home", guest.on);
        read(g, "visit_s", guest.visit_s);
        r.guests.push_back(guest);
    }
    return r;
}

LoopSample loop_of(const Json& j)
{
    LoopSample l;
    l.name = text(j, "loop");
    read(j, "owner_share", l.owner_share);
    read(j, "guest_share", l.guest_share);
    read(j, "executions_per_s", l.executions_per_s);
    read(j, "steals_per_s", l.steals_per_s);
    read(j, "executions", l.executions);
    read(j, "chunks_kept", l.chunks_kept);
    read(j, "chunks_stolen", l.chunks_stolen);
    read(j, "iterations_stolen", l.iterations_stolen);
    return l;
}

void read(const Json& j, PhaseMetrics& m)
{
    read(j, "time_share", m.time_share);
    read(j, m.shares);
    read(j, "borrowed", m.shares.borrowed);
    read(j, "parallel_efficiency", m.parallel_efficiency);
    read(j, "load_balance", m.load_balance);
    read(j, "load_balance_without_stealing", m.load_balance_without);
}

PhaseSample phase_of(const Json& j)
{
    PhaseSample p;
    p.path = text(j, "phase");
    read(j, "ranks_now", p.ranks_now);
    read(j, "entered", p.entered);
    read(j, "longest_s", p.longest_s);
    read(at(j, "interval"), p.interval);
    read(at(j, "total"), p.total);
    return p;
}

JobSample job_of(const Json& j)
{
    JobSample job;
    const std::string name = text(j, "job");
    char* end = nullptr;
    job.id = std::strtoull(name.c_str(), &end, 16);
    if (name.empty() || *end)
        wrong("job", "not a name of a job");
    job.program = text(j, "program");
    job.host = text(j, "host");
    read(j, "uid", job.uid);
    read(j, "ranks", job.size);
    read(j, "nodes_here", job.nodes_seen);
    read(j, "cores", job.cores);
    read(j, "elapsed_s", job.seconds);
    read(j, "over", job.over);
    read(j, "died", job.died);
    read(at(j, "interval"), job.interval);
    read(at(j, "total"), job.total);
    read(j, "chunks_stolen", job.total.chunks_stolen);
    read(j, "lends", job.total.lends);
    job.interval.chunks_stolen = job.total.chunks_stolen;
    job.interval.lends = job.total.lends;
    for (const Json& r : list(j, "by_rank"))
        job.ranks.push_back(rank_of(r));
    for (const Json& l : list(j, "by_loop"))
        job.loops.push_back(loop_of(l));
    if (j.contains("by_phase")) // recordings of old versions lack it
        for (const Json& p : list(j, "by_phase"))
            job.phases.push_back(phase_of(p));
    return job;
}

} // namespace

Snapshot from_json(const std::string& line)
{
    const Json j = Json::parse(line, nullptr, false);
    if (j.is_discarded())
        throw std::runtime_error("it is not JSON");
    if (!j.is_object() || !j.contains("schema") || !j["schema"].is_string())
        throw std::runtime_error("it is not a snapshot of ws-top: there is no \"schema\"");
    if (j["schema"] != json_schema)
        throw std::runtime_error("its schema is " + j["schema"].get<std::string>() + ", expected " + json_schema);
    Snapshot s;
    read(j, "at_unix_s", s.unix_seconds);
    for (const Json& job : list(j, "jobs"))
        s.jobs.push_back(job_of(job));
    for (const Json& p : list(j, "problems")) {
        Problem problem = {0, text(p, "what")};
        read(p, "pid", problem.pid);
        s.problems.push_back(problem);
    }
    return s;
}

} // namespace ws::top
