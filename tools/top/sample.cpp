// SPDX-License-Identifier: MIT
#include "sample.h"

#include "phases.h"
#include <algorithm>
#include <set>

namespace ws::top {

using observe::Refusal;
using observe::SeatKind;
using observe::Seated;
using observe::refusal_kinds;

double part(double of, double whole) { return whole > 0 ? std::min(1.0, std::max(0.0, of / whole)) : 0; }

namespace {

uint64_t gone_by(uint64_t since, uint64_t at) { return since && at > since ? at - since : 0; }

// Counters only grow; but a wait that ended between the reads of its parts may look a little longer than it was.
double grown(uint64_t after, uint64_t before) { return after > before ? double(after - before) : 0; }

bool waits(Seated state) { return state == Seated::blocked || state == Seated::lent || state == Seated::asleep; }

// Ticks that a rank's cores and guests spent, in some interval.
struct SpentTicks {
    double time = 0;
    struct CoreTicks {
        double computing = 0, lent = 0, lends = 0;
    };
    std::vector<CoreTicks> cores;    // home, workers
    std::vector<double> guests; // busy, by core of the node
    double chunks = 0;          // of guests and workers
    double refused[refusal_kinds] = {}; // of the home rank's waits

    double borrowed() const
    {
        double sum = 0;
        for (double g : guests)
            sum += g;
        for (size_t i = 1; i < cores.size(); i++)
            sum += cores[i].computing;
        return sum;
    }
    double work() const { return cores.empty() ? 0 : cores[0].computing + borrowed(); }
};

SpentTicks spent(const Reading& a, const Reading* b)
{
    SpentTicks s;
    const uint64_t end = a.until(), begin = b ? b->until() : a.attached_at;
    s.time = grown(end, begin);
    static const SeatReading nothing;
    for (size_t i = 0; i < a.seats.size(); i++) {
        const SeatReading& now = a.seats[i];
        const SeatReading& then = b && i < b->seats.size() ? b->seats[i] : nothing;
        const double busy = grown(live_busy(now, end), live_busy(then, begin));
        s.chunks += grown(now.visit.chunks, then.visit.chunks);
        if (i >= a.cores()) {
            s.guests.push_back(std::min(busy, s.time));
            continue;
        }
        for (unsigned k = 0; i == 0 && k < refusal_kinds; k++) // workers are left out: they always want more
            s.refused[k] = grown(now.lend.refused_ticks[k], then.lend.refused_ticks[k]);
        SpentTicks::CoreTicks core;
        core.lends = grown(now.lend.lends, then.lend.lends);
        const double blocked = std::min(s.time, grown(live_blocked(now, end), live_blocked(then, begin)));
        core.computing = i == 0 ? s.time - blocked : std::min(busy, s.time);
        core.lent = std::min(s.time - core.computing, grown(live_lent(now, end), live_lent(then, begin)));
        s.cores.push_back(core);
    }
    return s;
}

Shares shares(const SpentTicks& s, const SpentTicks::CoreTicks& c)
{
    Shares r;
    r.computing = part(c.computing, s.time);
    r.lent = part(c.lent, s.time);
    r.waiting = s.time > 0 ? std::max(0.0, 1 - r.computing - r.lent) : 0;
    return r;
}

std::string row_name(const std::vector<LoopReading>& loops, unsigned row)
{
    return row < loops.size() ? loops[row].name : "";
}

// The rank of each core of a node, where it is seen.
using Cores = std::map<std::pair<int, unsigned>, const Reading*>;

// `whole`: since the job began, for which the ranks keep an estimate of their own of what stealing saved.
Metrics metrics(const std::vector<Reading>& ranks, const std::vector<SpentTicks>& spent, const Cores& home, bool whole)
{
    Metrics m;
    std::map<std::pair<int, unsigned>, double> useful; // of each core, in parts of the time
    std::vector<double> work; // of each rank
    double cores = 0, most_work = 0, lag = 0, cpus = 0, computing = 0, lent = 0, borrowed = 0;
    unsigned ranks_seen = 0;
    for (size_t i = 0; i < ranks.size(); i++) {
        const Reading& r = ranks[i];
        const SpentTicks& s = spent[i];
        if (s.time <= 0 || r.inactive)
            continue;
        const double seconds = s.time / r.ticks_per_us * 1e-6;
        m.seconds = std::max(m.seconds, seconds);
        ranks_seen++;
        for (size_t c = 0; c < s.cores.size(); c++) {
            cores += 1;
            computing += s.cores[c].computing / s.time;
            lent += s.cores[c].lent / s.time;
            m.lends_per_s += s.cores[c].lends / seconds;
            useful[{r.node, r.seats[c].core}] += s.cores[c].computing / s.time;
        }
        for (size_t c = 0; c < s.guests.size(); c++) {
            borrowed += s.guests[c] / s.time;
            if (s.guests[c] > 0 && home.count({r.node, unsigned(c)}))
                useful[{r.node, unsigned(c)}] += s.guests[c] / s.time;
        }
        m.steals_per_s += s.chunks / seconds;
        work.push_back(s.work() / s.time);
        most_work = std::max(most_work, work.back());
        cpus = std::max(cpus, double(r.node_cpus));
        if (whole)
            lag = std::max(lag, double(r.lag_ticks) / s.time);
    }
    if (!ranks_seen)
        return m;
    double refused = 0;
    for (size_t i = 0; i < ranks.size(); i++)
        for (unsigned k = 0; k < refusal_kinds; k++) {
            const double seconds = spent[i].refused[k] / ranks[i].ticks_per_us * 1e-6;
            m.waited_because[k] += seconds;
            refused += seconds;
        }
    for (double& because : m.waited_because)
        because = part(because, refused);
    m.shares.computing = computing / cores;
    m.shares.lent = lent / cores;
    m.shares.waiting = std::max(0.0, 1 - m.shares.computing - m.shares.lent);
    m.shares.borrowed = borrowed / cores;
    double sum_useful = 0, most_useful = 0;
    for (const auto& [core, part] : useful) {
        sum_useful += std::min(1.0, part);
        most_useful = std::max(most_useful, std::min(1.0, part));
    }
    m.parallel_efficiency = part(sum_useful, cores);
    m.load_balance = part(sum_useful / double(useful.size()), most_useful);
    // The rank with most work would have computed for so long. What even the busiest core waited now, all cores would
    // have waited then.
    double longest = std::max(1 + lag, most_work + 1 - most_useful), sum_work = 0;
    if (cpus > 0) // more guests and workers than CPUs count the time of each CPU several times
        longest = std::min(longest, std::max(1.0, cpus));
    for (double w : work)
        sum_work += std::min(w, longest);
    m.load_balance_without = part(sum_work / ranks_seen, std::min(most_work, longest));
    m.parallel_efficiency_without = part(sum_work, cores * longest);
    return m;
}

std::vector<LoopSample> loops(const std::vector<Reading>& after, const std::map<int, Reading>& before,
                              const std::vector<SpentTicks>& spent)
{
    struct Sum {
        LoopSample sample;
        double ever = 0;
    };
    std::map<std::string, Sum> by_name;
    double time = 0;
    for (const SpentTicks& s : spent)
        time += s.time;
    static const LoopReading nothing;
    // Only some of the short executions are timed: they stand for all.
    auto owner_ticks = [](const LoopReading& l) {
        return double(l.cut_ticks) +
               (l.timed_iterations ? double(l.timed_ticks) * double(l.whole_iterations) / double(l.timed_iterations)
                                   : 0);
    };
    for (size_t i = 0; i < after.size(); i++) {
        const Reading& r = after[i];
        const auto then = before.find(r.rank);
        const double seconds = spent[i].time / r.ticks_per_us * 1e-6;
        for (size_t k = 0; k < r.loops.size(); k++) {
            const LoopReading& now = r.loops[k];
            const LoopReading& old =
                then != before.end() && k < then->second.loops.size() ? then->second.loops[k] : nothing;
            Sum& sum = by_name[now.name];
            LoopSample& s = sum.sample;
            s.name = now.name;
            const double executions = double(now.whole_executions + now.cut_executions);
            s.executions += now.whole_executions + now.cut_executions;
            s.chunks_kept += now.whole_executions + now.kept_chunks;
            s.chunks_stolen += now.chunks_stolen;
            s.iterations_stolen += now.iterations_stolen;
            s.owner_share += part(std::max(0.0, owner_ticks(now) - owner_ticks(old)), time);
            s.guest_share += part(grown(now.borrowed_ticks, old.borrowed_ticks), time);
            if (seconds > 0) {
                s.executions_per_s +=
                    std::max(0.0, executions - double(old.whole_executions + old.cut_executions)) / seconds;
                s.steals_per_s += grown(now.chunks_stolen, old.chunks_stolen) / seconds;
            }
            sum.ever += owner_ticks(now) + double(now.borrowed_ticks);
        }
    }
    std::vector<Sum> sums;
    for (auto& [name, sum] : by_name)
        sums.push_back(std::move(sum));
    std::stable_sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
        const double x = a.sample.owner_share + a.sample.guest_share, y = b.sample.owner_share + b.sample.guest_share;
        return x != y ? x > y : a.ever > b.ever;
    });
    std::vector<LoopSample> result;
    for (Sum& sum : sums)
        result.push_back(std::move(sum.sample));
    return result;
}

} // namespace

#define WS_NAMED(kind, counter, where, mpi_t, help) \
    if (name == WS_NAME_##kind(counter)) \
        return WS_NAME_##kind(counter);

const char* counter_name(const std::string& name)
{
    WS_RANK_COUNTERS(WS_NAMED, WS_NAMED, WS_NAMED, WS_NAMED, WS_NO, WS_NO)
    return nullptr;
}

const char* refusal_name(Refusal why)
{
    static const char* const names[] = {"nothing_shared", "no_guest",   "core_taken", "all_wait",
                                        "lost_race",      "too_little", "barred",     "full"};
    static_assert(sizeof names / sizeof *names == refusal_kinds);
    return names[unsigned(why)];
}

const char* refusal_text(Refusal why)
{
    static const char* const texts[] = {
        "no shared loop ran", "guests are being made", "cores taken by other ranks", "all waited",
        "others were faster", "too little left",       "owner may not use the core", "no more can join the loop"};
    static_assert(sizeof texts / sizeof *texts == refusal_kinds);
    return texts[unsigned(why)];
}

uint64_t live_blocked(const SeatReading& s, uint64_t at) { return s.lend.blocked_ticks + gone_by(s.waits_since, at); }

uint64_t live_lent(const SeatReading& s, uint64_t at)
{
    return s.lend.lent_ticks + (s.state == Seated::lent ? gone_by(s.since, at) : 0);
}

uint64_t live_asleep(const SeatReading& s, uint64_t at)
{
    return s.lend.naps_ticks + (s.state == Seated::asleep ? gone_by(s.since, at) : 0);
}

uint64_t live_busy(const SeatReading& s, uint64_t at)
{
    const bool runs = s.state == Seated::visiting || (s.kind == SeatKind::worker && s.state == Seated::computing);
    return s.visit.borrowed_ticks + (runs ? gone_by(s.since, at) : 0);
}

namespace {

#define WS_OF_HOME(kind, name, where, mpi_t, help) \
    all.push_back({WS_NAME_##kind(name), double(r.seats[0].lend.WS_FIELD_##kind(name)) * WS_SCALE_##kind(tick)});
#define WS_OF_LENDERS(kind, name, where, mpi_t, help) \
    all.push_back({WS_NAME_##kind(name), \
                   sum([](const SeatReading& s) { return s.lend.WS_FIELD_##kind(name); }) * WS_SCALE_##kind(tick)});
#define WS_OF_VISITORS(kind, name, where, mpi_t, help) \
    all.push_back({WS_NAME_##kind(name), \
                   sum([](const SeatReading& s) { return s.visit.WS_FIELD_##kind(name); }) * WS_SCALE_##kind(tick)});
#define WS_OF_PROCESS(kind, name, where, mpi_t, help) \
    all.push_back({WS_NAME_##kind(name), double(r.process.WS_FIELD_##kind(name)) * WS_SCALE_##kind(tick)});

// Those that threads and the process count.
std::vector<Counter> counters(const Reading& r)
{
    std::vector<Counter> all;
    const double tick = 1e-6 / r.ticks_per_us;
    const auto sum = [&](auto field) {
        uint64_t n = 0;
        for (const SeatReading& s : r.seats)
            n += field(s);
        return double(n);
    };
    if (!r.seats.empty()) {
        WS_RANK_COUNTERS(WS_OF_LENDERS, WS_OF_HOME, WS_OF_VISITORS, WS_OF_PROCESS, WS_NO, WS_NO)
    }
    return all;
}

// Ticks of a rank's clock in seconds.
double seconds_of(const Reading& r, double ticks) { return ticks / r.ticks_per_us * 1e-6; }

// The loop that the tenant of a lent core runs there, if its board is among `ranks`, which are sorted by number.
std::string loop_on(const std::vector<Reading>& ranks, const Reading& lender, const SeatReading& lent)
{
    const auto tenant = std::lower_bound(ranks.begin(), ranks.end(), lent.other,
                                         [](const Reading& a, int rank) { return a.rank < rank; });
    if (tenant == ranks.end() || tenant->rank != lent.other || tenant->node != lender.node)
        return "";
    const SeatReading* guest = tenant->guest(lent.core);
    return guest && guest->state == Seated::visiting ? row_name(tenant->loops, guest->loop) : "";
}

// The `index`th core of rank `r`, the home core first. `ranks`: all, sorted by number.
CoreSample core_sample(const std::vector<Reading>& ranks, const Reading& r, size_t index, const SpentTicks& interval,
                       const SpentTicks& total)
{
    const SeatReading& seat = r.seats[index];
    const uint64_t end = r.until();
    CoreSample core;
    core.kind = index == 0 ? SeatKind::home : SeatKind::worker;
    core.core = seat.core;
    core.state = seat.state;
    core.state_s = seconds_of(r, double(gone_by(seat.since, end)));
    core.wait_s = seconds_of(r, double(gone_by(seat.waits_since, end)));
    if (index == 0 && waits(seat.state) && seat.call < r.calls.size())
        core.call = r.calls[seat.call];
    if (seat.state == Seated::lent) {
        core.tenant = seat.other;
        core.loop = loop_on(ranks, r, seat);
    }
    core.interval = shares(interval, interval.cores[index]);
    core.total = shares(total, total.cores[index]);
    core.lends_per_s = interval.time > 0 ? interval.cores[index].lends / seconds_of(r, interval.time) : 0;
    core.lends = seat.lend.lends;
    return core;
}

std::vector<GuestSample> guests_at_work(const Reading& r)
{
    std::vector<GuestSample> guests;
    for (unsigned c = 0; c < r.node_cores; c++) {
        const SeatReading* guest = r.guest(c);
        if (guest && guest->state == Seated::visiting && !r.over())
            guests.push_back({guest->other, row_name(r.loops, guest->loop),
                              seconds_of(r, double(gone_by(guest->since, r.until())))});
    }
    return guests;
}

// `ranks`: all, sorted by number.
RankSample rank_sample(const std::vector<Reading>& ranks, const Reading& r, const SpentTicks& interval,
                       const SpentTicks& total)
{
    RankSample k;
    k.rank = r.rank;
    k.node = r.node;
    k.pid = r.pid;
    k.uid = r.uid;
    k.host = r.host;
    k.program = r.program;
    k.phase = r.phase;
    k.inactive = r.inactive;
    k.condition = r.ended_at ? RankCondition::finished : r.alive ? RankCondition::running : RankCondition::died;
    k.seconds = seconds_of(r, grown(r.until(), r.attached_at));
    for (size_t c = 0; c < r.cores() && c < r.seats.size(); c++)
        k.cores.push_back(core_sample(ranks, r, c, interval, total));
    k.guests = guests_at_work(r);
    if (!k.cores.empty()) {
        k.interval = k.cores[0].interval;
        k.total = k.cores[0].total;
    }
    k.interval.borrowed = interval.time > 0 ? interval.borrowed() / interval.time : 0;
    k.total.borrowed = total.time > 0 ? total.borrowed() / total.time : 0;
    k.own_efficiency = k.interval.computing;
    k.efficiency = k.interval.computing + k.interval.borrowed;
    k.steals_per_s = interval.time > 0 ? interval.chunks / seconds_of(r, interval.time) : 0;
    for (const SeatReading& seat : r.seats) {
        k.chunks_stolen += seat.visit.chunks;
        k.iterations_stolen += seat.visit.iterations;
    }
    for (const LoopReading& l : r.loops)
        k.chunks_kept += l.whole_executions + l.kept_chunks;
    k.counters = counters(r);
    return k;
}

} // namespace

JobSample sample(const std::vector<Reading>& readings, const std::map<int, Reading>& before)
{
    JobSample job;
    std::vector<Reading> after = readings;
    std::sort(after.begin(), after.end(), [](const Reading& a, const Reading& b) { return a.rank < b.rank; });
    std::vector<SpentTicks> interval, total;
    Cores home;
    std::set<int> nodes;
    std::set<std::string> programs;
    for (const Reading& r : after) {
        const auto then = before.find(r.rank);
        interval.push_back(spent(r, then == before.end() ? nullptr : &then->second));
        total.push_back(spent(r, nullptr));
        for (unsigned c = 0; c < r.cores() && c < r.seats.size(); c++)
            home[{r.node, c == 0 ? unsigned(r.node_rank) : r.first_worker + c - 1}] = &r;
        nodes.insert(r.node);
        if (programs.insert(r.program).second)
            job.program += (job.program.empty() ? "" : ", ") + r.program;
    }
    job.nodes_seen = int(nodes.size());
    job.over = !after.empty();
    uint64_t lends = 0, chunks = 0;
    for (size_t i = 0; i < after.size(); i++) {
        const Reading& r = after[i];
        RankSample k = rank_sample(after, r, interval[i], total[i]);
        for (const CoreSample& core : k.cores)
            lends += core.lends;
        chunks += k.chunks_stolen;
        job.id = r.job;
        job.size = r.size;
        job.uid = r.uid;
        job.host = r.host;
        job.cores += unsigned(k.cores.size());
        job.seconds = std::max(job.seconds, k.seconds);
        job.over = job.over && r.over();
        job.died += k.condition == RankCondition::died;
        job.ranks.push_back(std::move(k));
    }
    job.interval = metrics(after, interval, home, false);
    job.total = metrics(after, total, home, true);
    job.interval.lends = job.total.lends = lends;
    job.interval.chunks_stolen = job.total.chunks_stolen = chunks;
    job.loops = loops(after, before, interval);
    job.phases = phases(after, before);
    return job;
}

} // namespace ws::top
