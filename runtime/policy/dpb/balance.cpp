// SPDX-License-Identifier: MIT
#include "policy/dpb/balance.h"

#include "policy/dpb/assign.h"
#include "policy/dpb/turns.h"
#include "window/times.h"

#include <algorithm>

namespace ws::policy::dpb {

// to be measured for a decision: more where nothing changes
static constexpr uint32_t first_periods = 3, most_periods = Turns::most;

void Balance::attach(Table& table, arbiter::Decider decider, Rule rule, bool first, double ticks_per_us)
{
    table_ = &table;
    decider_ = decider;
    rule_ = rule;
    ticks_per_us_ = ticks_per_us;
    if (first)
        Hardware::store_relaxed(table.head().needed, first_periods);
}

// False: some rank has not measured enough of this deal yet.
bool Balance::read_rows(std::vector<Measured>& ranks, Kind& kind) const
{
    const Head& head = table_->head();
    const Flag generation = Hardware::load_relaxed(head.generation), needed = Hardware::load_relaxed(head.needed);
    const double second = 1e6 * ticks_per_us_;
    std::vector<double> took;
    for (unsigned r = 0; r < table_->ranks(); r++) {
        const RankRow& row = table_->row(r);
        Hardware::Word w[6];
        const Flag target = Hardware::load_relaxed(row.target);
        if (!row.measured.read(w, 100) || w[0] >> 1 != generation || w[1] < needed || !target ||
            target > table_->processors())
            return false;
        ranks.push_back({target, double(w[2]) / second, double(w[3]) / second,
                         Hardware::load_relaxed(row.most)});
        took.push_back(double(w[4]));
        kind.by_turns = kind.by_turns && (w[0] & 1);
        kind.calls += unsigned(w[5]);
    }
    if (kind.by_turns)
        scale_to_equal_time(ranks, took);
    else
        scale_to_equal_work(ranks);
    return true;
}

void Balance::step(uint64_t now, uint64_t every)
{
    if (!decider_.take(now, now + 2 * every))
        return;
    Head& head = table_->head();
    std::vector<Measured> ranks;
    Kind kind;
    if (!read_rows(ranks, kind)) {
        const double since_us = double(now - Hardware::load_relaxed(head.decided_at)) / ticks_per_us_;
        if (head.changes && since_us > window::times::settle_us)
            take_back(now);
        return;
    }
    if (head.timed != !kind.by_turns || (kind.by_turns && head.calls != kind.calls)) {
        head.history.before = 0; // what was measured before is no measure for this
        head.period_first = 0;
    }
    const double period = period_of(ranks);
    const Deal now_dealt = dealt(ranks), next = decide(rule_, ranks, head.history, table_->former());
    head.timed = !kind.by_turns;
    head.calls = kind.calls;
    head.periods += Hardware::load_relaxed(head.needed);
    if (head.changes)
        head.period_last = period;
    if (next == now_dealt) {
        Hardware::store_relaxed(head.needed, std::min(most_periods, 2 * Hardware::load_relaxed(head.needed)));
        Hardware::store_release(head.generation, head.generation + 1); // counters begin anew
        return;
    }
    if (!head.changes++)
        head.period_first = period;
    head.periods_then = head.periods;
    head.period_last = 0;
    deal_out(next, now);
}

void Balance::deal_out(const Deal& deal, uint64_t now)
{
    Head& head = table_->head();
    for (const Move& m : moves_to(deal, table_->located()))
        table_->word(m.processor).promise(m.from, m.to);
    for (unsigned r = 0; r < table_->ranks(); r++) {
        Hardware::store_relaxed(table_->row(r).target, deal[r]);
        table_->last()[r] = uint16_t(deal[r]);
    }
    Hardware::store_relaxed(head.needed, first_periods);
    Hardware::store_relaxed(head.decided_at, now);
    Hardware::store_relaxed(head.deal_periods, head.periods);
    Hardware::store_relaxed(head.deals, head.deals + 1);
    Hardware::store_release(head.generation, head.generation + 1); // pairs with Dpb::look_at_deal()
}

// Somebody keeps what it was to hand over: then it is its own again.
void Balance::take_back(uint64_t now)
{
    Deal deal(table_->ranks());
    bool withdrawn = false;
    for (unsigned p = 0; p < table_->processors(); p++)
        if (table_->processor(p).home == no_rank)
            withdrawn |= table_->word(p).withdraw(table_->word(p).look().owner);
    if (!withdrawn)
        return;
    for (const Located& l : table_->located())
        deal[l.owner]++;
    deal_out(deal, now);
}

} // namespace ws::policy::dpb
