// SPDX-License-Identifier: MIT
#include "policy/cores/foreign.h"


#include <algorithm>

namespace ws::policy::cores {

using book::Lenders;
using base::Hardware;
// How long all ranks of another job must have waited before its processors are lent. By then the last of them is
// asleep. The time grows from the first value to the second when owners come back too early.
constexpr unsigned share_least_us = 1000, share_most_us = 100000;
constexpr double share_look_us = 20000; // whether a process that has left MPI has ended

namespace {

// Whether the system lets this thread compute there: a container or a batch system may not.
bool may_use(int cpu)
{
    base::CpuSet own, one;
    if (cpu < 0) // pretended
        return true;
    if (!own.read_own())
        return false;
    one.add(cpu);
    const bool may = one.mask().bind();
    own.mask().bind();
    return may;
}

} // namespace

void Foreign::attach(book::Reader& book, double ticks_per_us)
{
    book_ = &book;
    ticks_per_us_ = ticks_per_us;
}

// Cold: when a job has come or gone.
void Foreign::look(uint64_t now)
{
    looked_at_ = now;
    changes_ = book_->changes(); // before the look: what changes after this counts as another change
    looked_ = true;
    lenders_ = book_->lenders(leaving_);
    const auto is_barred = [](const book::SharedCore* core) { return !may_use(book::Reader::cpu_of(*core)); };
    for (Lenders& l : lenders_)
        l.cores.erase(std::remove_if(l.cores.begin(), l.cores.end(), is_barred), l.cores.end());
}

unsigned Foreign::could_borrow(uint64_t now)
{
    if (WS_UNLIKELY(!looked_ || book_->changes() != changes_ ||
                    (leaving_ && double(now - looked_at_) > share_look_us * ticks_per_us_)))
        look(now);
    size_t cores = 0;
    for (const Lenders& l : lenders_)
        if (book::Reader::at_rest(l, now, uint64_t(patience_us_[l.job] * ticks_per_us_)))
            cores += l.cores.size();
    return unsigned(cores);
}

unsigned Foreign::borrow(unsigned most, uint64_t now)
{
    taken_at_ = now;
    for (size_t l = 0; l < lenders_.size(); l++) {
        unsigned& patience = patience_us_[lenders_[l].job];
        patience = std::max(patience, share_least_us);
        if (!book::Reader::at_rest(lenders_[l], now, uint64_t(patience * ticks_per_us_)))
            continue;
        for (book::SharedCore* core : lenders_[l].cores) {
            if (taken_.size() >= most)
                return unsigned(taken_.size());
            if (const Hardware::Word with = book_->take(*core)) {
                taken_.push_back({core, with, l, 0, 0, false});
                cpus_.push_back(book::Reader::cpu_of(*core));
            }
        }
    }
    return unsigned(taken_.size());
}

// When the first of the ranks that might use those cores went on; 0: none has. Relaxed: a rank that is not seen yet is
// seen by the next thread.
uint64_t Foreign::came_back(size_t lender) const
{
    uint64_t first = 0;
    for (const book::Page* page : lenders_[lender].pages)
        if (const uint64_t since = Hardware::load_relaxed(page->since); since > taken_at_)
            first = first ? std::min(first, since) : since;
    return first;
}

bool Foreign::member_done(size_t i)
{
    if (i >= taken_.size())
        return false;
    Taken& t = taken_[i];
    t.done_at = base::ticks();
    const uint64_t back = came_back(t.lender);
    if (!back)
        return false;
    t.late = t.done_at - std::min(back, t.done_at);
    t.left = true;
    book_->give_back(*t.core, t.with, t.done_at - taken_at_);
    return true;
}

Foreign::Lent Foreign::give_back(uint64_t now)
{
    Lent sum = {};
    for (const Taken& t : taken_) {
        const uint64_t used = (t.left ? t.done_at : now) - taken_at_;
        if (!t.left)
            book_->give_back(*t.core, t.with, used);
        sum.used += used;
        sum.late += t.late;
        sum.recalled += came_back(t.lender) != 0;
        sum.left += t.left;
    }
    // A job that came back too early is asked later next time.
    for (size_t l = 0; l < lenders_.size() && !taken_.empty(); l++) {
        if (std::none_of(taken_.begin(), taken_.end(), [l](const Taken& t) { return t.lender == l; }))
            continue;
        unsigned& patience = patience_us_[lenders_[l].job];
        patience = sum.late > sum.used / 20 ? std::min(share_most_us, 2 * patience)
                                            : std::max(share_least_us, patience / 2);
    }
    taken_.clear();
    cpus_.clear();
    return sum;
}

} // namespace ws::policy::cores
