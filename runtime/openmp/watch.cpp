// SPDX-License-Identifier: MIT
#include "openmp/watch.h"

#include "openmp/code.h"
#include "window/os.h"

namespace ws::openmp {

using directive::Question;
using window::ticks;

namespace {
// The code before a region's first call, if it is nothing but what the compiler put there.
constexpr uintptr_t near_begin = 448;
bool follows(const void* from, const void* to, uintptr_t at_most)
{
    return uintptr_t(to) - uintptr_t(from) <= at_most;
}
} // namespace

void Watch::note_late(RegionSite& site, Flag use)
{
    if ((Hardware::load_relaxed(site.uses) & use) != use)
        Hardware::or_full(site.uses, use); // full: what was noted before comes before
}

void Watch::note(Flag use) { note_late(site, use); }

void Watch::note_barrier(Unit& unit, const void* caller)
{
    unit.barriers++;
    note(use::barrier);
    const Phase* const next = phase_after(site, caller);
    if (!next || !next->may_stop)
        note_unknown("a barrier beside errno");
}

void Watch::note_unknown(const char* name, Flag also)
{
    site.why = name;
    note(use::unknown | also);
}

void Watch::note_deal(Flag use, void* caller)
{
    const Flag before = Hardware::load_relaxed(site.uses);
    if (!(before & (use::pair | use::loop | use::numbers)) && !follows(site.code, caller, near_begin) &&
        !region.loop && !region.sections)
        use |= use::far;
    const double setup = double(ticks() - current->began); // of the thread that was disturbed least
    if (site.setup == 0 || setup < site.setup)
        window::store_relaxed(site.setup, setup);
    note(use);
}

void Watch::note_question(Question question, void* caller)
{
    if (const HarmlessQuestion known = harmless_question(caller); known.is) {
        if (known.deals)
            note_deal(use::pair, caller);
        return;
    }
    note(question == Question::threads ? use::numbers | use::counts : use::numbers);
}

void Watch::end(Unit& unit)
{
    Hardware::store_relaxed(barriers, unit.barriers); // all have as many
}

void run_watched(void* argument)
{
    Watch& watch = *static_cast<Watch*>(argument);
    Unit unit = {};
    unit.watch = &watch;
    unit.began = ticks();
    {
        const Current here(&unit);
        watch.region.fn(watch.region.data);
    }
    watch.end(unit);
}

} // namespace ws::openmp
