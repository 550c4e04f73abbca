// SPDX-License-Identifier: MIT
//
// What a rank's own work costs, as it stands in the window: written by its home thread, read by whoever decides, of any rank.
//
//   epoch (even) -> odd -> the sums -> even: a reader that sees another epoch, or an odd one, reads again.
//
// Costs: write 1 load and 6 stores to a line that is the writer's unless somebody has just read it; no atomic read-modify-write.
#pragma once

#include "window/atomics.h"
#include <cstdint>

namespace ws {

// In ticks, since the rank attached. Time that its thread was ready to run while others had its core is in no sum; as that is found out
// some milliseconds later, `useful` may go back by as much. The others only grow from one row to the next.
struct Load {
    uint64_t at = 0;       // the moment that the sums speak of; 0: the rank has not attached yet
    bool waits = false;    // the rank waits since then; else it works
    uint64_t useful = 0;   // what its work cost: its own thread's time outside of waits, and what guests and workers did for it
    uint64_t waited = 0;   // its own thread's, in MPI, with its core lent or not, and for guests at the ends of its loops
    uint64_t borrowed = 0; // of useful: done by guests and workers, on other cores

    // The same at `now`, if it has gone on as it was.
    Load brought_to(uint64_t now) const
    {
        Load l = *this;
        if (at && now > at) {
            (waits ? l.waited : l.useful) += now - at;
            l.at = now;
        }
        return l;
    }
};

template <class Atomics = Hardware> class alignas(64) BasicLoadRow {
    using A = Atomics;
    using Word = typename A::Word;

public:
    // The home thread alone.
    void write(const Load& l)
    {
        const Word odd = A::load_relaxed(epoch_) + 1; // relaxed: nobody else writes it
        A::store_relaxed(epoch_, odd);
        // Release each: who reads one of these values finds the odd epoch, or a later one, at its second look. Pairs with read().
        A::store_release(at_, Word(l.at) << 1 | Word(l.waits));
        A::store_release(useful_, l.useful);
        A::store_release(waited_, l.waited);
        A::store_release(borrowed_, l.borrowed);
        A::store_release(epoch_, odd + 1); // pairs with the first look: the sums are there
    }

    // Any thread. False if the row was being written each time: its writer was stopped, or died, in the middle of it.
    bool read(Load& l, unsigned tries = 10000) const
    {
        while (tries--) {
            const Word before = A::load_acquire(epoch_); // pairs with the last store of write()
            if (before & 1)
                continue;
            // Acquire each: the second look at the epoch comes after. Pairs with write().
            const Word at = A::load_acquire(at_);
            l.at = uint64_t(at >> 1);
            l.waits = at & 1;
            l.useful = uint64_t(A::load_acquire(useful_));
            l.waited = uint64_t(A::load_acquire(waited_));
            l.borrowed = uint64_t(A::load_acquire(borrowed_));
            if (A::load_relaxed(epoch_) == before)
                return true;
        }
        return false;
    }

private:
    volatile Word epoch_, at_, useful_, waited_, borrowed_;
};
using LoadRow = BasicLoadRow<>;

} // namespace ws
