// SPDX-License-Identifier: MIT
#include "advice.h"

#include "observe/estimate.h"
#include "observe/format.h"
#include "observe/loop_cause.h"
#include "openmp/library/virtual_threads.h"
#include "policy/cores/deal.h"
#include "policy/placement/balance.h"
#include "shell.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

namespace doctor {

using namespace ws::observe;

namespace {

// What a turn of waiting and helping costs: the core is lent, the helper begins, and at the end the core returns.
// `./setup bench --only double --quick`: of loops of 100 and 200 us, 12 us of the possible gain are missing.
constexpr double hand_over_s = 12e-6;
// The part by which shared work becomes slower, because cores share memory; docs/about/estimate.md.
constexpr double slower = 0.03;
// Loops that others wait for so briefly may gain much less: a helper has to fetch their data into its cache each time.
// Conjugate gradients, whose loops take 0.1 to 0.9 ms, win 46 % of what is possible (`./setup bench --only advice`). A
// report without help does not tell how much data a loop reads, so what is expected lies in the middle.
constexpr double short_wait_s = 1e-3, sure_part_if_short = 0.4, expected_part_if_short = (1 + sure_part_if_short) / 2;
// How far two runs of one command may be apart on a quiet machine.
constexpr double run_noise = 0.03;
// How far an estimate may be wrong on a quiet machine, and from which on the noise of other programs counts; as in the
// summary.
constexpr double estimate_error = 0.05, noise_share = 0.1;

double ranks_of_node(const Report& r)
{
    double most = 0;
    for (const NodeRow& n : r.node)
        most = std::max(most, n.ranks);
    return most;
}

bool has_regions(const Report& r) { return r.totals.openmp_regions > 0; }
bool was_helped(const Report& r) { return r.totals.iterations_stolen > 0; }
bool is_share(const Report& r) { return r.conditions.openmp.compare(0, 5, "share") == 0; }
bool uses_openmp(const Report& r)
{
    const std::string& mode = r.conditions.openmp;
    return has_regions(r) || is_share(r) || mode == "lend" || mode == "balance" || mode == "auto" ||
           r.conditions.openmp_threads > 1;
}

Waited waited(const Report& r)
{
    return {r.elapsed_s, r.ranks, r.nodes, r.totals.blocked_s, r.totals.refused_s[unsigned(Refusal::all_wait)]};
}

double percent(double part, double of) { return of > 0 ? 100 * part / of : 0; }

// The command of a run with other options, ranks or threads. mpirun's own options are not in a report, but the binding
// and the number of ranks per node follow from it.
std::string command(const Report& r, const std::string& options, double ranks, double threads)
{
    std::string text = uses_openmp(r) ? format("OMP_NUM_THREADS=%.0f ", threads) : "";
    text += "mpirun " + options;
    const double per_node = std::ceil(ranks / std::max(r.nodes, 1.0));
    if (r.conditions.cpus >= per_node * threads)
        text += threads > 1 ? format(" -bind-to core:%.0f", threads) : " -bind-to core";
    text += format(" -n %.0f", ranks);
    if (r.nodes > 1)
        text += format(" -ppn %.0f", per_node);
    text += " " + quoted(r.program);
    for (const std::string& word : r.conditions.arguments)
        text += " " + quoted(word);
    return text;
}
std::string command(const Report& r, const std::string& options)
{
    return command(r, options, r.ranks, threads_of(r));
}
// As the run was started.
std::string own_options(const Report& r)
{
    std::string text = r.conditions.openmp == "hint" ? "-workshare" : "-workshare-openmp=" + r.conditions.openmp;
    if (r.conditions.openmp == "off")
        text = "-workshare " + text;
    return r.conditions.victim == "auto" ? text : text + " -workshare-victim " + r.conditions.victim;
}

// ---- one run

// How many waits ended while others of the node had computed, about.
double useful_waits(const Report& r)
{
    double waits = 0;
    for (const CallFigures& c : r.calls)
        waits += c.counts.waits;
    const Waited w = waited(r);
    return w.blocked_s > 0 ? waits * helpable_s(w) / w.blocked_s : 0;
}
// The same as turns of waiting: of a node's ranks, all but one wait at a time.
double turns(const Report& r) { return r.ranks > r.nodes ? useful_waits(r) / (r.ranks - r.nodes) : 0; }

bool waits_are_short(const Report& r) { return helpable_s(waited(r)) < short_wait_s * useful_waits(r); }

// The gain if helpers use `used_s` of the waiting, at least `least_s` of it and at most `most_s`, and become slower by
// `part` of what they use.
Gain gain_of(const Report& r, double least_s, double used_s, double most_s, double part)
{
    const Waited w = waited(r);
    const double lost_s = part * used_s / r.ranks + hand_over_s * turns(r), noise_s = r.totals.kept_off_s / r.ranks;
    const bool is_short = waits_are_short(r);
    Gain g = {speedup_of(w, is_short ? sure_part_if_short * least_s : least_s, 2 * lost_s + noise_s),
              speedup_of(w, is_short ? expected_part_if_short * used_s : used_s, lost_s), speedup_of(w, most_s)};
    g.expected = std::max(1.0, std::min(g.expected, g.high)); // what does not pay is not shared
    g.low = std::min(g.low, g.expected) / (1 + estimate_error);
    g.high *= 1 + estimate_error;
    return g;
}

std::string waited_text(const Report& r)
{
    const Waited w = waited(r);
    std::string text =
        format("ranks waited %.1f %% of the time, and in %.0f %% of that another rank of the node computed",
               percent(w.blocked_s, r.elapsed_s * r.ranks), percent(helpable_s(w), w.blocked_s));
    if (waits_are_short(r))
        text += format(", for %s at a time", duration(helpable_s(w) / useful_waits(r)).c_str());
    const CallFigures* most = nullptr;
    for (const CallFigures& c : r.calls)
        if (!most || c.counts.blocked_s > most->counts.blocked_s)
            most = &c;
    return most && most->counts.blocked_s > 0
               ? text + format("; %.0f %% of the waiting was in %s", percent(most->counts.blocked_s, w.blocked_s),
                               most->name.c_str())
               : text;
}

double faster_by(const Report& r, double saved_s)
{
    return saved_s < r.elapsed_s ? r.elapsed_s / (r.elapsed_s - saved_s) : 1;
}

bool is_worth(const Gain& g) { return g.low >= least_gain; }

std::string too_little(const Gain& g)
{
    return format("it may gain as little as %.2f times (expected %.2f, at most %.2f); advice begins at %.2f", g.low,
                  g.expected, g.high, least_gain);
}

void offer(Counsel& c, Advice&& a)
{
    if (is_worth(a.gain))
        c.advice.push_back(std::move(a));
    else
        c.not_advised.push_back({a.kind, a.what, too_little(a.gain)});
}

// Loops whose cause can be removed, if that could gain something.
void add_loops(const Report& r, Counsel& c)
{
    Waited w = waited(r);
    w.blocked_s = std::max(0.0, w.blocked_s - r.totals.helped_s);
    double all = 0;
    for (const LoopFigures& l : r.loops)
        all += time_of(l);
    for (const LoopFigures& l : r.loops) {
        const double most = speedup_of(w, helpable_in_regions_s(w, time_of(l)));
        if (time_of(l) >= 0.05 * all && *words_of(l.cause).remedy && most >= least_gain)
            c.loops.push_back({l.name, time_of(l) / all, l.cause, most});
    }
}

// A run in which ranks helped.
void judge_help(const Report& r, size_t run, Counsel& c)
{
    const double s = r.speedup, noise = percent(r.totals.kept_off_s, r.elapsed_s * r.ranks) / 100;
    const double error = std::max(estimate_error, noise);
    const std::string against =
        is_share(r) ? "the same virtual threads without help" : "the same job without sharing";
    const std::string basis = format("the run's own estimate: %.2f times as fast as %s, give or take %.0f %%", s,
                                     against.c_str(), 100 * error);
    const Gain gain = {s / (1 + error), s, s * (1 + error)};
    if (s >= 1)
        offer(c, {"keep", run, "Keep " + own_options(r) + " as it is", gain, false, basis, "",
                  {command(r, own_options(r))}});
    else
        offer(c, {"off",
                  run,
                  "Do not share in this job: leave -workshare out",
                  {1 / gain.high, 1 / s, 1 / gain.low},
                  false,
                  basis,
                  "",
                  {command(r, "")}});
    if (is_share(r))
        c.unknown.push_back({"whether share is faster than one thread per rank",
                             "in this run the program had " + format("%.0f", r.conditions.openmp_threads) +
                                 " threads of its own per rank, and its virtual threads may cost time themselves",
                             command(r, "-workshare -workshare-report=plain.json")});
    add_loops(r, c);
}

// What a rank computed in one half of its slices.
double half_s(const RankRow& r, double elapsed_s, bool second)
{
    const size_t n = r.over_time.size(), from = second ? n / 2 : 0, to = second ? n : n / 2;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += r.over_time[i].computing + r.over_time[i].borrowed;
    return n ? sum / double(n) * elapsed_s : 0;
}

// The seconds that the slowest rank saves if cores are assigned to the ranks of each node by what they computed in
// parallel regions in the first half of the run: twice what it saves in the second half. If loads do not last, nothing.
double saved_by_balance_s(const Report& r)
{
    using namespace ws::policy::cores;
    double before = 0, after = 0;
    for (const NodeRow& n : r.node) {
        std::vector<Measured> first, second;
        for (const RankRow& row : r.rank)
            if (row.node == n.node) {
                const unsigned cores = unsigned(threads_of(r));
                const RankCounts& c = row.counts;
                const double part = c.computing_s > 0 ? std::min(1.0, c.openmp_regions_s / c.computing_s) : 0;
                first.push_back({cores, part * half_s(row, r.elapsed_s, false)});
                second.push_back({cores, part * half_s(row, r.elapsed_s, true)});
            }
        before = std::max(before, slowest(second, dealt(second)));
        after = std::max(after, slowest(second, whole_deal(first)));
    }
    return 2 * std::max(0.0, before - after);
}

void advise_regions(const Report& r, size_t run, Counsel& c)
{
    const Waited w = waited(r);
    const double threads = threads_of(r), all_s = r.totals.openmp_regions_s;
    const double loops_s = std::max(0.0, all_s - r.totals.openmp_tasks_s);
    const double region_s = all_s / r.totals.openmp_regions, in_loops = helpable_in_regions_s(w, loops_s);
    const double in_all = helpable_in_regions_s(w, all_s), waits = useful_waits(r);
    const std::string basis = waited_text(r) + format("; %.0f parallel regions of %s each took %.0f %% of the time",
                                                      r.totals.openmp_regions, duration(region_s).c_str(),
                                                      percent(all_s, r.elapsed_s * r.ranks));
    // A virtual thread is not divided: on average half of one is left when the others have ended.
    const double whole =
        1 / (2 * double(ws_virtual_threads(unsigned(ranks_of_node(r)), unsigned(r.conditions.cpus), 1, 0)));
    Advice share = {"share", run, "Share the program's parallel regions: -workshare-openmp=share",
                    gain_of(r, in_loops, in_loops, in_loops, slower + whole), false, basis,
                    "the program is right with any number of threads; try it with OMP_NUM_THREADS=16 first",
                    {command(r, "-workshare-openmp=share")}};
    // A lent core joins the next region that opens, so half of one passes first; at worst a whole one.
    const double half = std::max(0.0, in_all - waits * region_s / 2), worst = std::max(0.0, in_all - waits * region_s);
    const char* const mode = threads > 1 ? "auto" : "lend";
    Gain lent = gain_of(r, worst, half, in_all, slower);
    if (threads > 1) { // cores change hands for good, too, after a few turns of the program
        const double saved_s = saved_by_balance_s(r);
        lent.expected = std::max(lent.expected, std::min(lent.high, faster_by(r, saved_s)));
        lent.low = std::max(lent.low, std::min(lent.expected, faster_by(r, 0.8 * saved_s)));
    }
    Advice lend = {mode, run, format("Give regions the cores of waiting ranks: -workshare-openmp=%s", mode),
                   lent, false, basis, "the program is right with any number of threads per region",
                   {command(r, std::string("-workshare-openmp=") + mode)}};
    Advice marked = {"mark_loops", run, "Replace omp parallel for by ws for on the loops that take long",
                     gain_of(r, in_loops, in_loops, in_loops, slower), false, basis,
                     "the parallel regions are loops; this run does not tell which of them take longest",
                     {"mpicc -fws -fopenmp -O3 ...", command(r, "-workshare")}};
    if (threads > 1) {
        offer(c, std::move(lend));
        c.unknown.push_back(
            {"what -workshare-openmp=share or ws for would gain",
             "the ranks have several threads, and a waiting rank lends its first core only in these modes"});
        return;
    }
    const bool share_first = share.gain.low >= lend.gain.low;
    offer(c, std::move(share_first ? share : lend));
    offer(c, std::move(share_first ? lend : share));
    offer(c, std::move(marked));
    // As fast, and no source has to change.
    std::stable_sort(c.advice.begin(), c.advice.end(), [](const Advice& a, const Advice& b) {
        return a.gain.low > b.gain.low + 0.02 && a.kind != std::string("mark_loops");
    });
}

// A run in which nobody helped: what sharing would gain.
void judge_waiting(const Report& r, size_t run, Counsel& c)
{
    const Waited w = waited(r);
    const double helpable = helpable_s(w), most = speedup_of(w, helpable);
    if (most < least_gain) {
        c.not_advised.push_back({"sharing", "Share loops or parallel regions",
                                 format("at most %.2f times as fast: ", most) + waited_text(r)});
        return;
    }
    // If one rank loses time to other programs, all others may wait for it; as in the summary.
    const double kept_off = r.totals.kept_off_s;
    if (r.conditions.others >= noise_share && kept_off * (ranks_of_node(r) - 1) > 0.2 * helpable) {
        c.unknown.push_back(
            {"what sharing would gain",
             format("the waiting may be noise: other programs used %.0f %% of a CPU, and ranks had no CPU "
                    "for %.1f %% of the time",
                    100 * r.conditions.others, percent(kept_off, r.elapsed_s * r.ranks)),
             command(r, own_options(r) + " -workshare-report=quiet.json")});
        return;
    }
    if (r.totals.executions > 0) { // marked, and yet not shared
        c.not_advised.push_back({"mark_loops", "Mark more loops",
                                 r.reason.empty() ? "its ws loops were not shared" : r.reason});
        add_loops(r, c);
        return;
    }
    if (waits_are_short(r))
        c.unknown.push_back({"whether what ranks compute is limited by memory",
                             format("waits are shorter than %.0f ms: the gain is between the lower bound, if helpers "
                                    "fetch much data each time, and the upper one; a run with sharing tells, if its "
                                    "report is named, too",
                                    1e3 * short_wait_s),
                             command(r, (has_regions(r) ? "-workshare-openmp=share" : "-workshare") +
                                            std::string(" -workshare-report=shared.json"))});
    if (has_regions(r)) {
        advise_regions(r, run, c);
        return;
    }
    offer(c, {"mark_loops", run, "Mark the loops that ranks compute in while others wait: #pragma ws for",
              gain_of(r, helpable, helpable, helpable, slower), false, waited_text(r),
              "the marked loops hold all that ranks computed while others waited; the run does not tell which loops "
              "those are",
              {"mpicc -fws -O3 ...", command(r, "-workshare")}});
    if (r.conditions.openmp != "hint")
        c.unknown.push_back({"the parallel regions of OpenMP", "they are counted under -workshare-openmp=hint only",
                             command(r, "-workshare -workshare-report=hint.json")});
}

void judge_sharing(const Report& r, size_t run, Counsel& c)
{
    const double per_node = ranks_of_node(r);
    const auto inactive =
        std::find_if(r.rank.begin(), r.rank.end(), [](const RankRow& x) { return !x.inactive.empty(); });
    if (inactive != r.rank.end())
        c.unknown.push_back({"what sharing would gain",
                             format("rank %.0f ran without it: ", double(inactive->rank)) + inactive->inactive,
                             "mpirun -workshare " + format("-n %.0f ws-doctor ", r.ranks) + quoted(r.program)});
    else if (per_node <= 1 && r.cores <= r.ranks)
        c.not_advised.push_back({"sharing", "Share loops or parallel regions", "every rank is alone on its node"});
    else if (r.conditions.cpus > 0 && per_node > r.conditions.cpus)
        c.unknown.push_back(
            {"what sharing would gain",
             format("there were %.0f ranks for %.0f CPUs, so waiting ranks had no core to lend", per_node,
                    r.conditions.cpus),
             command(r, own_options(r) + " -workshare-report=fewer.json", r.conditions.cpus * r.nodes, 1)});
    else if (was_helped(r))
        judge_help(r, run, c);
    else if (r.conditions.victim == "none")
        c.unknown.push_back({"what sharing would gain",
                             "-workshare-victim none does not record what ranks could have helped with",
                             command(r, "-workshare -workshare-report=run.json")});
    else
        judge_waiting(r, run, c);
}

// ---- nodes

// Assigns ranks to nodes by their load in the first half of the run, and returns what the busiest node then has in the
// second: if loads do not last, nothing is won.
double busiest_after(const Report& r, double& before)
{
    using namespace ws::policy::placement;
    std::map<int64_t, int> number; // of a node, in the order of `bins`
    Bins bins;
    for (const NodeRow& n : r.node) {
        number[n.node] = int(bins.size());
        bins.push_back({0});
    }
    Loads first, second;
    Assignment now;
    for (const RankRow& n : r.rank) {
        first.push_back(half_s(n, r.elapsed_s, false));
        second.push_back(half_s(n, r.elapsed_s, true));
        now.push_back(number[n.node]);
        bins[size_t(now.back())].room++;
    }
    before = heaviest(second, bins, now);
    return heaviest(second, bins, balance(Algorithm::automatic, first, bins, now));
}

void judge_nodes(const Report& r, size_t run, Counsel& c)
{
    constexpr char what[] = "Assign ranks to nodes by their load: MPIX_Load_create() instead of MPI_COMM_WORLD";
    if (r.nodes < 2) {
        c.not_advised.push_back({"between_nodes", "Move ranks, rows or tasks between nodes", "the job had one node"});
        return;
    }
    const double between = r.without_stealing.load_balance_between;
    if (between > 1 / least_gain) {
        c.not_advised.push_back({"between_nodes", "Move ranks, rows or tasks between nodes",
                                 format("nodes are balanced: %.1f %%", 100 * between)});
        return;
    }
    c.unknown.push_back(
        {"what moving rows (XMPI) or tasks between nodes would gain",
         format("a report does not tell whether the data can move; together with sharing it can bring at "
                "most %.2f times more",
                1 / between)});
    double before = 0;
    const double after = busiest_after(r, before);
    if (before <= 0) {
        c.unknown.push_back({"what reordering ranks would gain", "the report has no times by slice"});
        return;
    }
    // Both halves; at least half of it, because messages between nodes may become slower.
    const double won_s = 2 * std::max(0.0, before - after) / ranks_of_node(r);
    const Gain gain = {faster_by(r, won_s / 2), faster_by(r, won_s),
                       faster_by(r, std::max(won_s, (1 - between) * r.elapsed_s))};
    if (!was_helped(r))
        c.unknown.push_back({"what reordering ranks would gain", "without sharing inside nodes, it does not matter on "
                             "which node a rank is; share first, then ask again"});
    else
        offer(
            c,
            {"reorder", run, what, gain, false,
             format(
                 "nodes are balanced to %.1f %%; assigned by their load in the first half of the run, ranks would have "
                 "had %.0f %% of the busiest node's time in the second",
                 100 * between, percent(after, before)),
             "messages between the ranks become no slower"});
}

// ---- several runs

struct Point {
    double ranks, threads, outside_s, regions_s, waiting, elapsed_s;
};

Point point_of(const Report& r)
{
    // What a core computed for others is work, too.
    const double useful = (r.totals.computing_s + r.totals.helped_s) / r.ranks;
    const double regions = std::min(useful, r.totals.openmp_regions_s / r.ranks);
    return {r.ranks, threads_of(r), useful - regions, regions,
            r.elapsed_s > 0 ? std::max(0.0, 1 - useful / r.elapsed_s) : 0, r.elapsed_s};
}

// y = at[0] + at[1] * x by least squares; both are 0 or more, unless `any_sign`. With one x, the mean.
void fit(const std::vector<double>& x, const std::vector<double>& y, bool any_sign, double (&at)[2])
{
    const double n = double(x.size()), mx = std::accumulate(x.begin(), x.end(), 0.0) / n,
                 my = std::accumulate(y.begin(), y.end(), 0.0) / n;
    double xx = 0, xy = 0, x0 = 0, y0 = 0;
    for (size_t i = 0; i < x.size(); i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        x0 += x[i] * x[i];
        y0 += x[i] * y[i];
    }
    at[1] = xx > 1e-12 ? xy / xx : 0;
    at[0] = my - at[1] * mx;
    if (any_sign || xx <= 1e-12)
        return;
    if (at[1] < 0) { // more cores compute longer: no work divides
        at[1] = 0;
        at[0] = my;
    } else if (at[0] < 0) { // faster than in proportion: caches, or noise
        at[0] = 0;
        at[1] = x0 > 0 ? y0 / x0 : 0;
    }
}

Model model_of(const std::vector<Point>& points)
{
    Model m = {};
    std::vector<double> by_ranks, by_cores, logs, outside, regions, waiting;
    std::set<double> ranks, cores;
    for (const Point& p : points) {
        ranks.insert(p.ranks);
        cores.insert(p.ranks * p.threads);
        by_ranks.push_back(1 / p.ranks);
        by_cores.push_back(1 / (p.ranks * p.threads));
        logs.push_back(std::log2(p.ranks));
        outside.push_back(p.outside_s);
        regions.push_back(p.regions_s);
        waiting.push_back(p.waiting);
    }
    fit(by_ranks, outside, false, m.outside);
    fit(by_cores, regions, false, m.regions);
    fit(logs, waiting, true, m.waiting);
    m.by_ranks = ranks.size() > 1;
    m.by_cores = cores.size() > 1;
    return m;
}

bool is_same_shape(const Point& a, const Point& b) { return a.ranks == b.ranks && a.threads == b.threads; }

size_t shapes_of(const std::vector<Point>& points)
{
    std::set<std::pair<double, double>> shapes;
    for (const Point& p : points)
        shapes.insert({p.ranks, p.threads});
    return shapes.size();
}

// The part of a run's time that no line through the other runs predicts: they all have one number of ranks (or cores),
// and this run has another. That cannot be so for each run of three shapes.
double undetermined(const std::vector<Point>& others, const Point& p)
{
    const auto all_differ = [&](auto x_of) {
        return std::all_of(others.begin(), others.end(),
                           [&](const Point& o) { return x_of(o) == x_of(others[0]) && x_of(o) != x_of(p); });
    };
    double time_s = 0;
    if (all_differ([](const Point& q) { return q.ranks; }))
        time_s += p.outside_s + p.waiting * p.elapsed_s;
    if (all_differ([](const Point& q) { return q.ranks * q.threads; }))
        time_s += p.regions_s;
    return time_s / p.elapsed_s;
}

Model scaling_of(const std::vector<Point>& points)
{
    Model m = model_of(points);
    if (shapes_of(points) < 3)
        return m;
    for (size_t out = 0; out < points.size(); out++) {
        std::vector<Point> others = points;
        others.erase(others.begin() + long(out));
        if (undetermined(others, points[out]) > run_noise)
            continue;
        const double predicted = model_of(others).elapsed_s(points[out].ranks, points[out].threads);
        m.error = std::max(m.error.value_or(run_noise), std::fabs(predicted / points[out].elapsed_s - 1));
    }
    return m;
}

// Whether the runs tell of this shape: inside of what was measured, or a factor of two beyond it.
bool is_in_range(const std::vector<Point>& points, const Model& m, double ranks, double threads, bool& beyond)
{
    double least[2] = {INFINITY, INFINITY}, most[2] = {0, 0};
    for (const Point& p : points) {
        least[0] = std::min(least[0], p.ranks), most[0] = std::max(most[0], p.ranks);
        least[1] = std::min(least[1], p.threads), most[1] = std::max(most[1], p.threads);
    }
    beyond = ranks < least[0] || ranks > most[0] || threads < least[1] || threads > most[1];
    return ranks >= least[0] / 2 && ranks <= 2 * most[0] && threads >= least[1] / 2 && threads <= 2 * most[1] &&
           (m.by_ranks || ranks == least[0]) && (m.by_cores || ranks * threads == points[0].ranks * points[0].threads);
}

struct Shape {
    double ranks, threads, elapsed_s;
    bool beyond;
};

// The shape with the least predicted time that was not measured, fits the CPUs and is in range. None: ranks 0.
Shape best_shape(const std::vector<Report>& runs, const std::vector<Point>& points, const Model& m)
{
    double cpus = 0, nodes = 1;
    for (const Report& r : runs) {
        cpus = std::max(cpus, r.conditions.cpus * r.nodes);
        nodes = std::max(nodes, r.nodes);
    }
    Shape best = {0, 0, INFINITY, false};
    for (const Point& a : points)
        for (const Point& b : points)
            for (double of_ranks : {0.5, 1.0, 2.0})
                for (double of_threads : {0.5, 1.0, 2.0}) {
                    Shape s = {a.ranks * of_ranks, b.threads * of_threads, 0, false};
                    const bool is_measured = std::any_of(points.begin(), points.end(), [&](const Point& p) {
                        return p.ranks == s.ranks && p.threads == s.threads;
                    });
                    if (is_measured || s.ranks < nodes || s.threads < 1 || s.ranks != std::floor(s.ranks) ||
                        s.threads != std::floor(s.threads) || (cpus > 0 && s.ranks * s.threads > cpus) ||
                        !is_in_range(points, m, s.ranks, s.threads, s.beyond))
                        continue;
                    s.elapsed_s = m.elapsed_s(s.ranks, s.threads);
                    if (s.elapsed_s < best.elapsed_s)
                        best = s;
                }
    return best;
}

std::string model_text(const Model& m, size_t runs)
{
    std::string text = format("time = serial + work / cores + waiting, fitted to %zu runs", runs);
    return m.error ? text + format("; one left out, the others predict it to %.0f %%", 100 * *m.error) : text;
}

void predict_shape(const std::vector<Report>& same, const std::vector<Point>& points, const Model& m, size_t run,
                   const Report& fastest, Counsel& c)
{
    const Shape s = best_shape(same, points, m);
    if (s.ranks == 0) {
        c.not_advised.push_back({"shape", "Another number of ranks or threads",
                                 "all that the CPUs have room for, within a factor of two of the runs, was measured or "
                                 "cannot be predicted from them"});
        return;
    }
    const std::string what = "Start " + shape_text(s.ranks, s.threads);
    if (!m.error) {
        c.unknown.push_back(
            {"other numbers of ranks and threads than those of the runs",
             "two different runs fit time = serial + work / cores + waiting exactly, so its error is unknown; "
             "a third gives it",
             command(fastest, own_options(fastest) + " -workshare-report=third.json", s.ranks, s.threads)});
        return;
    }
    const double error = *m.error * (s.beyond ? 2 : 1), factor = fastest.elapsed_s / s.elapsed_s;
    offer(c, {"shape", run, what, {factor / (1 + error), factor, factor / std::max(0.1, 1 - error)}, false,
              model_text(m, points.size()) + (s.beyond ? "; the error counts twice beyond what was measured" : ""),
              "the work is the same for any number of ranks",
              {command(fastest, own_options(fastest), s.ranks, s.threads)}});
}

bool is_same_mode(const Report& a, const Report& b)
{
    return a.conditions.openmp == b.conditions.openmp && a.conditions.victim == b.conditions.victim;
}

// Compares the runs, and returns the fastest one.
size_t compare_runs(const std::vector<Report>& runs, Counsel& c)
{
    size_t best = 0;
    for (size_t i = 1; i < runs.size(); i++)
        if (runs[i].elapsed_s < runs[best].elapsed_s)
            best = i;
    const Report &first = runs[0], &fastest = runs[best];
    // Runs of one command show the noise.
    double noise = run_noise;
    for (const Report& r : runs) {
        noise = std::max(noise, percent(r.totals.kept_off_s, r.elapsed_s * r.ranks) / 100);
        if (&r != &first && is_same_mode(r, first) && is_same_shape(point_of(r), point_of(first)))
            noise = std::max(noise, std::fabs(r.elapsed_s / first.elapsed_s - 1));
    }
    if (best != 0) {
        const double factor = first.elapsed_s / fastest.elapsed_s;
        const bool is_shape = !is_same_shape(point_of(fastest), point_of(first));
        offer(c, {is_shape ? "shape" : "mode", 0,
                  "Start " + shape_text(fastest.ranks, threads_of(fastest)) + " with " + own_options(fastest),
                  {factor / (1 + noise), factor, factor * (1 + noise)}, true,
                  format("measured: %.3f s instead of %.3f s", fastest.elapsed_s, first.elapsed_s), "",
                  {command(fastest, own_options(fastest))}});
    } else {
        c.not_advised.push_back({"shape", "Another of the measured runs", "the first is the fastest"});
    }
    return best;
}

void judge_scaling(const std::vector<Report>& runs, Counsel& c, size_t& best)
{
    best = compare_runs(runs, c);
    std::vector<Report> same;
    std::vector<Point> points;
    for (const Report& r : runs)
        if (is_same_mode(r, runs[best])) {
            same.push_back(r);
            points.push_back(point_of(r));
        }
    if (shapes_of(points) < 2) {
        c.unknown.push_back({"other numbers of ranks and threads",
                             "the runs in the fastest one's mode do not differ in ranks or threads"});
        return;
    }
    c.model = scaling_of(points);
    predict_shape(same, points, *c.model, best, runs[best], c);
}

void check_binding(const Report& r, Counsel& c)
{
    const double threads = threads_of(r), kept_off = percent(r.totals.kept_off_s, r.elapsed_s * r.ranks);
    if (r.conditions.rank_cpus > threads && r.conditions.cpus >= ranks_of_node(r) * threads && kept_off >= 2 &&
        r.conditions.others < noise_share)
        c.unknown.push_back(
            {"what binding would gain",
             format("rank 0 could use %.0f CPUs, and ranks had no CPU for %.1f %% of the time; a bound run "
                    "tells",
                    r.conditions.rank_cpus, kept_off),
             command(r, own_options(r) + " -workshare-report=bound.json")});
}

} // namespace

double Model::elapsed_s(double ranks, double threads) const
{
    const double computing = outside[0] + outside[1] / ranks + regions[0] + regions[1] / (ranks * threads);
    const double waits = std::min(0.9, std::max(0.0, waiting[0] + waiting[1] * std::log2(ranks)));
    return computing / (1 - waits);
}

double threads_of(const Report& r) { return uses_openmp(r) ? std::max(1.0, r.conditions.openmp_threads) : 1; }

std::string shape_text(double ranks, double threads)
{
    return format("%.0f rank%s x %.0f thread%s", ranks, ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s");
}

std::string program_name(const Report& r) { return r.program.substr(r.program.rfind('/') + 1); }

std::string why_useless(const Report& r)
{
    if (r.conditions.openmp_threads <= 0)
        return "Workshare " + r.workshare +
               " wrote it, which did not record how the job was started; run the job again";
    if (!(r.elapsed_s > 0) || !(r.ranks >= 1) || r.node.empty() || r.rank.empty())
        return "it is of a run that took no time or had no ranks";
    return "";
}

Counsel advise(const std::vector<Report>& runs)
{
    for (const Report& r : runs)
        if (program_name(r) != program_name(runs[0]))
            throw std::runtime_error("the runs are of different programs: " + program_name(runs[0]) + " and " +
                                     program_name(r));
    Counsel c;
    size_t best = 0;
    if (runs.size() > 1)
        judge_scaling(runs, c, best);
    else
        c.unknown.push_back({"other numbers of ranks and threads",
                             "one run shows no scaling; name the reports of two or three runs with different -n or "
                             "OMP_NUM_THREADS"});
    judge_sharing(runs[best], best, c);
    judge_nodes(runs[best], best, c);
    check_binding(runs[best], c);
    return c;
}

} // namespace doctor
