// SPDX-License-Identifier: MIT
//
// The hot path: what happens at each region and each chunk while no thief is there. Inlined into the entry points that
// compiled code calls (abi/gcc.cpp); everything slower is in region.cpp and chunks.cpp.
//
// A region with no thief, known to be short: open_whole + next twice + the end test; no atomic operation.
#pragma once

#include "loop/checks.h"
#include "loop/region.h"
#include "loop/site.h"
#include "base/os.h"

namespace ws::loop {

using base::Flag;

enum class Mode : uint8_t {
    done,    // nothing (more) to hand out
    whole,   // the range [lo, hi) once
    pending, // an uncombined region whose bounds come with its start call
    alone,   // owner, region not published
    shared,  // owner, region published
    guest,   // guest of a published region
    shuffled, // a participant of several that one thread plays: see check/serial_pass.h
    team,    // thread of a team that shares a region out among itself
};

// What the owner has to do after the body.
enum class Ending : uint8_t {
    nothing,
    measure,   // ran whole: take the time
    unshared,  // ran chunk by chunk, never published
    published, // wait for the guests and close
    in_parent, // a child of fork(), which has no part in the region: it cannot go on
};

struct Region; // open_region.h
struct Member; // team.h

// A thread's part in a region.
struct Participant {
    LoopHost* host;  // its rank's
    Mode mode;
    Ending ending;
    bool owner;      // has a slot: may open regions that are shared
    bool in_region;  // runs iterations now
    bool took_last;  // holds the chunk with the last iteration
    bool first;      // guest: has not asked for a chunk yet
    bool merging;    // holds the merge lock
    bool crowded;    // owner, shared: somebody else had joined when it took its chunk
    uint64_t lo, hi; // whole: bounds as the loop variable's values; alone: lo = next unit
    uint64_t opened_at; // whole, measured: ticks
    uint64_t chunks, units; // taken so far (units: a guest's); whole, measured: iterations
    // while recording: the chunk that runs now, iterations counted from 0; ticks
    uint64_t chunk_lo, chunk_hi, chunk_began;
    Chunk claimed;   // guest: the chunk that came with it
    const volatile Flag* recall; // guest
    uint64_t idle_ticks; // in a region of turns: without anything to run
    uint64_t way_home; // guest: does not take work that would last fewer ticks than this; others do it
    Region* region;  // owner: that of its slot; guest: the one it visits
    Member* member;  // null: the region is no team's
    Pace pace;
    // Uncombined region, pending: what ws_parallel was given.
    void (*fn)(void*);
    void* data;
    ws_site* site;
    long chunk, steal_chunk;
    // in a region: of the function that called the body. Stacks grow down: what is called from there lies below
    uintptr_t frame;
};
// One that has done nothing yet.
constexpr Participant participant_of(LoopHost& host)
{
    Participant p{};
    p.host = &host;
    return p;
}
extern __thread Participant self __attribute__((tls_model("initial-exec")));
inline LoopHost& host() { return *self.host; } // of the calling thread's rank

// Whether regions of this process may set ws_alone (abi/abi.h): no other thread of the program's can be in a
// region of its own or at an atomic. See mpi/alone.cpp.
enum class Alone : uint8_t {
    unknown, // MPI is not initialized yet
    never,   // it may have several threads
    always,  // it has one
};
extern Alone may_be_alone;
// Decides, once MPI is initialized: the thread level that the program asked for.
void settle_alone(int thread_level_asked);
bool look_up_alone(); // cold: `unknown`

inline bool alone()
{
    return WS_LIKELY(may_be_alone == Alone::always) || (may_be_alone != Alone::never && look_up_alone());
}
// Writes only if the value changes. In a program with several threads it never does: else all of them would write the
// same cache line.
inline void set_ws_alone(bool now)
{
    if (ws_alone != char(now))
        ws_alone = char(now);
}

// Where the frame of the calling function begins. Unlike __builtin_frame_address it needs no frame pointer.
__attribute__((always_inline)) inline uintptr_t own_frame() { return uintptr_t(__builtin_dwarf_cfa()); }

// Makes the calling thread an owner if it may be one and a slot is free. `frame`: the caller's own_frame().
bool become_owner(Participant& p, uintptr_t frame);

// Rare calls, in region.cpp and chunks.cpp.
struct LoopBounds {
    uint64_t start, incr, end; // the loop variable's values, two's complement
    uint64_t iterations;
};
void open_region(Participant& p, void (*fn)(void*), void* data, const LoopBounds& bounds, ws_site* site, long chunk,
                 long steal_chunk);
void close_region(Participant& p, ws_site* site);

// A region whose iterations are turns of guests, at what the owner puts while it is open; the owner itself takes none.
// It opens only if somebody waits and the loop is to be shared: else false, and nothing has happened.
bool open_turns(Participant& p, void (*fn)(void*), void* data, uint64_t turns, ws_site* site);
// Whether thieves are to come, by the owner or a guest: not while there is nothing to run in a turn.
void offer_turns(const Participant& p, bool offered);
// No guest gets another turn, nor comes.
void take_all_turns(Participant& p);
// After that, once no guest is in the region: closes it.
void close_turns(Participant& p);

bool next_slow(Participant& p, long* lo, long* hi);
bool team_next(Participant& p, long* lo, long* hi);
// Ends the program if the site is of another version, or if a chunk size is no valid one. The test is inlined, because
// GCC takes a function that always calls a cold one for cold itself, and run_plain() is what loops cost without
// -workshare.
[[noreturn]] __attribute__((cold)) void refuse_site(const ws_site* site, long chunk, long steal_chunk);
inline bool is_bad_chunk(const ws_site* site, long chunk, unsigned given)
{
    return chunk < 0 || (chunk == 0 && (site->kinds & given));
}
inline void check_site(const ws_site* site, long chunk, long steal_chunk)
{
    if (WS_UNLIKELY((site->kinds >> 24 & 255) != WS_ABI || is_bad_chunk(site, chunk, WS_SITE_CHUNK) ||
                    is_bad_chunk(site, steal_chunk, WS_SITE_STEAL_CHUNK)))
        refuse_site(site, chunk, steal_chunk);
}
void run_plain(Participant& p, void (*fn)(void*), void* data, long start, long end, ws_site* site, long chunk,
               long steal_chunk);
// Not shared because of its `if` clause, on a thread that could have shared it.
void run_unshared(Participant& p, void (*fn)(void*), void* data, long start, long end, ws_site* site, long chunk,
                  long steal_chunk);

inline bool next_chunk(long* lo, long* hi)
{
    Participant& p = self;
    if (WS_LIKELY(p.mode == Mode::whole)) {
        *lo = long(p.lo);
        *hi = long(p.hi);
        p.mode = Mode::done;
        return p.lo != p.hi;
    }
    if (WS_LIKELY(p.mode == Mode::done))
        return false;
    return next_slow(p, lo, hi);
}

// Nothing can be shared, nor measured; but it is counted.
inline bool is_empty(const Participant& p, ws_site* site, uint64_t iterations)
{
    if (iterations)
        return false;
    observe::bump(row_of(site).whole_executions);
    if (WS_UNLIKELY(p.host->check))
        p.host->checks->note_short(site, 0);
    return true;
}

// Decides whether a region runs whole: when it is known to be short, unless a thief waits and there is enough for two.
// `plain`: in the plain version of its code.
inline bool open_whole(Participant& p, ws_site* site, uint64_t iterations, long chunk, long steal_chunk,
                       bool plain = false)
{
    Learned& l = learned(site);
    const double cost = peek(l.unit_ticks), estimate = double(iterations) * cost;
    if (WS_UNLIKELY(cost == 0 || (chunk | steal_chunk) < 0))
        return is_empty(p, site, iterations);
    if (WS_UNLIKELY(peek(l.unshared) != 0) && estimate < p.host->whole_at_pause()) {
        // It is not to be shared, even if somebody waits: so it need not be cut into chunks, but it is measured.
        may_share(l); // called because it counts down
        poke(l.countdown, int32_t(1));
    } else {
        if (WS_UNLIKELY(estimate >= double(p.host->short_ticks))) {
            if (estimate >= double(p.host->calm_ticks) || peek(l.calm) < calm_enough ||
                (plain && (site->kinds & WS_SITE_OUTLINED)))
                return is_empty(p, site, iterations);
            poke(l.countdown, int32_t(1)); // measured, so that one that has become long is not long without help
        }
        Flag hungry = Hardware::load_relaxed(p.host->row->hunger.hungry); // relaxed: a hint
        if (WS_UNLIKELY(hungry) && estimate > double(p.host->publish_ticks[hungry]))
            return false;
    }
    observe::LoopRow& row = *peek(l.row); // there is one: the cost is known since a region that was opened
    observe::bump(row.whole_executions);
    observe::bump(row.whole_iterations, iterations);
    const int32_t countdown = peek(l.countdown) - 1;
    poke(l.countdown, countdown);
    if (WS_UNLIKELY(countdown <= 0) && iterations) {
        poke(l.countdown, measure_every);
        p.ending = Ending::measure;
        p.units = iterations;
        p.opened_at = base::ticks();
    }
    return true;
}

inline uint64_t count(uint64_t from, uint64_t to, bool some, uint64_t step)
{
    if (!some)
        return 0;
    return WS_LIKELY(step == 1) ? to - from : (to - from - 1) / step + 1; // cannot overflow: to > from
}
inline uint64_t count_signed(long start, long end, long incr)
{
    return WS_LIKELY(incr > 0) ? count(uint64_t(start), uint64_t(end), start < end, uint64_t(incr))
                               : count(uint64_t(end), uint64_t(start), end < start, uint64_t(0) - uint64_t(incr));
}
inline uint64_t count_unsigned(bool up, uint64_t start, uint64_t end, uint64_t incr)
{
    return up ? count(start, end, start < end, incr) : count(end, start, end < start, uint64_t(0) - incr);
}

} // namespace ws::loop
