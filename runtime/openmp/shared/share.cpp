// SPDX-License-Identifier: MIT
//
// What becomes of a parallel region that the program opens, under -workshare-openmp=share: its threads are virtual ones
// (team.h). Left to OpenMP are regions of one thread, and those for whose virtual threads the system has no memory or
// no thread: these have the rank's own number of threads, as OpenMP may give a region fewer than it asks for.
#include "openmp/shared/share.h"

#include "openmp/library/imports.h"
#include "openmp/library/regions.h"
#include "openmp/library/threads.h"
#include "loop/participant.h"
#include "openmp/shared/target.h"
#include "openmp/shared/task_reductions.h"
#include "openmp/shared/team.h"
#include "openmp/tool/tool.h"
#include "base/environment.h"

#include <algorithm>
#include <cstdlib>

namespace ws::openmp {


namespace {

// What its threads inherit.
Settings settings_of(const Unit* outer)
{
    if (outer)
        return outer->settings;
    return {nullptr, 0, 1, 0, 0, std::max(1, openmp(nullptr).max_threads()), -1, -1, omp_schedule(),
            -1,      0};
}

int most_levels(const Settings& settings)
{
    const auto& library = openmp(nullptr);
    return settings.levels >= 0 ? settings.levels : library.max_active_levels ? library.max_active_levels() : 1;
}

unsigned threads_of(const RegionCall& region, const Settings& settings, const Unit* outer)
{
    if (WS_UNLIKELY(outer && outer->settings.active >= most_levels(settings)))
        return 1;
    const unsigned asked = region.threads ? region.threads : unsigned(settings.threads);
    const auto& library = openmp(nullptr);
    return library.thread_limit ? std::min(asked, unsigned(std::max(1, library.thread_limit()))) : asked;
}

__attribute__((cold, noinline)) void leave(RegionCall& region, RegionSite* site, const char* why)
{
    if (site)
        site->kept = why;
    region.open(region.fn, region.data, std::min(region.threads ? region.threads : ~0u, own_threads()));
}

__attribute__((cold, noinline)) void run_with_tool(RegionCall& region, RegionSite& site, FiberCrew& crew,
                                                   unsigned threads, Unit* outer, const Settings& settings)
{
    if (!tool::watches) {
        leave(region, nullptr, nullptr);
        return;
    }
    VirtualTeam team(site, region, crew, threads, outer, settings);
    tool::run(team, region, region.threads ? region.threads : unsigned(settings.threads));
}

void run_region(RegionCall& region)
{
    Unit* const outer = current;
    stay_if_process_ends();
    // OpenMP knows of regions that libws has no part in: those of a teams construct, of old programs.
    const char* outside = target_or_teams();
    if (!outside && !outer && nesting_level() != 0)
        outside = "it is in a region of OpenMP's own";
    if (WS_UNLIKELY(outside != nullptr)) {
        leave(region, find_site(region.site), outside);
        return;
    }
    const Settings settings = settings_of(outer); // libomp has initialized itself, and found its tool
    const unsigned threads = threads_of(region, settings, outer);
    if (threads == 1 && !outer) {
        region.open(region.fn, region.data, 1);
        return;
    }
    RegionSite* const site = find_site(region.site);
    FiberCrew* const crew = outer && !outer->fiber->identity() ? outer->team->crew().inner() : FiberCrew::own();
    if (WS_UNLIKELY(!site || !crew || threads > FiberCrew::most)) {
        leave(region, site, "it has more threads than can be shared");
        return;
    }
    bool has_threads = crew->fill(threads);
    if (WS_UNLIKELY(has_threads && !begin_watchdog())) {
        crew->give_up(); // OpenMP needs their threads
        has_threads = false;
    }
    if (WS_UNLIKELY(!has_threads)) {
        leave(region, site, "the system has no memory, or no thread, for its virtual threads");
        return;
    }
    // over its tasks, as libgomp has them; the program adds up what each thread has
    if (WS_UNLIKELY(region.reductions)) {
        begin_region_reductions(*region.reductions, threads);
        region.had = threads;
    }
    if (WS_UNLIKELY(tool::is_attached)) {
        run_with_tool(region, *site, *crew, threads, outer, settings);
        return;
    }
    VirtualTeam team(*site, region, *crew, threads, outer, settings);
    team.run();
}

// early.c decides, before the program's libraries begin.
const char* reason()
{
    const char* const why = base::own_variable("WS_OPENMP_WHY");
    return why && *why ? why : nullptr;
}
bool was_early()
{
    const char* const own = base::own_variable("WS_OPENMP_OWN");
    return own && *own && *own != '?';
}

__attribute__((constructor)) void begin_sharing()
{
    if (shares_regions()) {
        sharer = run_region;
        loop::host().let_others = [] {
            if (current)
                current->team->set_aside(*current);
            else
                sched_yield();
        };
        // A child has no parked threads: its regions are OpenMP's.
        pthread_atfork(nullptr, nullptr, [] { sharer = nullptr; });
    }
}

} // namespace

bool shares_regions() { return is_share_asked() && was_early() && !reason(); }

const char* why_not_shared()
{
    if (const char* why = why_threads_are_fixed())
        return why;
    if (const char* why = tool::why_not())
        return why;
    if (sharer)
        return nullptr;
    const char* const why = reason();
    return why ? why : "libws was not loaded before the program by mpirun";
}

std::string trusted_and_missing()
{
    const auto is_one = [](dl_phdr_info* info, size_t, void* name) {
        return ws_is_trusted(static_cast<const char*>(name), info->dlpi_name);
    };
    std::string missing;
    const char* names = base::own_variable("WS_OPENMP_TRUST");
    for (size_t length; const char* name = ws_next_name(&names, &length);)
        if (std::string one(name, length); !dl_iterate_phdr(is_one, one.data()))
            missing += (missing.empty() ? "" : ", ") + one;
    return missing;
}

} // namespace ws::openmp
