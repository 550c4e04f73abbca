// SPDX-License-Identifier: MIT
#include "policy/cores/team.h"

#include "base/os.h"

#include <algorithm>

namespace ws::policy::cores {

using base::CpuSet;
using window::Load;
using window::rank_blocked;

// A rank has to wait for so long before its processors are lent; longer, up to the second, where it came back too
// early.
constexpr unsigned borrow_least_us = 20, borrow_most_us = 20000;
// A rank that waits again this soon after a region took its processors was on its way from one wait to the next.
constexpr double between_waits_us = 1000;

namespace {

constexpr int anywhere = -1;
// Where this thread was bound to here: 1 + the CPU, or unbound; 0: it is as it was created, and may have its creator's
// mask.
WS_THREAD_LOCAL int bound;
constexpr int unbound = -1;

} // namespace

void Team::attach(Table& table, window::Window& window, unsigned me, double ticks_per_us, bool placed, bool stays)
{
    table_ = &table;
    window_ = &window;
    me_ = me;
    placed_ = placed && !stays;
    stays_ = stays;
    ticks_per_us_ = ticks_per_us;
    all_ = CpuSet(window.mask(me));
    window::Place home = {};
    owner_.assign(table.processors(), 0);
    for (unsigned p = 0; p < table.processors(); p++) {
        nearest_.push_back(p);
        if (table.processor(p).home == me)
            home = table.processor(p).place;
    }
    std::stable_sort(nearest_.begin(), nearest_.end(), [&](unsigned a, unsigned b) {
        return window::distance(table.processor(a).place, home) < window::distance(table.processor(b).place, home);
    });
    waits_since_.assign(table.ranks(), 0);
    passed_over_.assign(table.ranks(), 0);
    settle();
}

unsigned Team::settle()
{
    own_ = 0;
    moved_ = false;
    own_cpus_.clear();
    with_worker_.clear();
    for (unsigned p = 0; p < table_->processors(); p++) {
        const Processor& q = table_->processor(p);
        owner_[p] = uint16_t(q.home);
        if (q.home == no_rank) {
            arbiter::Word<> word = table_->word(p);
            word.settle(me_, table_->idle_use(p));
            owner_[p] = uint16_t(table_->owner(p));
        }
        moved_ |= (owner_[p] == me_) != (q.first == me_);
        if (owner_[p] != me_)
            continue;
        own_++;
        if (table_->has_worker(p))
            with_worker_.push_back(p);
        own_cpus_.insert(q.home == me_ ? own_cpus_.begin() : own_cpus_.end(), q.cpu);
    }
    return own_;
}

unsigned Team::own_at_end() const
{
    unsigned own = 0;
    for (const Located& l : table_->located())
        own += l.owner == me_;
    return own;
}

bool Team::is_lendable(unsigned rank, uint64_t now, uint64_t* since) const
{
    Load load;
    // Relaxed: a hint. What it does then decides: the word is taken by an exchange.
    if (Hardware::load_relaxed(window_->home(rank).occupancy) != rank_blocked || !window_->load(rank).read(load, 4) ||
        !load.waits)
        return false;
    if (Hardware::load_relaxed(table_->row(rank).threads) > 1) // it waits in a region: others of its threads compute
        return false;
    *since = load.at;
    const Flag patience =
        std::max(borrow_least_us, Hardware::load_relaxed(table_->row(rank).patience_us));
    return now > load.at && double(now - load.at) > double(patience) * ticks_per_us_;
}

unsigned Team::could_borrow(uint64_t now)
{
    unsigned processors = 0;
    passes_over_ = false;
    for (unsigned r = 0; r < table_->ranks(); r++) {
        uint64_t since = 0;
        const bool lendable = r != me_ && is_lendable(r, now, &since);
        if (lendable)
            processors += std::min(Hardware::load_relaxed(table_->row(r).target), table_->processors());
        waits_since_[r] = lendable ? since : 0;
        passed_over_[r] = lendable ? 0 : since;
        passes_over_ |= passed_over_[r] != 0;
    }
    return processors;
}

void Team::forgive(uint64_t now)
{
    passes_over_ = false;
    for (unsigned r = 0; r < table_->ranks(); r++) {
        Load load;
        if (!passed_over_[r] || !window_->load(r).read(load) || !load.waits || load.at != passed_over_[r])
            continue;
        volatile Flag& patience = table_->row(r).patience_us; // relaxed, as in give_back()
        if (const Flag us = Hardware::load_relaxed(patience); double(now - load.at) > 2 * us * ticks_per_us_)
            Hardware::store_relaxed(patience, std::max(borrow_least_us, us / 2));
    }
}

unsigned Team::borrow(unsigned most, uint64_t now)
{
    taken_at_ = now;
    for (unsigned p : nearest_) {
        if (borrowed_.size() >= most)
            break;
        if (owner_[p] != me_ && waits_since_[owner_[p]] &&
            table_->word(p).change(table_->idle_use(p), arbiter::Use::openmp)) {
            borrowed_.push_back({p, owner_[p], 0, 0, false});
            look_beside(p, false);
        }
    }
    return unsigned(borrowed_.size());
}

// A worker that still computes on a processor that was taken stops after its chunk. A worker says that it computes and
// looks whether its core is taken then (lend/worker.cpp); the word was changed before this look: one of the two sees
// the other.
void Team::look_beside(unsigned p, bool guest)
{
    if (!table_->has_worker(p))
        return;
    window::Home& core = window_->home(table_->processor(p).core);
    if (!guest && Hardware::load_acquire(core.occupancy) != window::rank_computing)
        return;
    Hardware::store_relaxed(core.recall, 1);
    beside_.push_back({table_->processor(p).core, guest});
}

void Team::take_own(uint64_t now)
{
    taken_at_ = now;
    for (unsigned p : with_worker_) {
        const bool taken = table_->word(p).change(arbiter::Use::worker, arbiter::Use::openmp);
        if (taken)
            taken_.push_back(p);
        look_beside(p, !taken);
    }
}

void Team::place(const std::vector<int>& foreign)
{
    places_ = moved_ || !borrowed_.empty() || !foreign.empty();
    if (!places_)
        return;
    placed_before_ = true;
    cpus_ = own_cpus_;
    for (const Borrowed& b : borrowed_)
        cpus_.push_back(table_->processor(b.processor).cpu);
    cpus_.insert(cpus_.end(), foreign.begin(), foreign.end());
}

Team::Lent Team::give_back(uint64_t now)
{
    Lent sum = {};
    for (const Beside& b : beside_) {
        const window::Home& core = window_->home(b.core);
        // Acquire: when it left. Pairs with guest.cpp and worker.cpp.
        const bool there = b.guest ? Hardware::load_acquire(core.state) == window::core_lent
                                   : Hardware::load_acquire(core.occupancy) == window::rank_computing;
        const uint64_t until = there ? now : std::min<uint64_t>(now, Hardware::load_relaxed(core.returned_at));
        if (until <= taken_at_)
            continue; // it had left, and nobody had noticed yet
        sum.beside++;
        sum.beside_ticks += until - taken_at_;
        sum.beside_longest = std::max(sum.beside_longest, until - taken_at_);
    }
    beside_.clear();
    for (unsigned p : taken_) // now workers may come back, and report again when they left
        table_->word(p).change(arbiter::Use::openmp, arbiter::Use::worker);
    taken_.clear();
    unsigned told = no_rank; // processors of a rank need not follow each other, but mostly do
    Return owner = {};
    for (const Borrowed& b : borrowed_) {
        if (!b.left)
            table_->word(b.processor).change(arbiter::Use::openmp, table_->idle_use(b.processor));
        if (b.from != told) {
            told = b.from;
            owner = owner_returned(told, now);
            // A rank that comes back too early waits longer before it lends again.
            RankRow& row = table_->row(b.from);
            const Flag patience = std::max(borrow_least_us, Hardware::load_relaxed(row.patience_us));
            const bool too_early =
                double(owner.beside) > 5 * ticks_per_us_ && owner.beside > (now - taken_at_) / 20;
            Hardware::store_relaxed(row.patience_us, too_early
                                                         ? std::min(borrow_most_us, 2 * patience)
                                                         : std::max(borrow_least_us, patience / 2));
        }
        sum.used += (b.left ? b.done_at : now) - taken_at_;
        sum.late += b.late;
        sum.recalled += owner.came;
        sum.left += b.left;
    }
    borrowed_.clear();
    return sum;
}

// The end of an owner's wait is what recalls its processors: its row says so. Where it waits once more nobody knows
// when it came: half of the time until then is counted.
Team::Return Team::owner_returned(unsigned rank, uint64_t now) const
{
    Load load;
    if (!window_->load(rank).read(load) || (load.waits && load.at == waits_since_[rank]))
        return {false, false, 0};
    const uint64_t at = std::clamp(load.at, taken_at_, now);
    const bool was_on_its_way = double(at - taken_at_) < between_waits_us * ticks_per_us_;
    return {true, load.waits && was_on_its_way, load.waits ? (at - taken_at_) / 2 : now - at};
}

void Team::member_done(unsigned number)
{
    const size_t first = own_cpus_.size();
    if (number < first || number - first >= borrowed_.size())
        return;
    Borrowed& b = borrowed_[number - first];
    b.done_at = base::ticks();
    const Return owner = owner_returned(b.from, b.done_at);
    if (!owner.came)
        return;
    b.late = owner.beside;
    if (owner.waits)
        return;
    b.left = table_->word(b.processor).change(arbiter::Use::openmp, table_->idle_use(b.processor));
    leave();
}

void Team::leave()
{
    if (bound > 0)
        bind(unbound);
}

void Team::member(unsigned number)
{
    if (!placed_before_)
        return;
    const bool places = places_ && (!stays_ || number >= own_cpus_.size());
    const int cpu = places && number < cpus_.size()        ? cpus_[number]
                    : placed_ && number < own_cpus_.size() ? own_cpus_[number]
                                                           : anywhere;
    const int want = cpu == anywhere ? unbound : cpu + 1;
    if (bound != want && !(stays_ && want == unbound && bound <= 0)) // else it was never elsewhere
        bind(want);
}

void Team::bind(int want)
{
    if (want == unbound)
        all_.mask().bind();
    else {
        CpuSet one;
        one.add(want - 1);
        one.mask().bind();
    }
    bound = want;
}

} // namespace ws::policy::cores
