// SPDX-License-Identifier: MIT
//
// A region run by a team: threads of the program's own that begin it together, as OpenMP's do. Either they share it out among
// themselves as OpenMP would, at OpenMP's cost; or the first of them owns it as any other region and the rest are its guests,
// so that thieves may come too.
#pragma once

#include "loop/participant.h"

namespace ws {

struct alignas(64) Team {
    // What each thread reads: one cache line, so that it costs one to come to the others. Not the site: its owner writes there with
    // each execution.
    void (*fn)(void*);
    void* data;
    ws_site* site;
    uint64_t how; // see below
    LoopBounds bounds;

    long chunk, steal_chunk;
    Allowed allowed; // the second way

    // The kind of the schedule, what follows, and the chunk (0: none given).
    static constexpr uint64_t has_bounds = 1 << 8;   // else they come with the start call
    static constexpr uint64_t last_matters = 1 << 9; // lastprivate
    static constexpr unsigned chunk_shift = 16;
    static constexpr uint64_t max_chunk = ~uint64_t(0) >> chunk_shift; // more is as good as all
    static uint64_t pack(const ws_site* site, long chunk, bool bounds)
    {
        const uint64_t c = chunk > 0 ? uint64_t(chunk) : 0;
        return (c < max_chunk ? c : max_chunk) << chunk_shift | (bounds ? has_bounds : 0) |
               (site->kinds & WS_SITE_ANY_ORDER ? 0 : last_matters) | (site->kinds & 255);
    }
    ws_schedule kind() const { return ws_schedule(how & 255); }
    // In one part for each thread, and none waits for another.
    bool is_split() const { return (how >> chunk_shift | (how & last_matters)) == 0 && kind() != WS_DYNAMIC && kind() != WS_GUIDED; }

    // The first way: the first iteration that no thread has, for dynamic and guided; threads that have asked for a chunk, if
    // somebody is to wait for that.
    alignas(64) volatile Hardware::Word next = 0;
    volatile Hardware::Word begun = 0;
    // The second way: what became of the region. Written by its owner, once.
    enum : Flag { unknown, published, over };
    volatile Flag state = unknown;
    unsigned owner_slot = 0;
    uint64_t iterations = 0; // where they come with the start call written there, by the first thread
};

// A thread's part.
struct Member {
    Team* team;
    unsigned number, threads; // which of how many
    LoopBounds bounds;
    uint64_t turns;  // chunks of its own that it has had: static
    bool first;      // has not asked for a chunk yet
    bool took_last;
};

// That of an owner.
unsigned slot_of(const Participant& p);

// Runs the team's region by the calling thread as thread `number` of `threads`; returns when it has no more to do in it. The
// first way, and the second.
void share_out(Team& team, unsigned number, unsigned threads);
void run_with_guests(Team& team, unsigned number, unsigned threads);

// Whether this execution should be open to guests: thieves have been seen to wait. These two only where the calling thread owns
// regions and is in none.
bool team_wants_guests(ws_site* site);
// A team has run a region from `opened_at` on, without guests.
void remember_team(const Team& team, unsigned threads, uint64_t opened_at);

// Of regions that were short a moment ago only one in measure_every is measured; the countdown to it lies below 0. This execution is
// none of those that are: it is counted; then its iterations by count_team().
inline bool team_is_short(ws_site* site)
{
    Learned& l = learned(site);
    const int64_t left = peek(l.countdown);
    if (left >= 0)
        return false;
    LoopRow* const row = peek(l.row); // there is one since the last measurement
    if (WS_UNLIKELY(!row)) // another thread's
        return false;
    poke(l.countdown, left + 1);
    bump(row->whole_regions);
    return true;
}
inline void count_team(const Team& team) { bump(row_of(team.site).whole_iterations, team.iterations); }

} // namespace ws
