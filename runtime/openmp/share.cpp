// SPDX-License-Identifier: MIT
//
// What becomes of a parallel region that an unmodified program opens, under -workshare-openmp=help: it is run by OpenMP
// and watched, or by OpenMP, or shared. Called by libws's functions that stand before the library's (directive/).
//
// A region known to be short is one call of its function, as long as nobody waits: what it costs more than the
// library's own is printed by benchmarks/region_cost.
#include "directive/openmp.h"
#include "loop/participant.h"
#include "openmp/team.h"

#include <cstdlib>
#include <cstring>

namespace ws::openmp {

using directive::openmp;
using loop::host;
using loop::self;
using window::ticks;

namespace {

void run_by_openmp(RegionCall& region, const RegionSite* site)
{
    const Current none(nullptr);
    // Who keeps thread numbers finds the same ones in each region: as many as it was told from the start.
    const bool same = region.threads == 0 && site && (Hardware::load_relaxed(site->uses) & use::numbers);
    region.open(region.fn, region.data, same ? directive::openmp_told() : region.threads);
}

__attribute__((noinline)) void run_watching(RegionCall& region, RegionSite& site)
{
    Watch watch = {site, region};
    const uint64_t began = ticks();
    if (region.loop || region.sections)
        watch.note(use::loop);
    {
        const Current none(nullptr);
        region.open(run_watched, &watch, directive::openmp_told());
    }
    settle(site, double(ticks() - began), Hardware::load_relaxed(watch.barriers));
}

// With several threads of its own a rank shares a region only where somebody waits, if nobody can tell.
bool stays_own(const RegionSite& site)
{
    if ((Hardware::load_relaxed(site.uses) & use::numbers) || host().share_all || !host().row)
        return false;
    const Flag hungry = Hardware::load_relaxed(host().row->hunger.hungry); // relaxed: a hint
    return !hungry || site.longest <= double(host().publish_ticks[hungry]);
}

void run_shared(RegionCall& region, RegionSite& site)
{
    const unsigned own = unsigned(openmp(nullptr).max_threads());
    if (own > 1 && stays_own(site)) {
        const Current none(nullptr);
        region.open(region.fn, region.data, 0);
        return;
    }
    VirtualTeam team(site, region,
                     region.sections && site.free ? std::min(region.sections, most_units) : units_of(site));
    for (ws_site* phase = &site.site; phase; phase = team.next_phase())
        if (own > 1)
            ws_openmp_loop(VirtualTeam::take_part, &team, 0, long(team.units), 1, phase, 0, 0);
        else
            ws_parallel_loop(VirtualTeam::take_part, &team, 0, long(team.units), 1, phase, 0, 0);
}

void run_region(RegionCall& region)
{
    // One within another, or in a loop; one of one thread, which may rely on that; or of as many as the program says.
    const unsigned told = directive::openmp_told();
    if (WS_UNLIKELY(current != nullptr)) {
        if (current->watch)
            current->watch->note(use::nested);
        // OpenMP does not know that the thread is in a region already: one within has one thread, as usual.
        const unsigned threads = current->watch ? region.threads : 1;
        const Current none(nullptr);
        region.open(region.fn, region.data, threads);
        return;
    }
    const bool usual = (region.threads == 0 && !directive::openmp_threads_set_here()) || region.threads == told;
    if (WS_UNLIKELY(!usual || !told || self.in_region || directive::openmp_level() != 0)) {
        region.open(region.fn, region.data, region.threads);
        return;
    }
    RegionSite* const site = find_site(region.site);
    const State state = site ? site->now() : State::own;
    if (WS_LIKELY(state == State::shared))
        run_shared(region, *site);
    else if (state == State::own)
        run_by_openmp(region, site);
    else
        run_watching(region, *site);
}

// Before the program's first region: as it is preloaded, libws begins before the program.
__attribute__((constructor)) void begin_sharing()
{
    const char *enabled = std::getenv("WS_ENABLE"), *mode = std::getenv("WS_OPENMP");
    if (enabled && mode && std::strcmp(enabled, "1") == 0 && std::strcmp(mode, "help") == 0)
    {
        directive::openmp_sharer = run_region;
        pthread_atfork(nullptr, nullptr, [] { directive::openmp_sharer = nullptr; }); // a child has no watchdog
    }
}

} // namespace

} // namespace ws::openmp
