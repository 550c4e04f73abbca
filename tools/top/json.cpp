// SPDX-License-Identifier: MIT
#include "json.h"

#include "watch.h"

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

const char* name_of(Condition condition)
{
    return condition == Condition::running ? "running" : condition == Condition::finished ? "finished" : "died";
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

Json to_json(const JobSample& job)
{
    Json ranks = Json::array(), loops = Json::array();
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
            {"by_loop", loops}};
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

} // namespace ws::top
