// SPDX-License-Identifier: MIT
#include "loop/site.h"

#include "loop/participant.h"
#include "base/atomics.h"
#include "base/spin_lock.h"

#include <algorithm>
#include <new>

namespace ws::loop {

using observe::LoopRow;
using observe::add;

// In a region below short_region_us a steal that took less time than the hand-over has delayed its thief
// for nothing; one above long_region_us is not run without help only to find out what help is worth: few of them make
// up a run.
constexpr double handover_us = 8, short_region_us = 500, long_region_us = 5000;
// The same for the start of some of these: several chunks of the owner's.
constexpr double begun_alone_us = 500;
// How long a loop that gained nothing goes on unshared at first. It is long compared with the regions that tried it,
// and short compared with a run. So a loop that was only unlucky, or has changed, is tried again.
constexpr double first_pause_us = 20000;

int32_t measure_every = 16;

namespace {

// Counted in executions: so a pause in sharing is short compared with the life of a loop, and measuring the other way
// takes a five-hundredth of the executions at most. But of long ones a program has few: a pause lasts
// first_pause_us at most, or as many times that as it lasts first_pause executions.
constexpr uint64_t first_pause = 64, longest_pause = 4096;
constexpr uint64_t look_again = 512; // shared regions after which the loop is measured alone again
constexpr uint64_t first_look = 4;   // the same for the first time; for the next, which make up a median, twice as many
constexpr uint64_t enough_doubts = 4; // more than 1, as guests have cold caches in the first region after a pause
// The first guest has to be made, and comes late to its first regions, so more than of the doubts; half as many after a
// pause.
constexpr uint64_t enough_vain = 16;
// If guests ran less than this share, a gain cannot be told from noise: nothing is concluded.
constexpr double least_share = 0.1;
// At least this part of the work that guests took off the owner must have been won in time; where one core saturates
// the memory, next to nothing is won.
constexpr double least_return = 0.15;
// If a region lasted longer because others took its owner's core, and guests did less than this part of that time's
// work, then they gained nothing: the owner would have done their part in the same time slice.
constexpr double least_beside_others = 0.1;
// How often in a row guests must have made a loop of a chain longer, if the chain pays. When guests have just come, all
// data lie in the owner's cache. When one loop of the chain was not shared, a part of the data lies there again.
constexpr uint64_t enough_losses = 16;

// Where guests and owner computed beside each other for less, what that costs cannot be told from noise.
constexpr double enough_overlap = 0.3;
constexpr uint64_t tilts_compared = 5;
constexpr uint64_t enough_compared = 2; // fewer may all be disturbed, or executions of another size

// Some executions of a loop that is too long to be measured alone begin alone, for this part, until enough of them were
// compared. Their guests come later by that time. Others may disturb some.
constexpr uint64_t most_begun_alone = 3 * enough_compared;
constexpr double begun_alone_part = 1. / 32;

uint64_t next_look(const SiteRecord& r)
{
    const uint64_t alones = peek(r.alones);
    return alones < enough_compared ? first_look << alones : look_again;
}

// Whether remember_helped() knows how much guests slow the loop, beside regions without guests or within regions.
bool compared_beside(const SiteRecord& r)
{
    return peek(r.alones) >= enough_compared && r.beside.count() >= enough_compared;
}
bool is_compared(const SiteRecord& r) { return compared_beside(r) || r.crowded.count() >= enough_compared; }

void measure_alone(Learned& l) { poke(l.unshared, int64_t(1)); }

// Whether the owner's costs before and after its first guest's coming can be compared: not where the cost changes over
// the range.
bool tells(const SiteRecord& r, Crowding crowding)
{
    return is_even(peek(r.tilt)) && crowding.before > 0 && crowding.after > 0;
}

// The loop goes on unshared for a while: its regions last `wall` ticks.
void pause(Learned& l, SiteRecord& r, uint64_t wall)
{
    const uint64_t pause = peek(r.pause);
    const double most_ticks = first_pause_us * host().ticks_per_us * double(pause) / first_pause;
    const uint64_t runs = std::min(pause, uint64_t(most_ticks / double(wall + 1)) + 1);
    add(peek(l.row)->executions_unpaid, runs);
    poke(l.unshared, int64_t(runs));
    poke(r.pause, pause * 2 < longest_pause ? pause * 2 : longest_pause);
}

// A region of `wall` ticks was shared without a gain. After several of these in a row the loop pauses.
void doubt(Learned& l, SiteRecord& r, uint64_t wall, uint64_t enough = enough_doubts)
{
    const uint64_t doubts = peek(r.doubts) + 1;
    poke(r.doubts, doubts);
    if (doubts < enough)
        return;
    pause(l, r, wall);
    poke(r.doubts, enough - enough_doubts + 1); // a few regions after the pause decide
}

// Whether guests that linger from region to region have made this one longer, and by more than it costs that they leave
// and come again.
bool lost_more_than_leaving(double now, double alone, uint64_t iterations, double us)
{
    return (now - alone) * double(iterations) > handover_us * us;
}

} // namespace

void Recent::add(double value)
{
    const uint64_t n = peek(count_);
    poke(last_[n % most], value);
    poke(count_, n + 1);
}

void Chain::add(double won, double taken, double wall, double most)
{
    won_ += won;
    taken_ += taken;
    wall_ += wall;
    if (wall_ > most) {
        won_ /= 2;
        taken_ /= 2;
        wall_ /= 2;
    }
}

bool Chain::pays() const { return taken_ > 0 && won_ >= least_return * taken_; }

uint64_t Recent::count() const { return peek(count_); }

double Recent::median(uint64_t of_last) const
{
    const uint64_t count = peek(count_);
    const size_t n = size_t(std::min(count, of_last));
    if (!n)
        return 0;
    double sorted[most];
    for (size_t i = 0; i < n; i++)
        sorted[i] = peek(last_[(count - 1 - i) % most]);
    std::nth_element(sorted, sorted + (n - 1) / 2, sorted + n);
    return sorted[(n - 1) / 2];
}

SiteRecord* record_of(ws_site* site)
{
    Learned& l = learned(site);
    SiteRecord* r = base::load_acquire(l.record); // pairs with the exchange below
    if (r)
        return r;
    r = new (std::nothrow) SiteRecord{};
    if (r) {
        r->site = site;
        r->pause = first_pause;
    }
    if (!r)
        return nullptr;
    SiteRecord* other = nullptr;
    if (!base::exchange_if_acq_rel(l.record, other, r)) {
        delete r; // another thread's region was faster
        return other;
    }
    return r;
}

void remember_alone(Learned& l, double ticks)
{
    double before = peek(l.alone_ticks);
    if (SiteRecord* r = base::load_acquire(l.record)) {
        if (peek(r->since_alone) > 2 * enough_doubts) // the old figure is out of date
            before = 0;
        poke(r->since_alone, uint64_t(0));
        poke(r->alones, peek(r->alones) + 1);
    }
    poke(l.alone_ticks, before > 0 ? (before + ticks) / 2 : ticks);
}

uint64_t begins_alone(Learned& l, double ticks)
{
    SiteRecord* r = base::load_acquire(l.record);
    const double us = host().ticks_per_us;
    if (!r || ticks < long_region_us * us || compared_beside(*r) || !is_even(peek(r->tilt)) ||
        peek(r->begun_alone) >= most_begun_alone)
        return 0;
    poke(r->begun_alone, peek(r->begun_alone) + 1);
    return uint64_t(std::min(ticks * begun_alone_part, begun_alone_us * us));
}

// Costs change while a program runs. So what an iteration costs alone is compared only with regions next to that one,
// except the first, whose guests have to fetch the data; and what was found then stands until it is measured again.
// Executions may differ, too: one alone tells nothing.
double remember_helped(ws_site* site, double ticks, Crowding crowding, bool disturbed, double overlap)
{
    SiteRecord* r = record_of(site);
    if (!r)
        return usual_slowdown;
    const double alone = peek(learned(site).alone_ticks);
    const uint64_t since = peek(r->since_alone);
    if (!disturbed && alone > 0 && (since == 2 || since == 3) && overlap >= enough_overlap)
        r->beside.add(1 + (ticks / alone - 1) / overlap);
    if (!disturbed && crowding.was_alone && tells(*r, crowding))
        r->crowded.add(crowding.after / crowding.before);
    if (!is_compared(*r))
        return usual_slowdown;
    return std::max(1.0, (compared_beside(*r) ? r->beside : r->crowded).median());
}

double truly_won(ws_site* site, double computed, double overlap, double wall, double slowdown)
{
    const double won = computed / (1 + (slowdown - 1) * overlap) - wall;
    SiteRecord* r = record_of(site);
    if (!r)
        return std::max(0.0, won);
    const double guessed = peek(r->guessed);
    if (!is_compared(*r)) {
        poke(r->guessed, guessed + computed * overlap);
        return std::max(0.0, won);
    }
    const double owed = peek(r->owed) + guessed * (1 / usual_slowdown - 1 / slowdown);
    const double said = std::max(0.0, won - owed);
    poke(r->guessed, 0.0);
    poke(r->owed, owed + said - won);
    return said;
}

double helped_last(const Learned& l)
{
    const SiteRecord* r = base::load_acquire(l.record);
    return r ? peek(r->helped) : 0;
}

// A median, because one region's first half may have met cold caches or pages, and cost five times as much; of few,
// because costs change.
void remember_tilt(ws_site* site, double tilt, bool rough)
{
    SiteRecord* r = record_of(site);
    if (!r || (rough && r->tilts.count()))
        return;
    if (!rough) {
        r->tilts.add(tilt);
        tilt = r->tilts.median(tilts_compared);
    }
    poke(r->tilt, tilt);
    poke(r->two_ends, is_even(tilt) || (peek(r->two_ends) && tilt > ends_least && tilt < ends_most));
}

double tilt_of(const Learned& l)
{
    const SiteRecord* r = base::load_acquire(l.record);
    return r ? peek(r->tilt) : 0;
}

bool has_even_ends(const Learned& l)
{
    const SiteRecord* r = base::load_acquire(l.record);
    return r && peek(r->two_ends);
}

void forget_costs(ws_site* site)
{
    Learned& l = learned(site);
    poke(l.unit_ticks, 0.0);
    poke(l.alone_ticks, 0.0);
    poke(l.unshared, int64_t(0));
    if (SiteRecord* r = base::load_acquire(l.record)) {
        poke(r->vain, uint64_t(0));
        poke(r->doubts, uint64_t(0));
    }
}

void remember_in_vain(ws_site* site, uint64_t wall)
{
    SiteRecord* const r = record_of(site);
    if (!r || wall >= host().whole_at_pause() || host().share_all)
        return;
    const uint64_t vain = peek(r->vain) + 1;
    poke(r->vain, vain < enough_vain ? vain : enough_vain / 2);
    if (vain == enough_vain)
        pause(learned(site), *r, wall);
}

void remember_shared(ws_site* site, uint64_t iterations, uint64_t stolen, uint64_t wall, Crowding crowding,
                     bool disturbed, Chain* chain)
{
    SiteRecord* record = record_of(site);
    if (!record)
        return;
    SiteRecord& r = *record;
    Learned& l = learned(site);
    LoopRow& row = row_of(site);
    add(row.executions_shared, 1);
    add(row.shared_iterations, iterations);
    add(row.executions_helped, stolen != 0);
    const double share = double(stolen) / double(iterations);
    poke(r.helped, share);
    if (host().share_all)
        return;

    const double us = host().ticks_per_us, cost = peek(l.unit_ticks);
    if (disturbed) {
        const double work = double(iterations) * cost;
        if (stolen && cost > 0 && share * work < least_beside_others * double(wall))
            doubt(l, r, std::min(wall, uint64_t(work)));
        else if (share >= least_share)
            poke(r.doubts, uint64_t(0));
        return;
    }
    if (!stolen) {
        remember_in_vain(site, wall);
        return;
    }
    poke(r.vain, uint64_t(0));
    const double now = double(wall) / double(iterations);
    double alone = peek(l.alone_ticks);
    const bool is_long = double(wall) > long_region_us * us;
    if (is_long) // what lies in caches does not count
        chain = nullptr;
    if (chain && alone > 0)
        chain->add((alone - now) * double(iterations), share * alone * double(iterations), double(wall),
                   first_pause_us * us);
    if (!chain && cost > 0 && double(wall) < short_region_us * us &&
        double(stolen) * cost < handover_us * us) {
        doubt(l, r, wall);
        return;
    }
    if (share < least_share)
        return;
    const uint64_t since = peek(r.since_alone) + 1;
    poke(r.since_alone, since);
    // Did the first guest slow the owner down by as much as it could help? Then measure the loop alone. But a long
    // region is not run alone only to find out, as a program has few of them: there what the owner's share took is
    // reckoned back to the cost before the first guest.
    const bool told = tells(r, crowding);
    if (alone == 0 && is_long && told)
        alone = now / (1 - std::min(share, 0.99)) * crowding.before / crowding.after;
    if (alone == 0) {
        const bool crowded = told && crowding.after > 1.6 * crowding.before;
        if (!is_long && (since >= next_look(r) || (crowded && since > 1)))
            measure_alone(l);
        return;
    }
    if (since >= next_look(r) && !is_long) {
        measure_alone(l);
        return;
    }
    if (1 - now / alone >= least_return * share) {
        poke(r.doubts, uint64_t(0));
        poke(r.pause, first_pause);
        return;
    }
    // What one loop of a chain loses others win, whose data it has left in the right cache.
    const bool in_good_chain = chain && chain->pays();
    if (in_good_chain && !lost_more_than_leaving(now, alone, iterations, us)) {
        poke(r.doubts, uint64_t(0));
        return;
    }
    const uint64_t enough = in_good_chain ? enough_losses : enough_doubts;
    // and the figure to compare with is old
    if (peek(r.doubts) + 1 >= enough && since > 2 * enough_doubts && !is_long) {
        measure_alone(l);
        return;
    }
    doubt(l, r, wall, enough);
}

void remember_tasks(ws_site* site) { add(row_of(site).executions_with_tasks, 1); }

LoopRow& row_of(ws_site* site)
{
    Learned& l = learned(site);
    LoopRow* row = base::load_acquire(l.row); // pairs with the store below
    if (row)
        return *row;
    static base::SpinLock making;
    making.lock();
    row = peek(l.row);
    if (!row) {
        row = &observe::new_loop_row(*host().board, site->where);
        base::store_release(l.row, row);
    }
    making.unlock();
    return *row;
}

} // namespace ws::loop
