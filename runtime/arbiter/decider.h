// SPDX-License-Identifier: MIT
//
// Who decides. Where a policy changes something for all ranks of a node, one of them decides at a time: the one that
// comes first, for a time that it states. If it dies, or stops, the next one can decide when that time is over. One
// word in the window, changed only by compare-and-swap:
//
//     63        24 23     10 9        0
//    +------------+---------+----------+
//    |   until    |  term   | rank + 1 |     rank + 1 == 0: nobody
//    +------------+---------+----------+
//
// `until` is in units of 2^16 ticks, and wraps around: every deadline is taken to lie within half of its range, which
// is months.
//
// No two ranks hold it at the same time, by the clock that the cores of a node share. But a thread can be stopped
// between its look at the clock and what it then does, however short that is. So a decision must do no harm when it
// comes late: dpb promises each core by a compare-and-swap on that core's word (cores.h). The term grows by one with
// each new decider: it tells decisions apart.
#pragma once

#include "base/atomics.h"
#include <cstdint>

namespace ws::arbiter {

using base::Hardware;

template <class Atomics = Hardware> class BasicDecider {
    using A = Atomics;
    using Word = typename A::Word;

public:
    // Of the node rank `me`. A null word: this rank never decides.
    BasicDecider(volatile Word* word, unsigned me) : word_(word), me_(me) {}
    BasicDecider() = default;

    // Becomes the decider, or goes on being it, until then (in ticks, as all times here). False: another rank is.
    bool take(uint64_t now, uint64_t until)
    {
        if (!word_)
            return false;
        // Acquire: what the last decider has written. Pairs with the exchange below, and with give_up().
        const Word was = A::load_acquire(*word_);
        const State s = unpack(was);
        const bool over = s.holder == nobody || is_over(s, now);
        if (!over && s.holder != me_ + 1)
            return false;
        const uint64_t term = over ? (s.term + 1) & max_term : s.term;
        // Full: what this rank does as the decider comes after, and what it did before is seen by the next. It fails if
        // another came first.
        if (!A::cas_full(*word_, was, pack({units(until) + 1, term, me_ + 1u})))
            return false;
        term_ = unsigned(term);
        return true;
    }
    // Whether this rank still is the decider.
    bool holds(uint64_t now) const
    {
        if (!word_)
            return false;
        const State s = unpack(A::load_acquire(*word_)); // acquire: as take()
        return s.holder == me_ + 1 && s.term == term_ && !is_over(s, now);
    }
    // Gives the decision up, so that the next one need not wait until the time is over.
    void give_up()
    {
        if (!word_)
            return;
        const Word was = A::load_relaxed(*word_); // relaxed: the exchange finds out
        const State s = unpack(was);
        if (s.holder == me_ + 1 && s.term == term_)
            A::cas_full(*word_, was,
                        pack({s.until, s.term, nobody})); // full: what it did comes before. Fails if another came
    }
    // The term that the last take() of this rank began or prolonged.
    unsigned term() const { return term_; }

private:
    static constexpr unsigned unit_bits = 16, rank_bits = 10, term_bits = 14, until_bits = 40;
    static constexpr uint64_t max_term = (uint64_t(1) << term_bits) - 1, max_until = (uint64_t(1) << until_bits) - 1,
                              nobody = 0;
    struct State {
        uint64_t until, term, holder;
    };
    static uint64_t units(uint64_t ticks) { return ticks >> unit_bits & max_until; }
    static Word pack(const State& s)
    {
        return Word((s.until & max_until) << (term_bits + rank_bits) | s.term << rank_bits | s.holder);
    }
    static State unpack(Word w)
    {
        return {uint64_t(w) >> (term_bits + rank_bits), uint64_t(w) >> rank_bits & max_term,
                uint64_t(w) & ((1u << rank_bits) - 1)};
    }
    // Asked by the decider and by candidates in the same way, so that the time is over for all of them at once.
    static bool is_over(const State& s, uint64_t now) { return ((units(now) - s.until) & max_until) <= max_until / 2; }

    volatile Word* word_ = nullptr;
    unsigned me_ = 0, term_ = 0;
};
using Decider = BasicDecider<>;

} // namespace ws::arbiter
