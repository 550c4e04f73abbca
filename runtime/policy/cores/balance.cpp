// SPDX-License-Identifier: MIT
#include "policy/cores/balance.h"

#include "policy/cores/assign.h"
#include "policy/cores/turns.h"

#include <algorithm>

namespace ws::policy::cores {

constexpr double settle_us = 5e6; // a rank that has handed nothing over for this long keeps its cores

// to be measured for a decision: more where nothing changes
static constexpr uint32_t first_periods = 3, most_periods = Turns::most;

void Balance::attach(Table& table, const window::Window& window, arbiter::Decider decider, Rule rule, bool first,
                     double ticks_per_us)
{
    table_ = &table;
    window_ = &window;
    decider_ = decider;
    rule_ = rule;
    ticks_per_us_ = ticks_per_us;
    if (first)
        Hardware::store_relaxed(table.head().needed, first_periods);
}

// Turns of all ranks that took about as long are the same turns.
static bool are_alike(const std::vector<double>& took)
{
    const auto ends = std::minmax_element(took.begin(), took.end());
    return *ends.second <= 1.5 * *ends.first;
}

// False: a number is there that is none, from another process perhaps.
bool Balance::present_deal(Deal& deal) const
{
    for (unsigned r = 0; r < table_->ranks(); r++) {
        deal.push_back(Hardware::load_relaxed(table_->row(r).target));
        if (!deal.back() || deal.back() > table_->processors())
            return false;
    }
    return true;
}

// Looks at the turn that runs now: a rank that waits for one whose turn is longer than it was under the first deal
// brings that deal back, so that the next turn has it already. True: it did.
bool Balance::watch_present(uint64_t now)
{
    Head& head = table_->head();
    const Flag generation = Hardware::load_relaxed(head.generation);
    const unsigned ranks = table_->ranks();
    const double second = 1e6 * ticks_per_us_;
    Hardware::Word earliest = ~Hardware::Word(0), latest = 0, ended = 0;
    std::vector<Hardware::Word> useful;
    bool known = true; // of all ranks, under this deal
    for (unsigned r = 0; r < ranks; r++) {
        Hardware::Word w[3];
        if (!table_->row(r).turn.read(w, 100))
            return false;
        if (w[1] > head.slow_began && (!ended || w[1] < ended))
            ended = w[1];
        known = known && w[0] == generation && w[1];
        earliest = std::min(earliest, w[1]);
        latest = std::max(latest, w[1]);
        useful.push_back(w[2]);
    }
    if (head.slow_began) {
        if (!ended)
            return false;
        head.watch.lose(double(ended - head.slow_began) / second - head.first_wall);
        head.slow_began = 0;
    }
    // All ranks are in the same turn if it began at about the same time.
    if (!known || !(head.first_wall > 0) || head.timed || now <= latest || 4 * (latest - earliest) > now - latest)
        return false;
    const Deal first(table_->first(), table_->first() + ranks);
    Deal present;
    if (!present_deal(present) || present == first)
        return false;
    std::vector<Measured> so_far;
    for (unsigned r = 0; r < ranks; r++) {
        window::Load load;
        if (!window_->load(r).read(load, 100))
            return false;
        load = load.brought_to(now);
        const double did = load.useful > useful[r] ? double(load.useful - useful[r]) : 0;
        so_far.push_back({present[r], did / second, 0, Hardware::load_relaxed(table_->row(r).most)});
    }
    if (!loses(so_far, first, double(now - latest) / second, head.first_wall))
        return false;
    head.slow_began = latest;
    head.watch.backs++;
    head.watch.begin();
    taken_back(head.history);
    head.changes++;
    deal_out(first, now);
    return true;
}

// Compares the turns that all ranks have ended since the last call with the first deal, and brings that deal back if
// the present one has lost. True: it did.
bool Balance::watch(uint64_t now)
{
    Head& head = table_->head();
    const Flag generation = Hardware::load_relaxed(head.generation);
    const unsigned ranks = table_->ranks();
    const double second = 1e6 * ticks_per_us_;
    std::vector<Measured> measured;
    std::vector<double> took;
    std::vector<std::vector<Hardware::Word>> rows;
    Flag ended = ~Flag(0);
    for (unsigned r = 0; r < ranks; r++) {
        const RankRow& row = table_->row(r);
        Hardware::Word w[measured_words];
        const Flag target = Hardware::load_relaxed(row.target);
        if (!row.measured.read(w, 100) || w[0] >> 1 != generation || !(w[0] & 1) || !w[1] || !target ||
            target > table_->processors())
            return false;
        measured.push_back({target, 0, 0, Hardware::load_relaxed(row.most)});
        took.push_back(double(w[4]));
        ended = std::min(ended, Flag(w[1]));
        rows.emplace_back(w, w + measured_words);
    }
    if (ended <= head.watched || !are_alike(took))
        return false;
    const Deal present = dealt(measured), first(table_->first(), table_->first() + ranks);
    Flag turn = std::max(head.watched, ended - std::min(ended, turns_told)); // those before nobody knows any more
    head.watched = ended;
    while (turn++ < ended) {
        bool known = true;
        double wall = 0;
        for (unsigned r = 0; r < ranks && known; r++) {
            const Hardware::Word back = rows[r][1] - turn;
            known = back < turns_told && rows[r][6 + back];
            if (!known)
                break;
            measured[r].useful = double(rows[r][6 + back]) / second;
            wall = std::max(wall, double(rows[r][6 + turns_told + back]) / second);
        }
        if (!known)
            continue;
        const Turn turn_was = believed(slowest(measured, present), slowest(measured, first), wall,
                                       present == first ? 0 : head.first_wall);
        const double is = turn_was.took, would = turn_was.first;
        const bool is_longer = wall > head.first_wall * (1 + least_gain);
        if (head.watch.add(is, would, head.first_before, is_longer) && present != first) {
            head.watch.take_back(is, would);
            taken_back(head.history);
            head.changes++;
            deal_out(first, now);
            return true;
        }
    }
    return false;
}

// False: some rank has not measured enough of this deal yet.
bool Balance::read_rows(std::vector<Measured>& ranks, PeriodSource& kind, TurnsOfRanks& turns) const
{
    const Head& head = table_->head();
    const Flag generation = Hardware::load_relaxed(head.generation), needed = Hardware::load_relaxed(head.needed);
    const double second = 1e6 * ticks_per_us_;
    std::vector<double> took;
    unsigned known = turns_told;
    turns.assign(turns_told, std::vector<double>(table_->ranks()));
    for (unsigned r = 0; r < table_->ranks(); r++) {
        const RankRow& row = table_->row(r);
        Hardware::Word w[measured_words];
        const Flag target = Hardware::load_relaxed(row.target);
        if (!row.measured.read(w, 100) || w[0] >> 1 != generation || w[1] < needed || !target ||
            target > table_->processors())
            return false;
        ranks.push_back({target, double(w[2]) / second, double(w[3]) / second,
                         Hardware::load_relaxed(row.most)});
        took.push_back(double(w[4]));
        kind.by_turns = kind.by_turns && (w[0] & 1);
        kind.calls += unsigned(w[5]);
        known = std::min(known, unsigned(w[1]));
        for (unsigned back = 0; back < turns_told; back++)
            turns[turns_told - 1 - back][r] = double(w[6 + back]) / second;
    }
    turns.erase(turns.begin(), turns.end() - known);
    if (!kind.by_turns || !are_alike(took))
        turns.clear();
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
    if (watch_present(now) || watch(now))
        return;
    std::vector<Measured> ranks;
    PeriodSource kind;
    TurnsOfRanks turns;
    if (!read_rows(ranks, kind, turns)) {
        const double since_us = double(now - Hardware::load_relaxed(head.decided_at)) / ticks_per_us_;
        if (head.changes && since_us > settle_us)
            take_back(now);
        return;
    }
    if (head.timed != !kind.by_turns || (kind.by_turns && head.calls != kind.calls)) {
        head.history.before = 0; // what was measured before is no measure for this
        head.first_before = head.first_wall = 0;
    }
    const Deal now_dealt = dealt(ranks);
    Limits limits;
    limits.may_try = head.watch.may_try() && !head.slow_began;
    if (kind.by_turns)
        limits.first = Deal(table_->first(), table_->first() + table_->ranks());
    if (now_dealt == limits.first)
        head.first_before = slowest(ranks, now_dealt), head.first_wall = period_of(ranks);
    limits.allowed = head.watch.allowed(head.first_before > 0 ? head.first_before : slowest(ranks, now_dealt));
    const Deal next = decide(rule_, ranks, head.history, table_->former(), turns, limits);
    head.timed = !kind.by_turns;
    head.calls = kind.calls;
    head.periods += Hardware::load_relaxed(head.needed);
    if (next == now_dealt) {
        head.watched = 0;
        Hardware::store_relaxed(head.needed, std::min(most_periods, 2 * Hardware::load_relaxed(head.needed)));
        Hardware::store_release(head.generation, head.generation + 1); // counters begin again
        return;
    }
    head.changes++;
    head.periods_then = head.periods;
    head.watch.change();
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
    head.watched = 0;
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

} // namespace ws::policy::cores
