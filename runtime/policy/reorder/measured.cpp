// SPDX-License-Identifier: MIT
#include "policy/reorder/measured.h"

#include "observe/board.h"
#include "window/os.h"

namespace ws::reorder {

namespace {

struct Count {
    uint64_t at;
    int64_t not_computed; // of the time since: waits, less what others computed of this rank's loops meanwhile
};
Count begun; // zero: MPI_Init

Count count()
{
    Count c = {ticks(), int64_t(board->seat(0).lend.blocked_ticks)};
    for (unsigned i = 0; i < board->seats; i++)
        c.not_computed -= int64_t(board->seat(i).visit.busy_ticks);
    for (unsigned i = 0; i < loop_rows && board->loop(i).name[0]; i++)
        c.not_computed += int64_t(board->loop(i).close_wait);
    c.not_computed += int64_t(board->loop(loop_rows - 1).close_wait);
    return c;
}

} // namespace

bool can_measure() { return board != nullptr; }

double measured_load()
{
    const Count now = count();
    const double computed = double(now.at - (begun.at ? begun.at : board->attached_at)) - double(now.not_computed - begun.not_computed);
    return computed > 0 ? computed / board->ticks_per_us * 1e-6 : 0;
}

void begin_measuring() { begun = count(); }

} // namespace ws::reorder
