// SPDX-License-Identifier: MIT
//
// Loops of OpenMP's that mpicc -fws=openmp has made ours. Where OpenMP has one thread they are loops as any other. Where it has
// several, a parallel region of OpenMP's runs them: by the schedule that is written and at the cost of OpenMP's own, or, where
// thieves are seen to wait, with its threads as guests and room for more.
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

__attribute__((noinline)) void run_team(const OpenMP& library, Team& team)
{
    Participant& p = self;
    check_site(team.site, team.chunk, team.steal_chunk);
    // Not in a region of the program's own: there it has one thread, or is nested.
    const bool observed = p.owner && !p.in_region && loop_host.row && !library.in_parallel();
    if (observed && team_wants_guests(team.site) && loop_host.may_share(team.site)) {
        team.owner_slot = slot_of(p);
        openmp_parallel(library, run_thread<run_with_guests>, &team);
        return;
    }
    const uint64_t opened_at = observed ? ticks() : 0;
    openmp_parallel(library, run_thread<share_out>, &team);
    if (observed)
        remember_team(team, unsigned(library.max_threads()), opened_at);
}

// A loop within one of ours is run by the thread that comes to it, but for one in a team's: OpenMP knows those threads.
inline bool has_team(const Participant& p, const OpenMP& library)
{
    return WS_UNLIKELY(library.max_threads() > 1) && (!p.in_region || p.member);
}

} // namespace

WS_EXPORT void ws_openmp_loop(void (*fn)(void*), void* data, long start, long end, long incr, ws_site* site,
                              long chunk, long steal_chunk)
{
    const OpenMP& library = openmp(__builtin_return_address(0));
    if (!has_team(self, library)) {
        ws_parallel_loop(fn, data, start, end, incr, site, chunk, steal_chunk);
        return;
    }
    Team team = {fn, data, site, chunk, {uint64_t(start), uint64_t(incr), uint64_t(end), count_signed(start, end, incr)},
                 steal_chunk, true};
    run_team(library, team);
}

WS_EXPORT void ws_openmp(void (*fn)(void*), void* data, ws_site* site, long chunk, long steal_chunk)
{
    const OpenMP& library = openmp(__builtin_return_address(0));
    if (!has_team(self, library)) {
        ws_parallel(fn, data, site, chunk, steal_chunk);
        return;
    }
    Team team = {fn, data, site, chunk, {}, steal_chunk, false};
    run_team(library, team);
}
