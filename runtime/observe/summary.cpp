// SPDX-License-Identifier: MIT
//
// The ranks' figures put together: sums, who computed on whose core, the POP metrics. The formulas are derived in
// docs/reference/report.md.
#include "observe/loop_cause.h"
#include "observe/report.h"

#include <algorithm>
#include <cstring>

namespace ws::observe {

namespace {

template <class T> void add_numbers(T& to, const T& from)
{
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(double) == 0);
    constexpr size_t n = sizeof(T) / sizeof(double);
    double a[n], b[n];
    std::memcpy(a, &to, sizeof to);
    std::memcpy(b, &from, sizeof from);
    for (size_t i = 0; i < n; i++)
        a[i] += b[i];
    std::memcpy(&to, a, sizeof to);
}

struct RefusalWords {
    const char *name, *text;
};
constexpr RefusalWords refusals[] = {
    // as in Refusal
    {"nothing_shared", "ranks computed, but in nothing that could be shared"},
    {"no_guest", "the owner had no helper thread for the core yet"},
    {"core_taken", "other ranks computed on the core"},
    {"all_wait", "all ranks of the node waited: communication"},
    {"lost_race", "other ranks claimed the rest first"},
    {"too_little", "the rest takes less time than a hand-over"},
    {"barred", "the owner may not use the core, or got no thread"},
    {"full", "1023 helpers, the most, had joined the loop"},
};
static_assert(sizeof refusals / sizeof *refusals == refusal_kinds);

constexpr LoopCauseWords loop_causes[] = {
    // as in LoopCause
    {"unknown", "", ""},
    {"helped", "ranks helped", ""},
    {"not_helped", "it was shared, but ended before a rank came", ""},
    {"none_waited", "no rank waited when it began", ""},
    {"too_short", "too short to share", "put the directive on an outer loop, or fuse loops"},
    {"coarse", "its iterations are too long or too few", "collapse(2), or a smaller chunk size"},
    {"gained_nothing", "sharing gained nothing: memory-bound or too short", "block it for the cache, or fuse loops"},
    {"tasks", "it runs OpenMP tasks, which sharing does not divide", "-workshare-openmp=lend"},
    {"long_chunk", "one iteration or a chosen chunk is too long, or its thread had no CPU",
     "a smaller chunk size, or no more ranks than cores"},
};
static_assert(sizeof loop_causes / sizeof *loop_causes == size_t(LoopCause::kinds));

double ratio(double a, double b, double if_none = 1) { return b > 0 ? a / b : if_none; }

} // namespace

void add_counts(LoopCounts& to, const LoopCounts& from)
{
    const double longest = std::max(to.longest_chunk_s, from.longest_chunk_s);
    add_numbers(to, from);
    to.longest_chunk_s = longest;
}

void add_counts(CallCounts& to, const CallCounts& from) { add_numbers(to, from); }

const LoopCauseWords& words_of(LoopCause cause) { return loop_causes[size_t(cause)]; }

const char* refusal_name(unsigned kind) { return refusals[kind].name; }
const char* refusal_text(unsigned kind) { return refusals[kind].text; }

Efficiency efficiency(double elapsed_s, const std::vector<CoreUse>& cores)
{
    double sum = 0, most = 0;
    std::map<int64_t, std::pair<double, double>> nodes; // useful, cores
    for (const CoreUse& c : cores) {
        // threads that shared a CPU have counted its time several times
        const double useful = std::min(c.useful_s, elapsed_s);
        sum += useful;
        most = std::max(most, useful);
        nodes[c.node].first += useful;
        nodes[c.node].second++;
    }
    double busiest_node = 0; // mean of its cores
    for (const auto& [node, use] : nodes)
        busiest_node = std::max(busiest_node, use.first / use.second);
    const double n = double(cores.size());
    Efficiency e = {};
    e.elapsed_s = elapsed_s;
    e.parallel = ratio(sum, elapsed_s * n);
    e.load_balance = ratio(sum, most * n);
    e.load_balance_inside = ratio(busiest_node, most);
    e.load_balance_between = ratio(sum, busiest_node * n);
    e.communication = ratio(most, elapsed_s);
    return e;
}

std::string path_text(const std::vector<std::string>& path)
{
    std::string text;
    for (const std::string& name : path)
        text += (text.empty() ? "" : "/") + name;
    return text;
}

void ReportBuilder::add_phase(PhaseSum& to, const PhaseCounts& p) const
{
    const PhaseCounts before = to.counts;
    add_numbers(to.counts, p);
    to.counts.entered = std::max(before.entered, p.entered);
    to.counts.wall_s = std::max(before.wall_s, p.wall_s);
    to.counts.lag_s = to.uses.empty() ? p.lag_s : std::max(before.lag_s, p.lag_s);
    to.uses.push_back({float(p.computing_s), float(p.computing_s + p.borrowed_s), float(p.lent_s),
                       uint32_t(places_.size() - 1)});
}

std::vector<size_t> ReportBuilder::add_phases(const RankFigures& r)
{
    std::vector<size_t> places;
    std::vector<PhaseCounts> whole; // of the rank, with the phases inside
    for (const PhaseFigures& p : r.phases) {
        const int64_t parent = p.parent == no_parent ? no_parent : int64_t(places[size_t(p.parent)]);
        const auto [at, is_new] = phase_of_.try_emplace({parent, p.name}, phases_.size());
        if (is_new)
            phases_.push_back({p.name, parent, p.level, {}, {}, {}});
        places.push_back(at->second);
        whole.push_back(p.counts);
    }
    for (size_t i = r.phases.size(); i-- > 0;) // those inside come behind
        if (const int64_t parent = r.phases[i].parent; parent != no_parent) {
            const double entered = whole[size_t(parent)].entered;
            add_numbers(whole[size_t(parent)], whole[i]);
            whole[size_t(parent)].entered = entered;
        }
    for (size_t i = 0; i < r.phases.size(); i++) {
        Phase& phase = phases_[places[i]];
        add_phase(phase.own, r.phases[i].counts);
        add_phase(phase.whole, whole[i]);
        phase.time_s += r.phases[i].counts.wall_s;
        if (!phase.dropped) {
            phase.parts.push_back({uint32_t(places_.size() - 1), r.phases[i].counts});
            rank_phases_++;
        }
    }
    drop_short_phases();
    return places;
}

// A phase is dropped for good, because the rows of the ranks that came before are gone. So which phases took least time
// is judged by the ranks that have come until then.
void ReportBuilder::drop_short_phases()
{
    if (rank_phases_ <= most_rank_phases)
        return;
    std::vector<Phase*> kept;
    for (Phase& p : phases_)
        if (!p.dropped)
            kept.push_back(&p);
    std::stable_sort(kept.begin(), kept.end(), [](const Phase* a, const Phase* b) { return a->time_s < b->time_s; });
    for (size_t i = 0; rank_phases_ > most_rank_phases; i++) {
        rank_phases_ -= kept[i]->parts.size();
        kept[i]->parts = {};
        kept[i]->dropped = true;
        report_.rank_phases_omitted++;
    }
}

void ReportBuilder::add(RankFigures&& r)
{
    for (const auto& [core, seconds] : r.borrowed_on)
        busy_on_[r.node][core] += seconds;
    places_.push_back({r.rank, r.node, r.workers});
    const std::vector<size_t> places = add_phases(r);
    for (LoopFigures& l : r.loops) {
        l.phase = l.phase >= 0 ? int64_t(places[size_t(l.phase)]) : l.phase; // in phases_ from here on
        LoopSum& sum = loops_[l.name];
        add_counts(sum.counts, l.counts);
        if (l.phase != no_phase_known)
            sum.phase = sum.phase == no_phase_known || sum.phase == l.phase ? l.phase : several_phases;
    }
    for (const CallFigures& l : r.calls)
        add_counts(calls_[l.name], l.counts);
    if (r.rank == 0) {
        report_.program = r.program;
        report_.started_unix_ns = r.started_unix_ns;
    }
    rank_loops_ += r.loops.size();
    if (rank_loops_ > most_rank_loops && !report_.rank_loops_omitted) {
        report_.rank_loops_omitted = true;
        for (RankFigures& other : ranks_)
            other.loops = {};
    }
    if (report_.rank_loops_omitted)
        r.loops = {};
    r.calls = {};
    r.phases = {};
    r.borrowed_on = {};
    ranks_.push_back(std::move(r));
}

namespace {

// The cores of ranks: what each did usefully, and would have done without stealing.
struct Uses {
    std::vector<CoreUse> now, plain;

    void add(const Uses& more)
    {
        now.insert(now.end(), more.now.begin(), more.now.end());
        plain.insert(plain.end(), more.plain.begin(), more.plain.end());
    }
};

// The uses of the cores of a rank and its workers. Fills the counts that follow from `busy`: the seconds that guests
// and workers computed on each core of its node.
Uses uses_of(RankFigures& r, const std::map<unsigned, double>& busy)
{
    auto busy_on = [&](int64_t core) {
        const auto at = busy.find(unsigned(core));
        return at == busy.end() ? 0 : at->second;
    };
    RankCounts& c = r.counts;
    c.helped_s = busy_on(r.node_rank);
    Uses uses{{{r.node, c.computing_s + c.helped_s}}, {{r.node, c.computing_s + c.borrowed_s}}};
    double workers_s = 0;
    for (int64_t w = 0; w < r.workers; w++) {
        const double of_worker = busy_on(r.first_worker + w);
        workers_s += of_worker;
        uses.now.push_back({r.node, of_worker});
        uses.plain.push_back({r.node, 0});
    }
    c.worker_helped_s = std::max(0.0, workers_s - c.borrowed_workers_s);
    return uses;
}

} // namespace

// Returns the part of the time for which a rank's core was lent in the phase that it computed. By phase nobody counts
// whose core computed for others. So of what was borrowed in the phase, ranks' cores are taken to have done the same
// share as in the whole run, divided among them by how long they were lent; workers' cores the rest.
double ReportBuilder::helped_share(const PhaseSum& p, const RankCounts& totals) const
{
    double lent = 0;
    for (const PhaseSum::RankUse& u : p.uses)
        lent += double(u.lent);
    return ratio(std::min(lent, p.counts.borrowed_s * ratio(totals.helped_s, totals.borrowed_s)), lent, 0);
}

PhasePart ReportBuilder::phase_part(const PhaseSum& p, const RankCounts& totals) const
{
    const double share = helped_share(p, totals);
    double at_home = 0, workers = 0;
    for (const PhaseSum::RankUse& u : p.uses) {
        at_home += double(u.lent) * share;
        workers += double(places_[u.rank].workers);
    }
    Uses uses;
    for (const PhaseSum::RankUse& u : p.uses) {
        const RankPlace& place = places_[u.rank];
        uses.now.push_back({place.node, double(u.useful) + double(u.lent) * share});
        uses.plain.push_back({place.node, double(u.plain_useful)});
        for (int64_t w = 0; w < place.workers; w++) {
            uses.now.push_back({place.node, (p.counts.borrowed_s - at_home) / workers});
            uses.plain.push_back({place.node, 0});
        }
    }
    return {p.counts, ratio(p.counts.computing_s + p.counts.borrowed_s, p.counts.wall_s, 0),
            efficiency(p.counts.wall_s, uses.now),
            efficiency(p.counts.wall_s + std::max(0.0, p.counts.lag_s), uses.plain)};
}

std::vector<int64_t> ReportBuilder::order_phases()
{
    std::vector<std::vector<size_t>> inside(phases_.size());
    std::vector<size_t> next; // the last first
    for (size_t i = 0; i < phases_.size(); i++)
        (phases_[i].parent == no_parent ? next : inside[size_t(phases_[i].parent)]).push_back(i);
    std::vector<int64_t> places(phases_.size());
    while (!next.empty()) {
        const size_t i = next.back();
        next.pop_back();
        const Phase& p = phases_[i];
        places[i] = int64_t(report_.phases.size());
        PhaseRowFigures row = {{}, p.level, phase_part(p.own, report_.totals), phase_part(p.whole, report_.totals)};
        if (p.parent != no_parent) {
            row.path = report_.phases[size_t(places[size_t(p.parent)])].path;
            row.path.push_back(p.name);
        }
        report_.phases.push_back(std::move(row));
        std::stable_sort(inside[i].begin(), inside[i].end(), [&](size_t a, size_t b) {
            return phases_[a].whole.counts.wall_s < phases_[b].whole.counts.wall_s;
        });
        next.insert(next.end(), inside[i].begin(), inside[i].end());
    }
    return places;
}

void ReportBuilder::add_rank_phases(const std::vector<int64_t>& places)
{
    std::map<int64_t, RankRow*> row_of;
    for (RankRow& row : report_.rank)
        row_of[row.rank] = &row;
    for (size_t i = 0; i < phases_.size() && phases_.size() > 1; i++) {
        const PhasePart& all = report_.phases[size_t(places[i])].own;
        const double share = helped_share(phases_[i].own, report_.totals), elapsed = all.as_is.elapsed_s;
        for (const RankPart& part : phases_[i].parts) {
            const PhaseCounts& c = part.counts;
            const double useful = std::max(0.0, std::min(c.computing_s + c.lent_s * share, elapsed));
            row_of[places_[part.rank].rank]->phases.push_back(
                {places[i], c, ratio(c.computing_s + c.borrowed_s, c.wall_s, 0), useful, ratio(useful, elapsed),
                 std::min(1.0, ratio(useful, all.as_is.communication * elapsed))}); // the largest was rounded to float
        }
    }
    for (RankRow& row : report_.rank)
        std::sort(row.phases.begin(), row.phases.end(),
                  [](const RankPhase& a, const RankPhase& b) { return a.phase < b.phase; });
}

void ReportBuilder::sum_ranks()
{
    Report& t = report_;
    std::sort(ranks_.begin(), ranks_.end(), [](const RankFigures& a, const RankFigures& b) { return a.rank < b.rank; });
    Uses all;
    std::map<int64_t, NodeRow> nodes;
    std::map<int64_t, Uses> node_uses;
    double lag = 0;
    for (RankFigures& r : ranks_) {
        const Uses uses = uses_of(r, busy_on_[r.node]);
        all.add(uses);
        node_uses[r.node].add(uses);
        const RankCounts& c = r.counts;
        NodeRow& n = nodes[r.node];
        n.node = r.node;
        n.host = r.host;
        n.ranks++;
        n.cores += double(uses.now.size());
        add_numbers(n.counts, c);
        add_numbers(t.totals, c);
        t.ranks++;
        t.cores += double(uses.now.size());
        t.elapsed_s = std::max(t.elapsed_s, c.wall_s);
        lag = std::max(lag, r.lag_s);
        t.rank.push_back({r.rank, r.node, r.workers, r.inactive, c, std::move(r.loops), std::move(r.cores),
                          std::move(r.over_time), {}});
    }
    t.nodes = double(nodes.size());
    t.as_is = efficiency(t.elapsed_s, all.now);
    t.without_stealing = efficiency(t.elapsed_s + lag, all.plain);
    t.speedup = ratio(t.elapsed_s + lag, t.elapsed_s);
    for (auto& [number, n] : nodes) {
        n.as_is = efficiency(t.elapsed_s, node_uses[number].now);
        n.without_stealing = efficiency(t.elapsed_s + lag, node_uses[number].plain);
        t.node.push_back(std::move(n));
    }
}

Report ReportBuilder::finish()
{
    Report& t = report_;
    sum_ranks();
    const std::vector<int64_t> places = order_phases();
    add_rank_phases(places);
    for (RankRow& rank : t.rank)
        for (LoopFigures& l : rank.loops)
            l.phase = l.phase >= 0 ? places[size_t(l.phase)] : l.phase;
    for (const auto& [name, sum] : loops_)
        t.loops.push_back({name, sum.counts, LoopCause::unknown,
                           sum.phase >= 0 ? places[size_t(sum.phase)] : sum.phase});
    for (LoopFigures& l : t.loops)
        l.cause = loop_cause(l, ratio(t.cores, t.nodes));
    std::stable_sort(t.loops.begin(), t.loops.end(), [](const LoopFigures& a, const LoopFigures& b) {
        return a.counts.computing_s + a.counts.borrowed_s > b.counts.computing_s + b.counts.borrowed_s;
    });
    for (const auto& [name, counts] : calls_)
        t.calls.push_back({name, counts});
    std::stable_sort(t.calls.begin(), t.calls.end(), [](const CallFigures& a, const CallFigures& b) {
        return std::max(a.counts.time_s, a.counts.blocked_s) > std::max(b.counts.time_s, b.counts.blocked_s);
    });
    return std::move(t);
}

} // namespace ws::observe
