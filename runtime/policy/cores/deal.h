// SPDX-License-Identifier: MIT
//
// How many processors each rank of a node gets: the arithmetic of dynamic processor balancing, without MPI, clock or
// memory of its own.
//
//   J. Corbalan, A. Duran, J. Labarta: Dynamic Load Balancing of MPI+OpenMP applications. ICPP 2004. Section 3.2.
//
// One process decides at a time. What it has to remember lies where the next one finds it (History): in the node's
// shared memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ws::policy::cores {

// What was measured of a rank: seconds a period.
struct Measured {
    unsigned cores = 1;     // that it had meanwhile
    double useful = 0;      // computing
    double waited = 0;      // in MPI
    unsigned most = ~0u;    // processors that it can use: threads that the program allows
};

// For samples of a fixed time, of which each holds as much of the program as was done then: scaled to one processor
// second of work in all, they can be compared with each other as turns can.
void scale_to_equal_work(std::vector<Measured>& ranks);

// Turns of ranks are the same, and take the same time, waits included. Where those of one rank take much longer, `took`
// seconds, they are several turns of the others: as many as are in the longest ones are compared.
void scale_to_equal_time(std::vector<Measured>& ranks, const std::vector<double>& took);

using Deal = std::vector<unsigned>; // processors of each rank, at least one

Deal dealt(const std::vector<Measured>& ranks); // as it is

// The paper's step. The rank with the highest useful time gets processors of the rank with the lowest useful time that
// has more than one. Their number lets its time fall by half of the difference of the two ranks' waits. Nothing changes
// if its time would not fall, or if that is less than one processor.
Deal paper_deal(const std::vector<Measured>& ranks);

// The deal with the least time of the slowest rank, if work is shared out evenly among a rank's processors; of several
// the one that moves fewest processors.
Deal whole_deal(const std::vector<Measured>& ranks);

// The useful time of the slowest rank under that deal, by what was measured.
double slowest(const std::vector<Measured>& ranks, const Deal& deal);

// A period as it was: the longest that a rank computed and waited.
double period_of(const std::vector<Measured>& ranks);

// What the last decisions came to. All zero: there were none.
struct History {
    double before;    // seconds that a period took under `former`; 0: nothing to go back to
    uint32_t undone;  // changes taken back in a row, measured or foreseen
    uint32_t pause;   // decisions not to be made
    uint32_t paused;  // there was a pause before the change that would be taken back next
    uint32_t in_vain; // changes that won less than half of what they were made for, less those that won it
    double hoped;     // what the last change was made for: a share of the period
};

// Compares each turn with what it would have taken under the first deal, which is that without balancing. Plain data
// in shared memory; all zero: nothing is known. Times are in seconds.
struct Watch {
    double time;     // of all turns that were compared
    double gained;   // by all deals so far, in these turns and in those that pass until a deal is taken back
    double unseen;   // an estimate for turns that were not compared: told, but not relied on
    double since;    // by the present deal
    double risk;     // the most that a deal lost from its best moment until it was taken back
    uint32_t turns;  // under the present deal
    uint32_t slow;   // of these, in a row, that took longer than under the first deal
    uint32_t backs;  // deals taken back

    // Adds a turn: `took` seconds of the slowest rank, `first` under the first deal. `before` is what a turn was
    // measured to take under the first deal, or 0. Returns true if the first deal has to come back: the turn was slow,
    // and so was the one before, or the deal has lost more than it gained. A deal's first turn alone is not enough, nor
    // is a turn that did not really last longer (`is_longer`), as what ranks compute is not always measured in full.
    bool add(double took, double first, double before, bool is_longer);
    // Takes the deal back and charges it for the turns that pass until the first deal is there again.
    void take_back(double took, double first);
    // Charges a turn in which the deal was taken back, which took `lost` seconds longer than under the first deal.
    void lose(double lost) { gained -= std::max(lost, 0.0), risk = std::max(risk, lost); }
    // Returns the seconds that one turn of a new deal may lose, if the load changes in it. A turn under the first deal
    // takes `first` seconds.
    double allowed(double first) const { return std::max(first, gained + budget * time); }
    // Changes to another deal, by choice. The turns until it is there are not compared: they gain as those before.
    void change() { unseen += turns ? delay * std::max(since, 0.0) / turns : 0, begin(); }
    // Begins a deal.
    void begin() { since = 0, turns = slow = 0; }
    // Returns whether another deal may be tried. After one was taken back, the gains of the whole job and 1 % of its
    // time have to cover what was lost then.
    bool may_try() const { return !(risk > 0) || gained + budget * time >= risk; }

    static constexpr double budget = 0.01;
    static constexpr double delay = 2; // turns until a deal that is taken back is gone
};

using Rule = Deal (*)(const std::vector<Measured>&);

// Returns whether the turn that runs now loses: after `wall` seconds, in which each rank of `so_far` has computed so
// long, it has lasted longer than a turn under the first deal (`first_wall`), and so has its work under that deal.
bool loses(const std::vector<Measured>& so_far, const Deal& first, double wall, double first_wall);

// What a turn took, and would have taken under the first deal. Where the useful times say that the present deal is no
// slower, but the turn lasted much longer than one under the first deal (`first_wall`; 0: not known), the clock is
// believed: on a busy machine useful times may be wrong.
struct Turn {
    double took, first;
};
Turn believed(double took, double first, double wall, double first_wall);

// The part of `next` that is safe: if the rank with most work becomes another one, a turn takes no more than `allowed`
// seconds longer than under the first deal. A rank that has fewer processors now than this asks for keeps these.
Deal cautious(const std::vector<Measured>& ranks, const Deal& next, const Deal& first, double allowed);

// One decision: the next deal; the same if nothing is to be changed. Goes back to `former` (updated, a number a rank)
// if the last change made the period longer. Before a change is taken back, or made again, there is a pause, which
// doubles with each one in a row. By whole_deal() a change has to win something; where changes do not win what was
// hoped for, measuring is noise, and the next one has to be worth more.
// `turns`: the useful seconds of each rank in each of the last turns, oldest first. The next deal has to win in them,
// too: medians hide a load that changes from turn to turn. Empty: not known. `limits`: what may be tried.
using TurnsOfRanks = std::vector<std::vector<double>>;
struct Limits {
    bool may_try = true; // false: nothing new is tried
    Deal first = {};     // of a new deal only the part is tried that is cautious(); empty: all of it
    double allowed = 0;
};
Deal decide(Rule rule, const std::vector<Measured>& ranks, History& history, uint16_t* former,
            const TurnsOfRanks& turns = {}, const Limits& limits = {});

// Prepares `history` for a deal that is taken back because of single turns: a pause follows.
void taken_back(History& history);

// A part of the slowest rank's time: less is noise. By the paper's rule only a period that has become longer is judged
// so; a change is made if it makes neither of the two ranks slower than the slower one was.
constexpr double least_gain = 0.02;
constexpr uint32_t longest_pause = 64, most_in_vain = 9;

} // namespace ws::policy::cores
