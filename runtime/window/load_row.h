// SPDX-License-Identifier: MIT
//
// The cost of a rank's own work, in the window: written by its home thread, read by the decider, which may be any rank.
//
// Costs: write 1 load and 6 stores; no atomic read-modify-write.
#pragma once

#include "base/epoch_row.h"
#include <cstdint>

namespace ws::window {

// Sums in ticks, since the rank attached. Time in which its thread was ready to run while others had its core is in
// `kept_off` alone; as that is found out some milliseconds later, `useful` may go back by as much. The others only grow
// from one row to the next. Other ranks read `at`, `waits` and `useful`, the rank itself all.
struct Load {
    uint64_t at = 0;       // the moment up to which the sums count; 0: the rank has not attached yet
    bool waits = false;    // the rank waits since then; else it works
    // what its work cost: its own thread's time outside of waits, and what guests and workers did for it
    uint64_t useful = 0;
    // its own thread's waits: in MPI, whether its core was lent or not, and for guests at the ends of its loops
    uint64_t waited = 0;
    uint64_t kept_off = 0; // in neither: its own thread could have worked, but others had its core

    // The same row at `now`, if the rank has gone on as it was.
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

// One cache line, the writer's unless somebody has just read it.
template <class Atomics = base::Hardware> class BasicLoadRow {
    using Word = typename Atomics::Word;

public:
    // The home thread alone.
    void write(const Load& l)
    {
        row_.write({Word(l.at) << 1 | Word(l.waits), Word(l.useful), Word(l.waited), Word(l.kept_off)});
    }

    // Any thread. False if the row was being written each time: its writer was stopped, or died, in the middle of it.
    bool read(Load& l, unsigned tries = 10000) const
    {
        Word w[4];
        if (!row_.read(w, tries))
            return false;
        l = {uint64_t(w[0] >> 1), (w[0] & 1) != 0, uint64_t(w[1]), uint64_t(w[2]), uint64_t(w[3])};
        return true;
    }

private:
    base::EpochRow<4, Atomics> row_;
};
using LoadRow = BasicLoadRow<>;

} // namespace ws::window
