// SPDX-License-Identifier: MIT
//
// A few words in shared memory that belong together: written together, read whole.
//
//   epoch (even) -> odd -> the words -> even: a reader that sees another epoch, or an odd one, reads again.
//
// Nobody waits: a reader gives up after a number of tries, as a writer may be stopped, or die, in the middle.
// Costs: write 1 load and `words` + 2 stores; no atomic read-modify-write.
#pragma once

#include "base/atomics.h"
#include <cstddef>

namespace ws::base {

template <size_t words, class Atomics = Hardware> class alignas(64) EpochRow {
    using A = Atomics;

public:
    using Word = typename A::Word;

    // One thread at a time.
    void write(const Word (&values)[words])
    {
        // Relaxed: nobody else writes it. Odd in any case: after a stray store there readers would never read it whole.
        const Word odd = (A::load_relaxed(epoch_) + 1) | 1;
        A::store_relaxed(epoch_, odd);
        // Release: a reader that gets this word sees the odd epoch, or a later one, at its second look.
        for (size_t i = 0; i < words; i++)
            A::store_release(words_[i], values[i]);
        A::store_release(epoch_, odd + 1); // pairs with the first look of read(): the words are there
    }

    // Any thread. False if the row was being written each time.
    bool read(Word (&values)[words], unsigned tries = 10000) const
    {
        while (tries--) {
            const Word before = A::load_acquire(epoch_); // pairs with the last store of a write
            if (before & 1)
                continue;
            for (size_t i = 0; i < words; i++)
                values[i] =
                    A::load_acquire(words_[i]); // acquire: the second look at the epoch comes after. Pairs with write()
            if (A::load_relaxed(epoch_) == before)
                return true;
        }
        return false;
    }

private:
    volatile Word epoch_, words_[words];
};

} // namespace ws::base
