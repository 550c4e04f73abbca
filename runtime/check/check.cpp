// SPDX-License-Identifier: MIT
#include "check/check.h"

#include "loop/chaos.h"
#include "loop/open_region.h"
#include "check/serial_pass.h"
#include "check/sites.h"
#include "base/spin_lock.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

namespace ws::check {

using namespace loop;
using base::ticks;

// How long to wait for a helper that is expected. Where none comes again and again, the wait becomes
// short.
constexpr uint64_t helper_patience_us = 100000, helper_little_patience_us = 2000;
// Passes above long_pass_s are compared once for each order. A pass may take pass_patience_s, or
// unknown_pass_s where nothing is known of the loop.
constexpr double long_pass_s = 5, pass_patience_s = 2, unknown_pass_s = 10;

namespace {

// The most chunks of a loop whose chunks are to be small: a loop of a billion iterations must come to an end.
constexpr uint64_t most_chunks = 4096;
constexpr unsigned often = 3; // waits for a helper in vain after which the wait becomes short
volatile Flag in_vain; // waits in a row in which none came

Chaos dice = [] {
    Chaos c;
    c.seed(0x9E3779B97F4A7C15ull);
    return c;
}();

// A loop, and the work that went into comparing its results.
struct Noted : CheckedLoop {
    unsigned tries[check_orders] = {}, matches[check_orders] = {};
    unsigned failures = 0, messages = 0;
    double seconds = 0, seconds_each = 0; // time of all its serial passes; an iteration's time in the slowest of them
};

base::SpinLock noting;
// Never freed: loops may run while the process exits.
std::map<const ws_site*, Noted>& notes()
{
    static auto* map = new std::map<const ws_site*, Noted>;
    return *map;
}
template <class Change> auto with_note(const ws_site* site, Change&& change)
{
    struct Lock {
        Lock() { noting.lock(); }
        ~Lock() { noting.unlock(); }
    } lock;
    return change(notes()[site]);
}

// A clause makes it so.
bool is_one_chunk(const Region& r)
{
    return r.thief.kind != WS_AUTO && r.thief.kind != WS_GUIDED && r.thief.chunk >= r.units;
}

template <class Change> void note(const ws_site* site, Change&& change)
{
    if (!host().check)
        return;
    with_note(site, [&](CheckedLoop& loop) {
        loop.runs++;
        change(loop);
    });
}

Order next_order(const ws_site* site)
{
    const uint64_t runs = with_note(site, [](Noted& n) { return n.runs; });
    return Order(first_order + (host().first_order + runs) % check_orders);
}

// ---- results of reductions, compared with those of serial passes

// An execution of a region whose results are to be compared when it is over.
struct Comparison {
    const ws_site* site;
    void* data;
    Order order;
    uint64_t iterations;
    std::vector<Result> results;
    std::optional<SerialPasses> passes;
    double seconds = 0; // of the longest pass

    Spread spread(unsigned result, uint64_t element) const;
    // The first element that differs from the serial pass by more than `bound` says, and how many do; -1 if none does.
    template <class Bound>
    int64_t find_difference(unsigned result, const char* values, Bound&& bound, uint64_t& number) const;
    bool tell_difference(unsigned result, const char* values, bool is_shared);
};
std::unique_ptr<Comparison> comparisons[window::max_slots]; // by slot; an owner has one region

// How many executions of a loop are compared in each order, also if passes take long; and how many tries may fail.
constexpr unsigned enough = 2, enough_of_long = 1, most_tries = 6, most_failures = 3;
constexpr uint64_t most_elements = uint64_t(1) << 20;
constexpr unsigned most_messages = 4; // a loop
constexpr double times_as_long = 30; // how much longer a pass may take than the loop is expected to

volatile Flag some_differ;

Spread Comparison::spread(unsigned i, uint64_t e) const
{
    const Result& r = results[i];
    const size_t at = e * (r.size() / r.count);
    const char* const serial = passes->values(Pass::serial, i) + at;
    Spread s = {0, magnitude(r, serial)};
    for (Pass shuffled : {Pass::shuffled_1, Pass::shuffled_2}) {
        const double deviation = distance(r, serial, passes->values(shuffled, i) + at),
                     m = passes->magnitudes(shuffled, i)[e];
        s.deviation = deviation > s.deviation ? deviation : s.deviation;
        s.magnitude = m > s.magnitude ? m : s.magnitude;
    }
    return s;
}

template <class Bound>
int64_t Comparison::find_difference(unsigned i, const char* values, Bound&& bound, uint64_t& number) const
{
    const Result& r = results[i];
    const size_t bytes = r.size() / r.count;
    const char* const serial = passes->values(Pass::serial, i);
    double usual = 0; // an element whose sum happens to be nearly 0 was made of values as large as those of the others
    if (r.is_rounded() && r.count > 1) {
        for (uint64_t e = 0; e < r.count; e++)
            if (const double m = spread(i, e).magnitude; m < 1e300)
                usual += m / double(r.count);
    }
    int64_t first = -1;
    number = 0;
    for (uint64_t e = 0; e < r.count; e++) {
        const double d = distance(r, serial + e * bytes, values + e * bytes);
        if (d == 0)
            continue;
        if (r.is_rounded()) {
            Spread s = spread(i, e);
            s.magnitude = usual > s.magnitude ? usual : s.magnitude;
            if (d <= bound(r, s, iterations, seconds))
                continue;
        }
        if (first < 0)
            first = int64_t(e);
        number++;
    }
    return first;
}

// Compares a result with the serial pass's: as the loop left it when it was shared, or as another pass of one thread
// did.
bool Comparison::tell_difference(unsigned i, const char* values, bool is_shared)
{
    const Result& r = results[i];
    uint64_t number;
    const auto bound = is_shared ? allowed : most_rounding;
    const int64_t e = find_difference(i, values, bound, number);
    if (e < 0)
        return false;
    Hardware::store_relaxed(some_differ, 1);
    if (with_note(site, [](Noted& n) { return n.messages++; }) >= most_messages)
        return true;
    const size_t at = size_t(e) * (r.size() / r.count);
    const std::string one = text_of_element(r, passes->values(Pass::serial, i) + at),
                      other = text_of_element(r, values + at);
    std::string name = "'" + r.name + "'", rest;
    if (r.count > 1)
        name += " (element " + std::to_string(e + 1) + " of " + std::to_string(r.count) + ")";
    if (number > 1)
        rest = "; " + std::to_string(number - 1) + (number > 2 ? " more elements differ" : " more element differs");
    const std::string found =
        is_shared ? " with one thread, " + other + " shared (order " + order_name(unsigned(order) - first_order) + ")"
                  : " in order and " + other + " in another order, both with one thread";
    // In one write, other than fprintf's (mpi/report.cpp)
    std::fputs(
        ("workshare check: " + std::string(site->where) + ": reduction " + name + " is " + one + found + rest + "\n")
            .c_str(),
        stderr);
    return true;
}

void note_uncompared(const ws_site* site, const std::string& why, unsigned failures)
{
    with_note(site, [&](Noted& n) {
        n.failures += failures;
        n.uncompared += failures != 0;
        if (n.why_not.empty())
            n.why_not = why;
    });
}

// Shuffled passes are needed only where something is rounded.
bool run_passes(Comparison& c, double seconds)
{
    const bool rounded =
        std::any_of(c.results.begin(), c.results.end(), [](const Result& r) { return r.is_rounded(); });
    for (Pass pass : {Pass::serial, Pass::shuffled_1, Pass::shuffled_2}) {
        if (pass == Pass::shuffled_2 && !rounded)
            break;
        if (!c.passes->run(pass, seconds)) {
            note_uncompared(c.site, c.passes->why(), c.passes->timed_out() ? 2 : 1);
            return false;
        }
        c.seconds = std::max(c.seconds, c.passes->seconds(pass));
        with_note(c.site, [&](Noted& n) {
            n.seconds += c.passes->seconds(pass);
            n.seconds_each = std::max(n.seconds_each, c.seconds / double(c.iterations));
        });
    }
    // Is it the same in another order, by one thread?
    bool same = true;
    uint64_t number;
    for (unsigned i = 0; i < c.results.size(); i++)
        for (Pass shuffled : {Pass::shuffled_1, Pass::shuffled_2})
            if (shuffled == Pass::shuffled_1 || rounded)
                same = same && c.find_difference(i, c.passes->values(shuffled, i), most_rounding, number) < 0;
    if (same)
        return true;
    // And once more in the same?
    if (!c.passes->run(Pass::again, seconds)) {
        note_uncompared(c.site, c.passes->why(), 1);
        return false;
    }
    bool differ = false;
    for (unsigned i = 0; i < c.results.size(); i++)
        if (std::memcmp(c.passes->values(Pass::serial, i), c.passes->values(Pass::again, i), c.results[i].size())) {
            note_uncompared(
                c.site,
                "two serial passes give different results: its body depends on time, random numbers or the like", 1);
            return false;
        }
    for (unsigned i = 0; i < c.results.size(); i++)
        differ |= c.tell_difference(i, c.passes->values(Pass::shuffled_1, i), false) ||
                  (rounded && c.tell_difference(i, c.passes->values(Pass::shuffled_2, i), false));
    with_note(c.site, [&](Noted& n) {
        n.compared++;
        n.differ += differ;
        n.matches[unsigned(c.order) - first_order]++;
    });
    return false;
}

// Before the region is published.
void compare_serially(Region& r, const Sizing& own)
{
    std::unique_ptr<Comparison>& of_slot = comparisons[&r - &region_in(0)];
    of_slot.reset();
    if (!(r.site->kinds & WS_SITE_RESULTS) || is_one_chunk(r))
        return;
    std::vector<Result> results = results_of(r.site);
    std::string unknown;
    uint64_t elements = 0;
    for (const Result& result : results) {
        if (result.type == '?')
            unknown += (unknown.empty() ? "'" : ", '") + result.name + "'";
        elements += result.type == '?' ? 0 : result.count;
    }
    if (!unknown.empty())
        note_uncompared(r.site, "of " + unknown + " place, type or size are not known", 0);
    results.erase(std::remove_if(
                      results.begin(), results.end(),
                      [&](const Result& result) { return result.type == '?' || !find_result(result, r.site, r.data); }),
                  results.end());
    if (elements > most_elements) {
        note_uncompared(r.site, "they have more than " + std::to_string(most_elements) + " elements", 0);
        return;
    }
    const bool wanted = !results.empty() && with_note(r.site, [&](Noted& n) {
        const unsigned order = unsigned(r.chosen) - first_order;
        return n.failures < most_failures &&
               n.matches[order] < (n.seconds > long_pass_s ? enough_of_long : enough) &&
               n.tries[order]++ < most_tries;
    });
    if (!wanted)
        return;
    auto c = std::make_unique<Comparison>();
    c->site = r.site;
    c->data = r.data;
    c->order = r.chosen;
    c->iterations = r.bounds.iterations;
    c->results = std::move(results);
    const Sizing& fixed = own.kind != WS_AUTO ? own : r.thief;
    c->passes.emplace(r, c->results, r.site->kinds & 0xffff ? fixed.chunk * r.unit : 0);
    const double each = std::max(peek(learned(r.site).unit_ticks) / host().ticks_per_us / 1e6,
                                 with_note(r.site, [](Noted& n) { return n.seconds_each; }));
    const double estimate = each * double(r.bounds.iterations);
    if (!c->passes->ready())
        note_uncompared(r.site, "no memory for their values", 1);
    else if (run_passes(*c, estimate > 0 ? pass_patience_s + times_as_long * estimate
                                         : unknown_pass_s))
        of_slot = std::move(c);
    r.opened_at = ticks();
}

// After it; helpers have run a part of it.
void compare_shared(const Region& r)
{
    const std::unique_ptr<Comparison> c = std::move(comparisons[&r - &region_in(0)]);
    if (!c)
        return;
    bool differ = false;
    for (unsigned i = 0; i < c->results.size(); i++)
        differ |= c->tell_difference(i, find_result(c->results[i], c->site, c->data), true);
    with_note(c->site, [&](Noted& n) {
        n.compared++;
        n.differ += differ;
        n.matches[unsigned(c->order) - first_order]++;
    });
}

class Test final : public Checks {
public:
    bool open(Region& r, Sizing& own) override;
    void leave_to_helpers(Region& r) override;
    void before_chunk(Region& r) override;
    uint64_t random_size(uint64_t remaining) override;
    bool shuffled_next(Participant& p, long* lo, long* hi) override { return check::shuffled_next(p, lo, hi); }
    void note_short(const ws_site* site, uint64_t iterations) override;
    void note_plain(const ws_site* site) override;
    void note_refused(const ws_site* site) override;
    void note_published(const Region& r, uint64_t stolen) override;
} test;

} // namespace

Checks& checks() { return test; }

bool results_differ() { return Hardware::load_relaxed(some_differ); }

void CheckedLoop::add(const CheckedLoop& more)
{
    runs += more.runs;
    empty += more.empty;
    single += more.single;
    plain += more.plain;
    refused += more.refused;
    one_chunk += more.one_chunk;
    nobody += more.nobody;
    shared += more.shared;
    iterations += more.iterations;
    helped += more.helped;
    for (unsigned i = 0; i < check_orders; i++)
        orders[i] += more.orders[i];
    compared += more.compared;
    differ += more.differ;
    uncompared += more.uncompared;
    if (why_not.empty())
        why_not = more.why_not;
}

const char* order_name(unsigned order)
{
    static constexpr const char* names[check_orders] = {"backwards", "halves", "forwards", "turns", "random"};
    return names[order];
}

bool Test::open(Region& r, Sizing& own)
{
    if (r.units < 2) {
        note_short(r.site, r.bounds.iterations);
        return false;
    }
    // Under WS_CHAOS the owner waits for a helper only now and then; otherwise chance decides whether one comes.
    r.chosen = host().check       ? next_order(r.site)
               : host().steal_all ? Order::to_others
               : chaos.random(4)     ? Order::usual
                                     : Order::turns;
    Hardware::store_relaxed(r.order, Flag(r.chosen));
    Hardware::store_relaxed(r.begun, 0);
    r.random_sizes = false;
    if (!host().check)
        return true;
    if (own.kind == WS_AUTO && r.thief.kind == WS_AUTO) {
        r.random_sizes = r.chosen == Order::random;
        r.backwards = r.chosen == Order::backwards && has_free_order(r.site, host());
        own.kind = r.thief.kind = WS_DYNAMIC;
        own.chunk = r.thief.chunk = r.chosen == Order::halves ? (r.units + 1) / 2 : (r.units - 1) / most_chunks + 1;
    }
    compare_serially(r, own);
    return true;
}

void Test::leave_to_helpers(Region& r)
{
    const Order order = Order(Hardware::load_relaxed(r.order));
    if (order == Order::usual)
        return;
    const bool everything = order == Order::to_others || order == Order::forwards;
    const uint64_t us = Hardware::load_relaxed(in_vain) < often ? helper_patience_us
                                                                : helper_little_patience_us;
    const uint64_t patience = uint64_t(double(us) * host().ticks_per_us);
    const Descriptor& d = *r.descriptor;
    uint64_t since = ticks(), before = r.units;
    for (unsigned turn = 1;; turn++) {
        const Descriptor::Look look = d.look();
        if (!look.remaining)
            return;
        if (look.joiners || look.remaining != before) {
            Hardware::store_relaxed(in_vain, 0);
            if (!everything)
                return;
            since = ticks();
            before = look.remaining;
        } else if (!host().lending->somebody_waits())
            break;
        else if (ticks() - since > patience) {
            Hardware::fetch_add_full(in_vain, 1);
            break;
        }
        make_wanted_guests();
        if (turn % 64 == 0) // wakes those that have fallen asleep meanwhile
            host().lending->wake();
        if (turn < 64)
            sched_yield();
        else
            usleep(20);
    }
    Hardware::store_relaxed(r.order, Flag(Order::usual)); // from here on the owner takes chunks of this region itself
}

void Test::before_chunk(Region& r)
{
    const Order order = Order(Hardware::load_relaxed(r.order));
    if (order == Order::halves) {
        Hardware::fetch_add_full(r.begun, 1); // full: no order is needed but that it is seen soon
        const uint64_t until = ticks() + uint64_t(1000 * host().ticks_per_us);
        while (Hardware::load_relaxed(r.begun) < 2 && ticks() < until)
            sched_yield();
    } else if (order == Order::random && dice.random(8) == 0)
        usleep(unsigned(dice.random(50)));
}

uint64_t Test::random_size(uint64_t remaining) { return 1 + dice.random(remaining); }

void Test::note_short(const ws_site* site, uint64_t iterations)
{
    note(site, [&](CheckedLoop& l) { (iterations ? l.single : l.empty)++; });
}

void Test::note_plain(const ws_site* site)
{
    note(site, [](CheckedLoop& l) { l.plain++; });
}

void Test::note_refused(const ws_site* site)
{
    note(site, [](CheckedLoop& l) { l.refused++; });
}

void Test::note_published(const Region& r, uint64_t stolen)
{
    if (stolen)
        compare_shared(r);
    note(r.site, [&](CheckedLoop& l) {
        if (is_one_chunk(r)) {
            l.one_chunk++;
            return;
        }
        if (!stolen) {
            l.nobody++;
            return;
        }
        l.shared++;
        l.iterations += r.bounds.iterations;
        l.helped += stolen;
        l.orders[unsigned(r.chosen) - first_order]++;
    });
}

std::vector<CheckedLoop> checked_loops()
{
    std::map<std::string, CheckedLoop> by_name; // a loop of a template or an inline function has several sites
    noting.lock();
    for (const ws_site* site : sites_of_process())
        notes()[site];
    for (const auto& [site, from] : notes()) {
        CheckedLoop& to = by_name[site->where];
        to.name = site->where;
        to.add(from);
    }
    noting.unlock();
    std::vector<CheckedLoop> loops;
    for (auto& entry : by_name)
        loops.push_back(std::move(entry.second));
    return loops;
}

} // namespace ws::check
