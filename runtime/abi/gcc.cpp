// SPDX-License-Identifier: MIT
//
// The entry points of abi/abi.h, as the GCC plugin's lowering calls them.
#include "abi/abi.h"
#include "abi/forked.h"
#include "abi/steps.h"
#include "loop/participant.h"
#include "loop/team.h"
#include "base/spin_lock.h"

#include <cstdio>
#include <cstdlib>

using namespace ws::abi;
using ws::loop::Ending;
using ws::loop::LoopBounds;
using ws::loop::Mode;
using ws::loop::Participant;
using ws::loop::alone;
using ws::loop::become_owner;
using ws::loop::check_site;
using ws::loop::close_region;
using ws::loop::count_signed;
using ws::loop::count_unsigned;
using ws::loop::next_chunk;
using ws::loop::open_region;
using ws::loop::open_whole;
using ws::loop::own_frame;
using ws::loop::run_plain;
using ws::loop::run_unshared;
using ws::loop::self;
using ws::loop::set_ws_alone;
using ws::loop::start_in_team;
using ws::base::Hardware;
using ws::base::SpinLock;

namespace {

// Opens the region for the owner and leaves the participant ready for its first chunk.
inline void open(Participant& p, void (*fn)(void*), void* data, const LoopBounds& b, ws_site* site, long chunk,
                 long steal_chunk)
{
    if (WS_LIKELY(open_whole(p, site, b.iterations, chunk, steal_chunk))) {
        p.mode = Mode::whole;
        p.lo = b.start;
        p.hi = b.iterations ? b.end : b.start;
        set_ws_alone(alone());
    } else
        open_region(p, fn, data, b, site, chunk, steal_chunk);
}

// The owner has run the body.
inline void end_body(Participant& p, ws_site* site)
{
    p.site = nullptr;
    set_ws_alone(false);
    p.mode = Mode::done;
    p.in_region = false;
    if (WS_UNLIKELY(p.ending != Ending::nothing))
        close_region(p, site);
}

inline void run_owner(Participant& p, void (*fn)(void*), void* data, ws_site* site)
{
    p.in_region = true;
    p.frame = own_frame();
    fn(data);
    end_body(p, site);
}

// The first call of an uncombined region's body: the owner's opens, a guest's joins, anyone else gets everything.
inline bool start(const LoopBounds& b, long* lo, long* hi)
{
    Participant& p = self;
    if (WS_LIKELY(p.mode == Mode::pending))
        open(p, p.fn, p.data, b, p.site, p.chunk, p.steal_chunk);
    else if (p.mode != Mode::guest && !(p.member && start_in_team(p, b))) {
        p.mode = Mode::whole;
        p.lo = b.start;
        p.hi = b.iterations ? b.end : b.start;
    }
    return next_chunk(lo, hi);
}

// lastprivate compares the variable with the end; simd compares before each iteration.
void check_split(const ws_site* site)
{
    if (WS_LIKELY(site->kinds & WS_SITE_ANY_ORDER))
        return;
    static volatile Hardware::Flag said; // a team's threads all come here
    if (Hardware::fetch_add_full(said, 1) == 0) {
        std::fprintf(
            stderr,
            "workshare: error: %s: the step after the last iteration passes the last value of the loop variable's "
            "type, which a loop "
            "with 'lastprivate' or 'simd' cannot do\n",
            site->where);
        std::exit(1);
    }
    for (;;)
        sched_yield();
}

// The same of a loop that is split. The last iteration comes first, before others can wait for a region to end.
bool start_split(const SplitLoop& split, long* lo, long* hi)
{
    Participant& p = self;
    if (p.mode == Mode::guest)
        return next_chunk(lo, hi);
    check_split(p.site);
    const LoopBounds& rest = split.rest;
    if (p.mode == Mode::pending)
        open(p, p.fn, p.data, rest, p.site, p.chunk, p.steal_chunk);
    else if (p.member && start_in_team(p, rest)) {
        if (p.member->number != 0)
            return next_chunk(lo, hi);
    } else if (rest.iterations) { // all is this thread's, in order
        p.mode = Mode::whole;
        p.lo = split.last;
        p.hi = split.after;
        *lo = long(rest.start);
        *hi = long(rest.end);
        return true;
    } else
        p.mode = Mode::done;
    *lo = long(split.last);
    *hi = long(split.after);
    return true;
}

__attribute__((cold, noinline)) bool start_unless_split(long start, long end, long incr, long* lo, long* hi, long least,
                                                        long most)
{
    SplitLoop split;
    return splits(start, end, incr, least, most, split) ? start_split(split, lo, hi)
                                                        : ws_loop_start(start, end, incr, lo, hi);
}

__attribute__((cold, noinline)) bool start_unless_split_ull(bool up, unsigned long long start, unsigned long long end,
                                                            unsigned long long incr, unsigned long long* lo,
                                                            unsigned long long* hi)
{
    SplitLoop split;
    return splits_ull(up, start, end, incr, split)
               ? start_split(split, reinterpret_cast<long*>(lo), reinterpret_cast<long*>(hi))
               : ws_loop_ull_start(up, start, end, incr, lo, hi);
}

// Merges of one process exclude each other; guests merge when they leave, which is rare and short.
SpinLock merge_lock;

} // namespace

void ws::abi::free_merge_lock() { merge_lock.unlock(); }

WS_EXPORT void ws_too_many_iterations(const char* where)
{
    std::fprintf(
        stderr,
        "workshare: error: %s: the loop has more iterations than the type of its variable has positive values\n",
        where);
    std::exit(1);
}

WS_EXPORT void ws_parallel_loop(void (*fn)(void*), void* data, long start, long end, long incr, ws_site* site,
                                long chunk, long steal_chunk)
{
    Participant& p = self;
    if (WS_UNLIKELY(!p.owner || p.in_region) && !become_owner(p, own_frame())) {
        run_plain(p, fn, data, start, count_signed(start, end, incr) ? end : start, site, chunk, steal_chunk);
        return;
    }
    p.site = site;
    open(p, fn, data, {uint64_t(start), uint64_t(incr), uint64_t(end), count_signed(start, end, incr)}, site, chunk,
         steal_chunk);
    run_owner(p, fn, data, site);
}

WS_EXPORT bool ws_loop_next(long* lo, long* hi) { return next_chunk(lo, hi); }

WS_EXPORT bool ws_plain_begin(ws_site* site, long chunk, long steal_chunk, unsigned long iterations)
{
    Participant& p = self;
    if (WS_UNLIKELY(p.site)) // in another region
        return false;
    if (WS_LIKELY(p.owner)) {
        if (!open_whole(p, site, iterations, chunk, steal_chunk, true))
            return false;
        p.in_region = true;
        p.frame = own_frame() + 1; // loops in the body begin in this very frame
    } else {
        if (WS_UNLIKELY(p.host->board || p.in_region)) // what runs in a job with -workshare is counted
            return false;
        check_site(site, chunk, steal_chunk);
    }
    p.site = site;
    set_ws_alone(alone());
    return true;
}

WS_EXPORT void ws_plain_end(ws_site* site) { end_body(self, site); }

WS_EXPORT void ws_parallel(void (*fn)(void*), void* data, ws_site* site, long chunk, long steal_chunk)
{
    Participant& p = self;
    if (WS_UNLIKELY(!p.owner || p.in_region) && !become_owner(p, own_frame())) {
        run_plain(p, fn, data, 0, 0, site, chunk, steal_chunk); // its start call sets the bounds
        return;
    }
    p.mode = Mode::pending;
    p.fn = fn;
    p.data = data;
    p.site = site;
    p.chunk = chunk;
    p.steal_chunk = steal_chunk;
    run_owner(p, fn, data, site);
}

WS_EXPORT void ws_parallel_loop_if(int share, void (*fn)(void*), void* data, long start, long end, long incr,
                                   ws_site* site, long chunk, long steal_chunk)
{
    Participant& p = self;
    if (share || ((!p.owner || p.in_region) && !become_owner(p, own_frame())))
        ws_parallel_loop(fn, data, start, end, incr, site, chunk, steal_chunk);
    else
        run_unshared(p, fn, data, start, count_signed(start, end, incr) ? end : start, site, chunk, steal_chunk);
}

WS_EXPORT void ws_parallel_if(int share, void (*fn)(void*), void* data, ws_site* site, long chunk, long steal_chunk)
{
    Participant& p = self;
    if (share || ((!p.owner || p.in_region) && !become_owner(p, own_frame())))
        ws_parallel(fn, data, site, chunk, steal_chunk);
    else
        run_unshared(p, fn, data, 0, 0, site, chunk, steal_chunk);
}

WS_EXPORT bool ws_loop_start(long start, long end, long incr, long* lo, long* hi)
{
    return ::start({uint64_t(start), uint64_t(incr), uint64_t(end), count_signed(start, end, incr)}, lo, hi);
}

WS_EXPORT bool ws_loop_ull_start(bool up, unsigned long long start, unsigned long long end, unsigned long long incr,
                                 unsigned long long* lo, unsigned long long* hi)
{
    return ::start({start, incr, end, count_unsigned(up, start, end, incr)}, reinterpret_cast<long*>(lo),
                   reinterpret_cast<long*>(hi));
}

// The arguments stand so that the usual way is a jump.
WS_EXPORT bool ws_loop_start_step(long start, long end, long incr, long* lo, long* hi, long least, long most)
{
    if (WS_UNLIKELY(step_leaves(end, incr, least, most)))
        return start_unless_split(start, end, incr, lo, hi, least, most);
    return ws_loop_start(start, end, incr, lo, hi);
}

WS_EXPORT bool ws_loop_ull_start_step(bool up, unsigned long long start, unsigned long long end,
                                      unsigned long long incr, unsigned long long* lo, unsigned long long* hi)
{
    if (WS_UNLIKELY(step_leaves_ull(up, end, incr)))
        return start_unless_split_ull(up, start, end, incr, lo, hi);
    return ws_loop_ull_start(up, start, end, incr, lo, hi);
}

WS_EXPORT bool ws_loop_ull_next(unsigned long long* lo, unsigned long long* hi)
{
    return next_chunk(reinterpret_cast<long*>(lo), reinterpret_cast<long*>(hi));
}

WS_EXPORT void ws_loop_end(void) {}

WS_EXPORT void ws_reduction_start(void)
{
    Participant& p = self;
    // An owner that never published merges alone. It decides at the start: nothing is published after the last chunk.
    p.merging = !(p.owner && p.in_region) || p.member || p.ending == Ending::published;
    if (p.merging)
        merge_lock.lock();
}

WS_EXPORT void ws_reduction_end(void)
{
    Participant& p = self;
    if (p.merging)
        merge_lock.unlock();
    p.merging = false;
}
