// SPDX-License-Identifier: MIT
#include "measure/meter.h"

#include "base/atomics.h"
#include "base/os.h"

#include <algorithm>

namespace ws::measure {

using window::Load;

// A thread that was kept off its core for longer than this was disturbed. It is an eighth of the time between two
// looks. In chains of short regions threads were kept off for 0.4 to 0.9 ms of it, most likely by handing cores over
// and back.
constexpr double disturbed_us = 1000;

void Meter::start(window::LoadRow* row, uint64_t now, double ticks_per_us)
{
    row_ = row ? row : &own_row_;
    home_ = pthread_self();
    ticks_per_us_ = ticks_per_us;
    kept_off_.start(now, ticks_per_us, true);
    last_ = now;
    started_ = true;
    write(now, false);
}

void Meter::work_until(uint64_t at)
{
    const uint64_t passed = at > last_ ? at - last_ : 0, waited = std::min(within_, passed), worked = passed - waited;
    waited_ += waited;
    worked_ += worked;
    kept_off_.worked(worked);
    kept_off_.was_awake(waited);
    settle(at);
    within_ = 0;
    last_ = std::max(last_, at);
}

// A thread learns that it was without its core for so long. More than a timer tick or two of it is no accident.
uint64_t Meter::note_kept_off(uint64_t ticks, uint64_t at)
{
    if (double(ticks) > disturbed_us * ticks_per_us_)
        base::store_relaxed(disturbed_at_, at);
    return ticks;
}

// Time that was counted as work before it was known that others had the core.
void Meter::settle(uint64_t at)
{
    const uint64_t off = note_kept_off(kept_off_.settle(at), at);
    worked_ -= off;
    kept_ += off;
}

void Meter::write(uint64_t at, bool waits)
{
    waits_ = waits;
    row_->write({at, waits, worked_ + base::load_relaxed(borrowed_), waited_, kept_});
}

void Meter::wait_begins(uint64_t at)
{
    work_until(at);
    write(at, true);
}

void Meter::wait_ends(uint64_t at, uint64_t asleep)
{
    const uint64_t took = at > last_ ? at - last_ : 0;
    waited_ += took;
    kept_off_.was_awake(took - std::min(asleep, took));
    settle(at); // of the work before it
    last_ = at;
    within_ = 0; // it is in `took`
    write(at, false);
}

void Meter::called(uint32_t about, uint32_t place, uint64_t now)
{
    if (WS_UNLIKELY(!periods_))
        periods_ = new Periods;
    if (WS_LIKELY(!periods_->feed(about, place, spent(now))))
        return;
    period_ = periods_->turn().at;
    turns_ = periods_->turns();
}

void Meter::bring_up(uint64_t now)
{
    if (waits_ || !started_)
        return;
    work_until(now);
    write(now, false);
}

namespace {
WS_THREAD_LOCAL KeptOff visitor; // of a guest or a worker
}

void Meter::visit_begins(uint64_t at)
{
    if (visitor.is_started())
        add_borrowed(uint64_t(0) - note_kept_off(visitor.settle(at), at));
    else
        visitor.start(at, ticks_per_us_, false); // guests are many
}

void Meter::visit_ends(uint64_t at, uint64_t busy)
{
    visitor.worked(busy);
    add_borrowed(busy - note_kept_off(visitor.settle(at), at));
}

// Relaxed: a sum, which the region's end orders.
void Meter::add_borrowed(uint64_t ticks)
{
    if (ticks)
        base::fetch_add_relaxed(borrowed_, ticks);
}

Load Meter::load(uint64_t now)
{
    if (started_ && pthread_equal(home_, pthread_self()))
        bring_up(now);
    Load l;
    row_->read(l);
    return l.brought_to(now);
}

} // namespace ws::measure
