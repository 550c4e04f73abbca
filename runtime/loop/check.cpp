// SPDX-License-Identifier: MIT
#include "loop/check.h"

#include "loop/chaos.h"
#include "loop/open_region.h"
#include "loop/sites.h"
#include "window/spin_lock.h"

#include <algorithm>
#include <map>

namespace ws {

namespace {

// So many chunks at most where they are to be small: a loop of a billion iterations shall end.
constexpr uint64_t most_chunks = 4096;
// A helper that is expected and does not come is waited for so long; where that happens again and again, not for long.
constexpr uint64_t patience_us = 100000, little_patience_us = 2000;
constexpr unsigned often = 3;
volatile Flag in_vain; // times in a row

Chaos dice = [] {
    Chaos c;
    c.seed(0x9E3779B97F4A7C15ull);
    return c;
}();

SpinLock noting;
// Never freed: loops may run while the process exits.
std::map<const ws_site*, CheckedLoop>& notes()
{
    static auto* map = new std::map<const ws_site*, CheckedLoop>;
    return *map;
}

template <class Change> void note(const ws_site* site, Change&& change)
{
    if (!loop_host.check)
        return;
    noting.lock();
    CheckedLoop& loop = notes()[site];
    loop.runs++;
    change(loop);
    noting.unlock();
}

Order next_order(const ws_site* site)
{
    noting.lock();
    const uint64_t runs = notes()[site].runs;
    noting.unlock();
    return Order(first_order + (loop_host.first_order + runs) % check_orders);
}

} // namespace

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
    for (unsigned i = 0; i < kept_kinds; i++)
        kept[i] += more.kept[i];
    for (unsigned i = 0; i < check_orders; i++)
        orders[i] += more.orders[i];
}

const char* order_name(unsigned order)
{
    static constexpr const char* names[check_orders] = {"backwards", "halves", "forwards", "turns", "random"};
    return names[order];
}

bool open_for_test(Region& r, Sizing& own)
{
    if (r.units < 2) {
        note_short(r.site, r.bounds.iterations);
        return false;
    }
    // Under WS_CHAOS a helper is waited for now and then, and left to chance else.
    r.chosen = loop_host.check ? next_order(r.site) : loop_host.steal_all ? Order::to_others : chaos.random(4) ? Order::usual : Order::turns;
    Hardware::store_relaxed(r.order, Flag(r.chosen));
    Hardware::store_relaxed(r.begun, 0);
    r.random_sizes = false;
    if (!loop_host.check || own.kind != WS_AUTO || r.thief.kind != WS_AUTO)
        return true;
    r.random_sizes = r.chosen == Order::random;
    r.backwards = r.chosen == Order::backwards && (r.site->kinds & WS_SITE_ANY_ORDER);
    own.kind = r.thief.kind = WS_DYNAMIC;
    own.chunk = r.thief.chunk = r.chosen == Order::halves ? (r.units + 1) / 2 : (r.units - 1) / most_chunks + 1;
    return true;
}

void leave_to_helpers(Region& r)
{
    const Order order = Order(Hardware::load_relaxed(r.order));
    if (order == Order::usual)
        return;
    const bool everything = order == Order::to_others || order == Order::forwards;
    const uint64_t us = Hardware::load_relaxed(in_vain) < often ? patience_us : little_patience_us;
    const uint64_t patience = uint64_t(double(us) * loop_host.ticks_per_us);
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
        } else if (!loop_host.somebody_waits())
            break;
        else if (ticks() - since > patience) {
            Hardware::fetch_add_full(in_vain, 1);
            break;
        }
        make_wanted_guests();
        if (turn % 64 == 0) // those that fell asleep just now
            loop_host.wake();
        if (turn < 64)
            sched_yield();
        else
            usleep(20);
    }
    Hardware::store_relaxed(r.order, Flag(Order::usual)); // of this region nothing is left to others any more
}

void before_chunk(Region& r)
{
    const Order order = Order(Hardware::load_relaxed(r.order));
    if (order == Order::halves) {
        Hardware::fetch_add_full(r.begun, 1); // full: no order is needed but that it is seen soon
        const uint64_t until = ticks() + uint64_t(1000 * loop_host.ticks_per_us);
        while (Hardware::load_relaxed(r.begun) < 2 && ticks() < until)
            sched_yield();
    } else if (order == Order::random && dice.random(8) == 0)
        usleep(unsigned(dice.random(50)));
}

uint64_t random_size(uint64_t remaining) { return 1 + dice.random(remaining); }

void note_short(const ws_site* site, uint64_t iterations)
{
    note(site, [&](CheckedLoop& l) { (iterations ? l.single : l.empty)++; });
}

void note_plain(const ws_site* site)
{
    note(site, [](CheckedLoop& l) { l.plain++; });
}

void note_refused(const ws_site* site)
{
    note(site, [](CheckedLoop& l) { l.refused++; });
}

void note_kept(const ws_site* site, Kept why)
{
    note(site, [&](CheckedLoop& l) { l.kept[unsigned(why)]++; });
}

void note_published(const Region& r, uint64_t stolen)
{
    note(r.site, [&](CheckedLoop& l) {
        if (r.thief.kind != WS_AUTO && r.thief.kind != WS_GUIDED && r.thief.chunk >= r.units) {
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

} // namespace ws
