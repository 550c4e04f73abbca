// SPDX-License-Identifier: MIT
//
// Loops of OpenMP's that mpicc -fws=openmp has made ours. With -workshare-openmp=share they are shared as the parallel
// regions that they were: a program that was told it has one thread may rely on that, whoever compiled it. Else they
// are OpenMP's: a region of its own runs them, by the schedule that is written; loops that take less than it costs to
// open one are run by the thread that comes to them, if nobody can tell.
#include "directive/openmp.h"
#include "directive/openmp_threads.h"
#include "loop/team.h"

using ws::directive::ChosenRegion;
using ws::directive::OpenMP;
using ws::directive::OpenMPRegion;
using ws::directive::allow_openmp;
using ws::directive::openmp;
using ws::directive::openmp_chooser;
using ws::loop::Allowed;
using ws::loop::LoopBounds;
using ws::loop::Participant;
using ws::loop::Solo;
using ws::loop::Team;
using ws::loop::TeamRecord;
using ws::loop::check_site;
using ws::loop::count_signed;
using ws::loop::count_team;
using ws::loop::find_team;
using ws::loop::is_played;
using ws::loop::learned;
using ws::loop::host;
using ws::loop::make_team;
using ws::loop::peek;
using ws::loop::play;
using ws::loop::remember_team;
using ws::loop::self;
using ws::loop::share_out;
using ws::loop::share_out_measured;
using ws::loop::slot_of;
using ws::loop::team_is_short;
using ws::observe::Kept;
using ws::observe::LoopRow;
using ws::observe::bump;
using ws::window::ticks;

namespace {

template <auto run>
void run_thread(void* argument)
{
    Team& team = *static_cast<Team*>(argument);
    __builtin_prefetch(team.data);
    const OpenMP& library = openmp(nullptr);
    run(team, unsigned(library.thread_num()), unsigned(library.num_threads()));
}

// Of a region that a policy has chosen threads for.
struct ChosenTeam {
    Team* team;
    const ChosenRegion* region;
};
template <auto run>
void run_chosen_thread(void* argument)
{
    const ChosenTeam chosen = *static_cast<ChosenTeam*>(argument);
    chosen.region->member(unsigned(openmp(nullptr).thread_num()));
    run_thread<run>(chosen.team);
}
template <auto run>
__attribute__((noinline)) void run_chosen(const OpenMP& library, Team& team)
{
    const ChosenRegion region(0, team.site);
    const OpenMPRegion open;
    ChosenTeam chosen = {&team, &region};
    if (region.is_chosen())
        library.parallel(run_chosen_thread<run>, &chosen, region.threads, 0);
    else
        library.parallel(run_thread<run>, &team, 0, 0);
}

// `threads`: 0 for as many as a region gets, or a policy wants.
template <auto run>
inline void run_region(const OpenMP& library, Team& team, unsigned threads)
{
    if (WS_UNLIKELY(openmp_chooser != nullptr) && threads == 0) {
        run_chosen<run>(library, team);
        return;
    }
    const OpenMPRegion open;
    library.parallel(run_thread<run>, &team, threads, 0);
}

// ---- by one thread

// Whether nobody can tell that one thread plays a team. What is asked for it answers.
bool can_be_played(const Team& team, Solo& solo, unsigned threads)
{
    const Allowed allowed = allow_openmp(team.site, threads, true);
    solo.numbered = allowed.numbered;
    return !(team.how & Team::last_matters) && allowed.why != Kept::own_variables && allowed.why != Kept::unanswered;
}

__attribute__((noinline, cold)) void run_measured(const OpenMP& library, Team& team, TeamRecord* record,
                                                  unsigned threads)
{
    const uint64_t began = ticks();
    run_region<share_out_measured>(library, team, 0);
    const uint64_t took = ticks() - began;
    if (library.in_parallel() || !(record || (record = make_team(team, &self))))
        return;
    Solo& solo = record->solo;
    solo.latest = team.iterations;
    solo.team_took(team.iterations, took, team.own_iterations, team.own_ticks, team.threads, threads);
    if (solo.most() && !can_be_played(team, solo, threads))
        solo.forbid();
}

// By the rank's own threads, without guests; `threads` would be there.
inline void run_own(const OpenMP& library, Team& team, TeamRecord* record, unsigned threads)
{
    if (WS_UNLIKELY(record ? record->solo.wants_measure(threads) : !find_team(team.site))) {
        run_measured(library, team, record, threads);
        return;
    }
    run_region<share_out>(library, team, 0);
    if (record)
        record->solo.latest = team.iterations;
}

void open_for_all(Team& team) { run_region<share_out>(openmp(nullptr), team, 0); }

void run_solo(const OpenMP& library, Team& team, Solo& solo)
{
    team.most = solo.most();
    team.open = open_for_all;
    const uint64_t began = ticks();
    play(team, solo.threads(), solo.numbered ? library.level() : -1);
    if (team.iterations)
        solo.latest = team.iterations;
    if (WS_LIKELY(team.open && team.iterations))
        solo.alone_took(team.iterations, ticks() - began);
    team.open = nullptr;
    team.most = ~uint64_t(0);
    if (LoopRow* const row = peek(learned(team.site).row)) {
        bump(row->whole_regions);
        bump(row->whole_iterations, team.iterations);
    }
}

// ---- shared, as any other parallel region (runtime/openmp/)

class SharedLoop final : public ws::directive::RegionCall {
public:
    explicit SharedLoop(Team& team) : RegionCall(run, &team, 0, team.site) {}
    void open(Body fn, void* data, unsigned threads) override { openmp(nullptr).parallel(fn, data, threads, 0); }

private:
    // By each virtual thread; or, where it is left to OpenMP, by each of OpenMP's.
    static void run(void* argument)
    {
        Team& team = *static_cast<Team*>(argument);
        const bool inside = self.in_region;
        if (const ws::directive::ThreadSettings* const own = ws::directive::thread_settings)
            share_out(team, own->number, own->size);
        else
            run_thread<share_out>(argument);
        self.in_region = inside;
    }
};

void run_as_region(Team& team)
{
    SharedLoop region(team);
    ws::directive::openmp_sharer(region);
}

// `record`: the calling thread's, which is in no region; null where there is none.
void run_team(const OpenMP& library, Team& team, TeamRecord* record, unsigned threads)
{
    const Participant& p = self;
    if (record && record->solo.takes(record->solo.latest, threads) && !host().share_all && !openmp_chooser &&
        !library.in_parallel())
        run_solo(library, team, record->solo);
    // Not in a region of the program's own: there it has one thread, or is nested.
    else if (p.in_region)
        run_region<share_out>(library, team, 0);
    else if (!p.owner || !host().row)
        run_own(library, team, record, threads);
    else if (team_is_short(team.site)) {
        run_own(library, team, record, threads);
        count_team(team);
    } else if (library.in_parallel())
        run_region<share_out>(library, team, 0);
    else {
        const uint64_t opened_at = ticks();
        run_own(library, team, record, threads);
        remember_team(team, threads, opened_at);
    }
}

// The loop's record, if it is the calling thread's and not in use.
inline TeamRecord* own_record(const Participant& p, ws_site* site)
{
    TeamRecord* const record = p.in_region ? nullptr : find_team(site);
    return record && record->thread == &p ? record : nullptr;
}

// A loop within one of ours is run by the thread that comes to it, but for one in a team's: OpenMP knows those threads.
inline bool has_team(const Participant& p, unsigned threads)
{
    return WS_UNLIKELY(threads > 1) && (!p.in_region || (p.member && !is_played(*p.member)));
}

// In a loop whose participants are told apart: this one is a region of its own, of one thread.
template <class Run> __attribute__((noinline, cold)) void run_inside(Participant& p, Run&& run)
{
    const unsigned numbers = p.numbers;
    p.numbers = 0;
    run();
    p.numbers = numbers;
}

} // namespace

void ws::directive::run_by_own_threads(void (*fn)(void*), void* data, unsigned count, ws_site* site)
{
    Participant& p = self;
    if (WS_UNLIKELY(!p.owner || p.in_region) && !ws::loop::become_owner(p, ws::loop::own_frame())) {
        ws_parallel_loop(fn, data, 0, long(count), 1, site, 0, 0);
        return;
    }
    Team team = {fn, data, site, Team::pack(site, 0, true), {0, 1, count, count}, 0, 0, {}};
    team.iterations = count;
    team.state = Team::unknown;
    team.owner_slot = slot_of(p);
    const OpenMPRegion open;
    openmp(nullptr).parallel(run_thread<ws::loop::run_with_guests>, &team, openmp_own(), 0);
}

WS_EXPORT void ws_openmp_loop(void (*fn)(void*), void* data, long start, long end, long incr, ws_site* site,
                              long chunk, long steal_chunk)
{
    const OpenMP& library = openmp(__builtin_return_address(0));
    Participant& p = self;
    const unsigned threads = unsigned(library.max_threads());
    if (ws::directive::openmp_sharer && !p.in_region) {
        check_site(site, chunk, steal_chunk);
        Team team = {fn,
                     data,
                     site,
                     Team::pack(site, chunk, true),
                     {uint64_t(start), uint64_t(incr), uint64_t(end), count_signed(start, end, incr)},
                     chunk,
                     steal_chunk,
                     {}};
        team.iterations = team.bounds.iterations;
        run_as_region(team);
        return;
    }
    if (!has_team(p, threads)) {
        const auto run = [&] { ws_parallel_loop_if(0, fn, data, start, end, incr, site, chunk, steal_chunk); };
        if (WS_UNLIKELY(p.numbers != 0))
            run_inside(p, run);
        else
            run();
        return;
    }
    const LoopBounds bounds = {uint64_t(start), uint64_t(incr), uint64_t(end), count_signed(start, end, incr)};
    if (TeamRecord* const record = own_record(p, site))
        run_team(library, record->renew(fn, data, chunk, steal_chunk, bounds), record, threads);
    else {
        check_site(site, chunk, steal_chunk);
        Team team = {fn, data, site, Team::pack(site, chunk, true), bounds, chunk, steal_chunk, {}};
        team.iterations = bounds.iterations;
        run_team(library, team, nullptr, threads);
    }
}

WS_EXPORT void ws_openmp(void (*fn)(void*), void* data, ws_site* site, long chunk, long steal_chunk)
{
    const OpenMP& library = openmp(__builtin_return_address(0));
    Participant& p = self;
    const unsigned threads = unsigned(library.max_threads());
    if (ws::directive::openmp_sharer && !p.in_region) {
        check_site(site, chunk, steal_chunk);
        Team team = {fn, data, site, Team::pack(site, chunk, false), {}, chunk, steal_chunk, {}};
        run_as_region(team);
        return;
    }
    if (!has_team(p, threads)) {
        const auto run = [&] { ws_parallel_if(0, fn, data, site, chunk, steal_chunk); };
        if (WS_UNLIKELY(p.numbers != 0))
            run_inside(p, run);
        else
            run();
        return;
    }
    if (TeamRecord* const record = own_record(p, site))
        run_team(library, record->renew(fn, data, chunk, steal_chunk), record, threads);
    else {
        check_site(site, chunk, steal_chunk);
        Team team = {fn, data, site, Team::pack(site, chunk, false), {}, chunk, steal_chunk, {}};
        run_team(library, team, nullptr, threads);
    }
}
