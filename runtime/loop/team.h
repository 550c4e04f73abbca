// SPDX-License-Identifier: MIT
//
// A region run by a team: threads of the program's own that begin it together, as OpenMP's do. They share it out among
// themselves as OpenMP would, at OpenMP's cost (Team). Or thread 0 owns it as any other region and the others are its
// guests, so that thieves may come too (OwnThreads).
#pragma once

#include "loop/participant.h"
#include "base/atomics.h"

namespace ws::loop {

struct alignas(64) Team {
    // What each thread reads: one cache line. It is written only where a value changes, as each change costs the other
    // threads a cache miss: so a loop's Team is kept, with data that mostly lie where they lay before. The site is no
    // part of it: its owner writes there with each execution.
    void (*fn)(void*);
    void* data;
    ws_site* site;
    uint64_t how; // see below
    LoopBounds bounds;

    // What the thread that comes to the loop says of it.
    long chunk, steal_chunk;
    uint64_t iterations = 0; // where the start call brings the bounds, the first thread writes it then

    // The kind of the schedule, what follows, and the chunk (0: none given).
    static constexpr uint64_t has_bounds = 1 << 8;   // otherwise the start call brings them
    static constexpr uint64_t last_matters = 1 << 9; // lastprivate
    static constexpr uint64_t split = 1 << 10;       // one part for each thread, and no thread waits for another
    static constexpr unsigned chunk_shift = 16;
    static constexpr uint64_t max_chunk = ~uint64_t(0) >> chunk_shift; // a larger chunk has all iterations, too
    static uint64_t pack(const ws_site* site, long chunk, bool bounds)
    {
        const uint64_t c = chunk > 0 ? uint64_t(chunk) : 0, kind = site->kinds & 255;
        const bool any_order = site->kinds & WS_SITE_ANY_ORDER;
        return (c < max_chunk ? c : max_chunk) << chunk_shift | (bounds ? has_bounds : 0) |
               (any_order ? 0 : last_matters) | kind |
               (c == 0 && any_order && kind != WS_DYNAMIC && kind != WS_GUIDED ? split : 0);
    }
    ws_schedule kind() const { return ws_schedule(how & 255); }
    bool is_split() const { return how & split; }

    // Dynamic and guided: the first iteration that no thread has taken. And how many threads have asked for a chunk,
    // where somebody must wait for that.
    alignas(64) volatile Hardware::Word next = 0;
    volatile Hardware::Word begun = 0;
};

// The team of a loop that was first run by a team of the thread with Participant `thread`.
struct TeamRecord {
    Team team;
    const Participant* thread;

    // For its next execution; where the bounds come with the call, they too.
    Team& renew(void (*fn)(void*), void* data, long chunk, long steal_chunk);
    Team& renew(void (*fn)(void*), void* data, long chunk, long steal_chunk, const LoopBounds& bounds);
};
// Null if there is none, or no memory for one.
inline TeamRecord* find_team(ws_site* site)
{
    SiteRecord* const r = base::load_acquire(learned(site).record); // pairs with record_of()
    return r ? base::load_acquire(r->team) : nullptr; // and make_team()
}
TeamRecord* make_team(const Team& team, const Participant* thread);

template <class Field> inline void set_if_changed(Field& field, Field value)
{
    if (WS_UNLIKELY(field != value))
        field = value;
}

inline Team& TeamRecord::renew(void (*fn)(void*), void* data, long chunk, long steal_chunk)
{
    set_if_changed(team.fn, fn);
    set_if_changed(team.data, data);
    if (WS_UNLIKELY(team.chunk != chunk || team.steal_chunk != steal_chunk)) {
        check_site(team.site, chunk, steal_chunk);
        team.chunk = chunk;
        team.steal_chunk = steal_chunk;
        team.how = Team::pack(team.site, chunk, team.how & Team::has_bounds);
    }
    if (!team.is_split()) {
        team.next = 0;
        team.begun = 0;
    }
    return team;
}

inline Team& TeamRecord::renew(void (*fn)(void*), void* data, long chunk, long steal_chunk, const LoopBounds& bounds)
{
    set_if_changed(team.bounds.start, bounds.start);
    set_if_changed(team.bounds.incr, bounds.incr);
    set_if_changed(team.bounds.end, bounds.end);
    set_if_changed(team.bounds.iterations, bounds.iterations);
    team.iterations = bounds.iterations;
    return renew(fn, data, chunk, steal_chunk);
}

// A thread's part.
struct Member {
    Team* team;
    unsigned number, threads; // which of how many
    LoopBounds bounds;
    uint64_t turns;  // static: chunks of its own that it has had
    bool first;      // has not asked for a chunk yet
    bool took_last;
};

// The calling thread runs its part of the team's region, as thread `number` of `threads`, and returns when it has
// nothing more to do in it.
void share_out(Team& team, unsigned number, unsigned threads);

// A region of `count` iterations that the rank's own threads run with guests. Made by thread 0, which owns the region.
class alignas(64) OwnThreads {
public:
    OwnThreads(void (*fn)(void*), void* data, ws_site* site, uint64_t count);
    // Each thread's part, as share_out().
    void run(unsigned number, unsigned threads);

private:
    void own(unsigned threads);
    void help();

    void (*const fn_)(void*);
    void* const data_;
    ws_site* const site_;
    const uint64_t count_;
    const unsigned slot_; // the owner's
    // What became of the region. Written by its owner, once.
    enum : Flag { unknown, published, over };
    volatile Flag state_ = unknown;
};

// Returns the part of thread `number` of `threads`, if n iterations are cut into one part per thread.
inline Chunk part_of(uint64_t n, unsigned number, unsigned threads)
{
    // A division of 32-bit numbers takes half the time or less.
    const uint64_t each = WS_LIKELY(n >> 32 == 0) ? uint32_t(n) / threads : n / threads, rest = n - each * threads;
    const uint64_t from = number * each + (number < rest ? number : rest);
    return {from, from + each + (number < rest)};
}

// This thread has its one chunk, as the owner of a short region has.
inline void take_part(Participant& p, const LoopBounds& b)
{
    const Chunk part = part_of(b.iterations, p.member->number, p.member->threads);
    p.mode = part.lo != part.hi ? Mode::whole : Mode::done;
    p.lo = b.start + part.lo * b.incr;
    p.hi = part.hi == b.iterations ? b.end : b.start + part.hi * b.incr;
}


// The bounds of a team's region are known now. False: the region is not this team's.
inline bool start_in_team(Participant& p, const LoopBounds& b)
{
    if (WS_UNLIKELY(p.mode != Mode::team))
        return p.mode == Mode::shuffled; // then the bounds are known; otherwise it is a region inside one of the team's
    Member& m = *p.member;
    if (m.number == 0)
        m.team->iterations = b.iterations;
    if (WS_LIKELY(m.team->is_split()))
        take_part(p, b);
    else
        m.bounds = b;
    return true;
}

// A team has run a region from `opened_at` on. This and the next only where the calling thread owns regions and is in
// none.
void remember_team(const Team& team, unsigned threads, uint64_t opened_at);

// If regions were short a moment ago, only one in measure_every is measured; the countdown to that one is below 0. For
// an execution that is not measured: counts it. Its iterations are then counted by count_team().
inline bool team_is_short(ws_site* site)
{
    Learned& l = learned(site);
    const int32_t left = peek(l.countdown);
    if (left >= 0)
        return false;
    observe::LoopRow* const row = peek(l.row); // there is one since the last measurement
    if (WS_UNLIKELY(!row)) // another thread's measurement: its row is not made yet
        return false;
    poke(l.countdown, left + 1);
    observe::bump(row->whole_executions);
    return true;
}
inline void count_team(const Team& team) { observe::bump(row_of(team.site).whole_iterations, team.iterations); }

} // namespace ws::loop
