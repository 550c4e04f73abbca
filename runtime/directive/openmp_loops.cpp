// SPDX-License-Identifier: MIT
//
// Loops of OpenMP's that mpicc -fws=openmp has made ours. Where OpenMP has one thread they are loops as any other. Where it has
// several, a parallel region of OpenMP's runs them: by the schedule that is written and at the cost of OpenMP's own, or, where
// thieves are seen to wait, with its threads as guests and room for more.
#include "directive/openmp.h"
#include "directive/openmp_threads.h"
#include "loop/team.h"

using namespace ws;

namespace {

template <void (*run)(Team&, unsigned, unsigned)>
void run_thread(void* argument)
{
    const OpenMP& library = openmp(nullptr);
    run(*static_cast<Team*>(argument), unsigned(library.thread_num()), unsigned(library.num_threads()));
}

// `threads`: 0 for as many as a region gets, or a policy wants.
template <void (*run)(Team&, unsigned, unsigned)>
inline void run_region(const OpenMP& library, Team& team, unsigned threads)
{
    const OpenMPRegion open;
    if (unsigned (*const choose)(unsigned) = threads ? nullptr : openmp_threads; WS_UNLIKELY(choose != nullptr))
        threads = choose(0);
    library.parallel(run_thread<run>, &team, threads, 0);
}

// With guests, who make up the number of threads that the program expects: there is one CPU for those of its own.
void run_alone_with_guests(Team& team)
{
    const int64_t left = peek(learned(team.site).countdown); // of team_wants_guests()
    const LoopBounds& b = team.bounds;
    if (team.how & Team::has_bounds)
        ws_parallel_loop(team.fn, team.data, long(b.start), long(b.end), long(b.incr), team.site, team.chunk, team.steal_chunk);
    else
        ws_parallel(team.fn, team.data, team.site, team.chunk, team.steal_chunk);
    poke(learned(team.site).countdown, left);
}

// False: by its own threads alone.
bool run_shared(const OpenMP& library, Team& team)
{
    const unsigned threads = unsigned(library.max_threads());
    team.allowed = loop_host.allow(team.site, threads, true);
    const unsigned own = own_threads_beside_guests(library, team.allowed);
    if (own >= team.allowed.participants) {
        remember_kept(team.site, team.allowed.why);
        return false;
    }
    if (own == 1) {
        run_alone_with_guests(team);
        return true;
    }
    team.owner_slot = slot_of(self);
    run_region<run_with_guests>(library, team, team.allowed.participants == Allowed::all ? 0 : own);
    return true;
}

__attribute__((noinline)) void run_team_observed(const OpenMP& library, Team& team)
{
    if (team_wants_guests(team.site) && run_shared(library, team))
        return;
    const uint64_t opened_at = ticks();
    run_region<share_out>(library, team, 0);
    remember_team(team, unsigned(library.max_threads()), opened_at);
}

inline void run_team(const OpenMP& library, Team& team)
{
    const Participant& p = self;
    check_site(team.site, team.chunk, team.steal_chunk);
    // Not in a region of the program's own: there it has one thread, or is nested.
    if (!p.owner || p.in_region || !loop_host.row)
        run_region<share_out>(library, team, 0);
    else if (team_is_short(team.site)) {
        run_region<share_out>(library, team, 0);
        count_team(team);
    } else if (library.in_parallel())
        run_region<share_out>(library, team, 0);
    else
        run_team_observed(library, team);
}

// A loop within one of ours is run by the thread that comes to it, but for one in a team's: OpenMP knows those threads.
inline bool has_team(const Participant& p, const OpenMP& library)
{
    return WS_UNLIKELY(library.max_threads() > 1) && (!p.in_region || p.member);
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

WS_EXPORT void ws_openmp_loop(void (*fn)(void*), void* data, long start, long end, long incr, ws_site* site,
                              long chunk, long steal_chunk)
{
    const OpenMP& library = openmp(__builtin_return_address(0));
    Participant& p = self;
    if (!has_team(p, library)) {
        const auto run = [&] { ws_parallel_loop(fn, data, start, end, incr, site, chunk, steal_chunk); };
        if (WS_UNLIKELY(p.numbers != 0))
            run_inside(p, run);
        else
            run();
        return;
    }
    const LoopBounds bounds = {uint64_t(start), uint64_t(incr), uint64_t(end), count_signed(start, end, incr)};
    Team team = {fn, data, site, Team::pack(site, chunk, true), bounds, chunk, steal_chunk, {}};
    team.iterations = bounds.iterations;
    run_team(library, team);
}

WS_EXPORT void ws_openmp(void (*fn)(void*), void* data, ws_site* site, long chunk, long steal_chunk)
{
    const OpenMP& library = openmp(__builtin_return_address(0));
    Participant& p = self;
    if (!has_team(p, library)) {
        const auto run = [&] { ws_parallel(fn, data, site, chunk, steal_chunk); };
        if (WS_UNLIKELY(p.numbers != 0))
            run_inside(p, run);
        else
            run();
        return;
    }
    Team team = {fn, data, site, Team::pack(site, chunk, false), {}, chunk, steal_chunk, {}};
    run_team(library, team);
}
