// SPDX-License-Identifier: MIT
//
// The rank that decides. When a policy changes something for all ranks of a node, one of them decides at a time: the
// first to come, for a time that it states. If it dies, or stops, the next one can decide when that time is over. One
// word in the window, changed only by compare-and-swap:
//
//     63                    10 9        0
//    +------------------------+----------+
//    |         until          | rank + 1 |     0: nobody has decided yet
//    +------------------------+----------+
//
// `until` is in ticks, rounded up to a multiple of 2^10.
//
// No two ranks hold it at the same time, by the clock that the cores of a node share. But a thread can be stopped
// between its look at the clock and what it then does, however short that is. So a decision must do no harm when it
// comes late: dpb promises each core by a compare-and-swap on that core's word (cores.h).
#pragma once

#include "base/atomics.h"
#include <cstdint>

namespace ws::arbiter {

using base::Hardware;

template <class Atomics = Hardware> class BasicDecider {
    using A = Atomics;
    using Word = typename A::Word;

public:
    // For the node rank `me`. With a null word, this rank never decides.
    BasicDecider(volatile Word* word, unsigned me) : word_(word), me_(me) {}
    BasicDecider() = default;

    // Becomes the decider, or goes on being it, until then (in ticks, as all times here). False: another rank is.
    bool take(uint64_t now, uint64_t until)
    {
        if (!word_)
            return false;
        // Acquire: what the last decider has written. Pairs with the exchange below.
        const Word was = A::load_acquire(*word_);
        if (uint64_t(was) >> rank_bits << rank_bits > now && (was & rank_mask) != me_ + 1)
            return false;
        // Full: what this rank does as the decider comes after, and what it did before is seen by the next. It fails if
        // another came first. The word was the same all the time if it is the same: a later `until` is another one.
        return A::cas_full(*word_, was, Word(((until >> rank_bits) + 1) << rank_bits | (me_ + 1)));
    }

private:
    static constexpr unsigned rank_bits = 10;
    static constexpr Word rank_mask = (Word(1) << rank_bits) - 1;

    volatile Word* word_ = nullptr;
    unsigned me_ = 0;
};
using Decider = BasicDecider<>;

} // namespace ws::arbiter
