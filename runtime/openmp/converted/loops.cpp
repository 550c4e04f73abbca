// SPDX-License-Identifier: MIT
//
// Loops of OpenMP's that mpicc -fws=openmp has made ours. With -workshare-openmp=share they are shared as the parallel
// regions that they were: a program that was told it has one thread may rely on that, whatever compiled it. Otherwise
// they are OpenMP's: a region of OpenMP's runs them, by the schedule that is written.
#include "openmp/library/regions.h"
#include "openmp/library/threads.h"
#include "openmp/tool/tool.h"
#include "loop/team.h"

using ws::openmp::CountedRegion;
using ws::openmp::OpenMP;
using ws::openmp::RegionMember;
using ws::openmp::RegionOnCores;
using ws::openmp::ThreadSettings;
using ws::openmp::openmp;
using ws::openmp::region_cores;
using ws::openmp::thread_settings;
using ws::loop::LoopBounds;
using ws::loop::OwnThreads;
using ws::loop::Participant;
using ws::loop::Team;
using ws::loop::TeamRecord;
using ws::loop::check_site;
using ws::loop::count_signed;
using ws::loop::count_team;
using ws::loop::find_team;
using ws::loop::host;
using ws::loop::make_team;
using ws::loop::remember_team;
using ws::loop::self;
using ws::loop::share_out;
using ws::loop::team_is_short;
using ws::base::ticks;
namespace tool = ws::openmp::tool;

namespace {

void run_thread(void* argument)
{
    Team& team = *static_cast<Team*>(argument);
    __builtin_prefetch(team.data);
    const OpenMP& library = openmp(nullptr);
    share_out(team, unsigned(library.thread_num()), unsigned(library.num_threads()));
}

__attribute__((noinline)) void run_on_cores(const OpenMP& library, Team& team)
{
    const RegionOnCores region(0, team.site);
    const CountedRegion open;
    RegionMember member = {nullptr, run_thread, &team, &region};
    if (region.is_chosen())
        library.parallel(RegionMember::run, &member, region.threads, 0);
    else
        library.parallel(run_thread, &team, 0, 0);
}

// By as many threads as a region gets, or a policy wants.
inline void run_region(const OpenMP& library, Team& team)
{
    if (WS_UNLIKELY(region_cores != nullptr)) {
        run_on_cores(library, team);
        return;
    }
    const CountedRegion open;
    library.parallel(run_thread, &team, 0, 0);
}

// By the rank's own threads. The first one to run the loop keeps its team.
inline void run_own(const OpenMP& library, Team& team, bool is_kept)
{
    run_region(library, team);
    if (WS_UNLIKELY(!is_kept && !find_team(team.site)) && !library.in_parallel())
        make_team(team, &self);
}

// ---- shared, as any other parallel region (runtime/openmp/)

class SharedLoop final : public ws::openmp::RegionCall {
public:
    explicit SharedLoop(Team& team) : RegionCall(run, &team, 0, team.site) {}
    void open(Body fn, void* data, unsigned threads) override { openmp(nullptr).parallel(fn, data, threads, 0); }
    const void* caller() const override { return code_of(*static_cast<Team*>(data)); }

private:
    // Returns what a tool takes for the loop's place in the program: its function, because the call is not known here.
    static const void* code_of(const Team& team) { return reinterpret_cast<const void*>(team.fn); }
    // By each virtual thread; or, where it is left to OpenMP, by each of OpenMP's.
    static void run(void* argument)
    {
        Team& team = *static_cast<Team*>(argument);
        const bool inside = self.in_region;
        if (const ThreadSettings* const own = thread_settings) {
            if (WS_UNLIKELY(tool::watches))
                tool::begin_work(ws::openmp::ompt::work_loop, team.iterations, code_of(team));
            share_out(team, own->number, own->size);
            if (WS_UNLIKELY(tool::watches))
                tool::end_work(code_of(team));
        } else
            run_thread(argument);
        self.in_region = inside;
    }
};

void run_as_region(Team& team)
{
    SharedLoop region(team);
    ws::openmp::sharer(region);
}

// `is_kept`: the team is that of the calling thread's record.
void run_team(const OpenMP& library, Team& team, bool is_kept, unsigned threads)
{
    const Participant& p = self;
    // Not in a region of the program's own: there it has one thread, or is nested.
    if (p.in_region)
        run_region(library, team);
    else if (!p.owner || !host().row)
        run_own(library, team, is_kept);
    else if (team_is_short(team.site)) {
        run_own(library, team, is_kept);
        count_team(team);
    } else if (library.in_parallel())
        run_region(library, team);
    else {
        const uint64_t opened_at = ticks();
        run_own(library, team, is_kept);
        remember_team(team, threads, opened_at);
    }
}

// The loop's record, if it is the calling thread's and not in use.
inline TeamRecord* own_record(const Participant& p, ws_site* site)
{
    TeamRecord* const record = p.in_region ? nullptr : find_team(site);
    return record && record->thread == &p ? record : nullptr;
}

// A loop within one of ours is run by the thread that comes to it, except one in a team's: OpenMP knows those threads.
inline bool has_team(const Participant& p, unsigned threads)
{
    return WS_UNLIKELY(threads > 1) && (!p.in_region || p.member);
}

// In a virtual thread: the loop is a region of its own, of one thread.
template <class Run> __attribute__((noinline, cold)) void run_inside(Run&& run)
{
    ThreadSettings* const outer = thread_settings;
    thread_settings = nullptr;
    run();
    thread_settings = outer;
}

} // namespace

void ws::openmp::run_by_own_threads(void (*fn)(void*), void* data, unsigned count, ws_site* site)
{
    Participant& p = self;
    if (WS_UNLIKELY(!p.owner || p.in_region) && !ws::loop::become_owner(p, ws::loop::own_frame())) {
        ws_parallel_loop(fn, data, 0, long(count), 1, site, 0, 0);
        return;
    }
    OwnThreads region(fn, data, site, count);
    const CountedRegion open;
    if (WS_UNLIKELY(tool::watches))
        tool::hide_next_region();
    openmp(nullptr).parallel(
        [](void* argument) {
            const OpenMP& library = openmp(nullptr);
            static_cast<OwnThreads*>(argument)->run(unsigned(library.thread_num()), unsigned(library.num_threads()));
        },
        &region, own_threads(), 0);
}

WS_EXPORT void ws_openmp_loop(void (*fn)(void*), void* data, long start, long end, long incr, ws_site* site,
                              long chunk, long steal_chunk)
{
    const OpenMP& library = openmp(__builtin_return_address(0));
    Participant& p = self;
    const unsigned threads = unsigned(library.max_threads());
    if (ws::openmp::sharer && !p.in_region) {
        check_site(site, chunk, steal_chunk);
        Team team = {fn,
                     data,
                     site,
                     Team::pack(site, chunk, true),
                     {uint64_t(start), uint64_t(incr), uint64_t(end), count_signed(start, end, incr)},
                     chunk,
                     steal_chunk};
        team.iterations = team.bounds.iterations;
        run_as_region(team);
        return;
    }
    if (!has_team(p, threads)) {
        const auto run = [&] { ws_parallel_loop_if(0, fn, data, start, end, incr, site, chunk, steal_chunk); };
        if (WS_UNLIKELY(thread_settings != nullptr))
            run_inside(run);
        else
            run();
        return;
    }
    const LoopBounds bounds = {uint64_t(start), uint64_t(incr), uint64_t(end), count_signed(start, end, incr)};
    if (TeamRecord* const record = own_record(p, site))
        run_team(library, record->renew(fn, data, chunk, steal_chunk, bounds), true, threads);
    else {
        check_site(site, chunk, steal_chunk);
        Team team = {fn, data, site, Team::pack(site, chunk, true), bounds, chunk, steal_chunk};
        team.iterations = bounds.iterations;
        run_team(library, team, false, threads);
    }
}

WS_EXPORT void ws_openmp(void (*fn)(void*), void* data, ws_site* site, long chunk, long steal_chunk)
{
    const OpenMP& library = openmp(__builtin_return_address(0));
    Participant& p = self;
    const unsigned threads = unsigned(library.max_threads());
    if (ws::openmp::sharer && !p.in_region) {
        check_site(site, chunk, steal_chunk);
        Team team = {fn, data, site, Team::pack(site, chunk, false), {}, chunk, steal_chunk};
        run_as_region(team);
        return;
    }
    if (!has_team(p, threads)) {
        const auto run = [&] { ws_parallel_if(0, fn, data, site, chunk, steal_chunk); };
        if (WS_UNLIKELY(thread_settings != nullptr))
            run_inside(run);
        else
            run();
        return;
    }
    if (TeamRecord* const record = own_record(p, site))
        run_team(library, record->renew(fn, data, chunk, steal_chunk), true, threads);
    else {
        check_site(site, chunk, steal_chunk);
        Team team = {fn, data, site, Team::pack(site, chunk, false), {}, chunk, steal_chunk};
        run_team(library, team, false, threads);
    }
}
