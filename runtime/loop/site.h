// SPDX-License-Identifier: MIT
//
// What a `ws for` in the source learns over its executions: what an iteration costs, where in the range the work lies,
// and whether sharing it pays. The few words that each execution needs lie in the site itself (ws_site::learned), the
// rest in a record that is made when the site is first published.
//
// Several threads may run one loop at once. They then overwrite each other's measurements: every value stays a measured
// one.
#pragma once

#include "abi/abi.h"
#include "observe/board.h"
#include "base/os.h"
#include <cstdint>
#include <type_traits>

namespace ws::loop {

struct TeamRecord;

// The last few of what was measured; its median, as a disturbance makes any single one many times too large.
class Recent {
public:
    static constexpr uint64_t most = 7;
    void add(double value);
    uint64_t count() const; // of all that were added
    double median(uint64_t of_last = most) const; // 0: none

private:
    double last_[most] = {};
    uint64_t count_ = 0;
};

// What only few executions need.
struct SiteRecord {
    ws_site* site;
    double tilt; // 0 = never measured
    Recent tilts;
    bool two_ends; // see has_even_ends()
    // Whether sharing pays. Plain values that racing threads overwrite.
    uint64_t since_alone; // regions that were helped with since one was last measured alone
    uint64_t doubts;      // comparisons in a row that found no gain
    uint64_t vain;        // regions in a row that nobody took any of; see remember_in_vain()
    uint64_t pause;       // regions that the next pause in sharing lasts
    double helped;        // share of the last region that guests ran
    TeamRecord* team;     // team.h; null until a team has run it
    uint64_t alones;      // regions measured alone since the record was made
    // How many times as much an iteration has cost its threads as alone; see remember_helped(). Beside regions without
    // guests; and in one region, before and after the first guest's coming.
    Recent beside, crowded;
    uint64_t begun_alone; // executions that begins_alone() has chosen
    // What guests and owner have computed beside each other while that was not known, and what was said to have been
    // won and was not, in ticks; see truly_won().
    double guessed, owed;
    double tasks_ticks; // what tasks whose first one was put here took beside a waiting rank; see group/crew.cpp
};
SiteRecord* record_of(ws_site* site); // made where there is none yet; null: no memory

struct Learned {
    double unit_ticks;    // cost of an iteration to the thread that runs it; 0 = never measured
    int32_t countdown;    // whole runs until the next measurement
    uint32_t calm;        // executions in a row during which no rank began to wait; see remember_calm()
    // wall time an iteration, open to close, in regions that nobody helped with; 0 = never measured
    double alone_ticks;
    int64_t unshared;     // regions to run without sharing: it does not pay, or must be measured alone
    observe::LoopRow* row;         // on the board; null until the first region that is opened
    // null until the first region that is published, that has both halves measured, or that a team runs
    SiteRecord* record;
};
static_assert(sizeof(Learned) == sizeof(ws_site::learned));
inline Learned& learned(ws_site* site) { return reinterpret_cast<Learned&>(site->learned); }

// The fields above by relaxed atomic accesses, plain moves in machine code.
template <class T> std::remove_cv_t<T> peek(const T& field)
{
    std::remove_cv_t<T> value;
    value = base::load_relaxed(field);
    return value;
}
template <class T> void poke(T& field, std::remove_cv_t<T> value) { base::store_relaxed(field, value); }

// One in `measure_every` of the regions that run whole is timed; in an observed run each is.
extern int32_t measure_every;

// An iteration has cost `ticks` to the thread that ran it. A rise is believed at once, as a loop that suddenly takes
// long must not go on unshared; of a fall only half is believed.
inline void remember_cost(Learned& l, double ticks)
{
    double before = peek(l.unit_ticks);
    poke(l.unit_ticks, ticks > before ? ticks : (ticks + before) / 2);
    poke(l.countdown, measure_every);
}

// Remembers whether a rank wanted a part of an execution that was long enough to be shared, before or after it began.
// If no rank did in `calm_enough` executions in a row, the next one may run whole. A rank that begins to wait in the
// middle of it then waits for its end. That happens once in more than `calm_enough` executions, so thieves lose less
// than a hundredth of their time.
constexpr uint32_t calm_enough = 64;
inline void remember_calm(Learned& l, bool wanted)
{
    const uint32_t calm = peek(l.calm), now = wanted ? 0 : calm < calm_enough ? calm + 1 : calm;
    if (now != calm)
        poke(l.calm, now);
}

// A region that nobody helped with took `ticks` an iteration, open to close.
void remember_alone(Learned& l, double ticks);

// An execution that is to take `ticks` by one thread begins: for how many ticks its owner runs alone first, though
// somebody waits, so that remember_helped() has something to compare with; mostly 0. For some long ones.
uint64_t begins_alone(Learned& l, double ticks);

// Owner's costs before and after the first guest's coming, as the chunks of one region show them; 0 = not seen.
// `was_alone`: part of the region ran before it was published, when its atomic operations were plain ones.
struct Crowding {
    double before, after;
    bool was_alone;
};

// Regions of one owner between which guests linger, such as those of a chain of short loops. They use the same data,
// which move between the cores' caches if only some of the regions are shared. So sharing is judged for all of them
// together, over the last 20 ms or so. In ticks.
class Chain {
public:
    // Adds a region that has gained `won`, of the `taken` ticks that guests have computed, in `wall`. About `most`
    // ticks are remembered.
    void add(double won, double taken, double wall, double most);
    bool pays() const;

private:
    double won_ = 0, taken_ = 0, wall_ = 0;
};

// What the next execution costs has nothing to do with those before: its iterations are no fixed work.
void forget_costs(ws_site* site);

// A published region is over: `iterations` in it, of them `stolen`, in `wall` ticks open to close. Decides whether the
// next ones are to be shared. What other programs have `disturbed` tells only whether it was worth it beside them.
// `chain`: its owner's, if a guest was there already when it began; else null.
void remember_shared(ws_site* site, uint64_t iterations, uint64_t stolen, uint64_t wall, Crowding crowding,
                     bool disturbed, Chain* chain = nullptr);

// A region of `wall` ticks was cut into chunks, and perhaps published, for somebody who then took none: what was left
// was not worth it. Cutting costs short regions up to a tenth, so after several in a row the loop runs whole for a
// while.
void remember_in_vain(ws_site* site, uint64_t wall);

// A region was helped with; an iteration has cost `ticks` to the thread that ran it, guests and owner alike. Returns
// how many times as much that is as one costs while nobody helps: cores share memory, caches and what atomic operations
// touch. At least 1; usual_slowdown where it is not known. To be called after remember_shared().
// `overlap`: of what it has cost, the part in which others computed beside its threads; what is returned is for all.
double remember_helped(ws_site* site, double ticks, Crowding crowding, bool disturbed, double overlap = 1);
// Returns how much longer a region would have lasted without guests. They and the owner computed for `computed` ticks,
// in `wall`; for the part `overlap` of them at the same time. `slowdown` is what remember_helped() has just returned.
// If that was a guess before, and too large a gain was returned, the excess is subtracted from what regions gain now:
// it cannot be taken off the lags of ranks that have waited since. So is what regions lost that guests made longer.
double truly_won(ws_site* site, double computed, double overlap, double wall, double slowdown);
// Measured values: 1.01 to 1.09 (tools/dev/bench --only programs, compared with -workshare-victim none).
constexpr double usual_slowdown = 1.03;

// Which share of the region published last guests ran, and from where on that is much: publishing the next one before
// anybody asks costs less than a hundredth of that.
double helped_last(const Learned& l);
constexpr double much_help = 0.05;

// How many times as much an iteration of the second half of the range costs as one of the first half, as measured in
// one region. `rough`: perhaps beside guests in one half only; counts only as long as nothing better is known.
void remember_tilt(ws_site* site, double tilt, bool rough = false);
// 0 = never measured.
double tilt_of(const Learned& l);
constexpr double even_least = 0.8, even_most = 1.25;
constexpr bool is_even(double tilt) { return tilt > even_least && tilt < even_most; }
// Whether owner and guests are to begin at the two ends. Once they do that, it takes more to end it: a loop that goes
// to and fro loses what lies in its cores' caches each time, and with two ends a little unevenness costs nothing.
bool has_even_ends(const Learned& l);
constexpr double ends_least = 0.625, ends_most = 1.6;
// In a region with two ends guests see one half, and the owner the other. Guests' caches are colder: so only more than
// this tells of the loop, either way; less says that it is even.
constexpr double cold_most = 2.5;

// Whether this execution may be shared. Counts down what remember_shared() has set.
inline bool may_share(Learned& l)
{
    int64_t left = peek(l.unshared);
    if (WS_LIKELY(left == 0))
        return true;
    poke(l.unshared, left - 1);
    return false;
}

// Counts an execution in which tasks of OpenMP's were put: each ran at once, in the thread that put it.
void remember_tasks(ws_site* site);

// The loop's row on the board; makes it if there is none.
observe::LoopRow& row_of(ws_site* site);
inline void remember_longest(observe::LoopRow& row, uint64_t ticks)
{
    if (ticks > peek(row.longest_chunk_ticks))
        poke(row.longest_chunk_ticks, ticks);
}

} // namespace ws::loop
