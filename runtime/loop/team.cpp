// SPDX-License-Identifier: MIT
//
// A thread's part in a region that a team runs.
#include "loop/team.h"

#include "loop/open_region.h"
#include "base/atomics.h"

#include <new>

namespace ws::loop {

using base::ticks;

namespace {

// ---- as OpenMP shares it out

// The next chunk of this thread, [from, to), by the schedule of the program, as libgomp and libomp assign it: programs
// may rely on which thread has which iteration of a static loop.
bool take(Member& m, uint64_t& from, uint64_t& to)
{
    Team& t = *m.team;
    const uint64_t n = m.bounds.iterations, given = t.how >> Team::chunk_shift, chunk = given ? given : 1;
    const ws_schedule kind = t.kind();
    if (kind == WS_DYNAMIC || kind == WS_GUIDED) {
        for (;;) {
            from = Hardware::load_relaxed(t.next); // relaxed: only the counter itself is shared
            if (from >= n)
                return false;
            const uint64_t left = n - from, share = kind == WS_GUIDED ? (left - 1) / m.threads + 1 : 1;
            const uint64_t want = share > chunk ? share : chunk;
            to = want < left ? from + want : n;
            if (Hardware::cas_full(t.next, from, to))
                return true;
        }
    }
    if (given) { // one chunk in as many as there are threads
        const uint64_t index = m.turns++ * m.threads + m.number;
        if (n == 0 || index > (n - 1) / chunk)
            return false;
        from = index * chunk;
        to = n - from > chunk ? from + chunk : n;
        return true;
    }
    if (m.turns++)
        return false;
    const Chunk part = part_of(n, m.number, m.threads);
    from = part.lo;
    to = part.hi;
    return from != to;
}

} // namespace

bool team_next(Participant& p, long* lo, long* hi)
{
    Member& m = *p.member;
    Team& t = *m.team;
    const bool last_matters = t.how & Team::last_matters;
    if (m.first) {
        m.first = false;
        if (last_matters)
            Hardware::fetch_add_full(t.begun, 1); // full: the copies made so far come before
    }
    uint64_t from, to;
    if (!take(m, from, to)) {
        p.mode = Mode::done;
        // As no_more() in chunks.cpp: nobody may still be copying what this thread now writes.
        for (unsigned turn = 0; m.took_last && last_matters && Hardware::load_acquire(t.begun) < m.threads; turn++)
            if (p.host->let_others)
                p.host->let_others();
            else
                turn < 2000 ? base::cpu_relax() : void(sched_yield());
        return false;
    }
    const LoopBounds& b = m.bounds;
    m.took_last |= to == b.iterations;
    *lo = long(b.start + from * b.incr);
    *hi = long(to == b.iterations ? b.end : b.start + to * b.incr);
    return true;
}

TeamRecord* make_team(const Team& team, const Participant* thread)
{
    SiteRecord* const r = record_of(team.site);
    TeamRecord* made = r ? new (std::nothrow) TeamRecord{team, thread} : nullptr;
    TeamRecord* other = nullptr;
    if (made && !base::exchange_if_release(r->team, other, made)) {
        delete made; // another thread was faster
        return nullptr;
    }
    return made;
}

namespace {

__attribute__((always_inline)) inline void run_part(Participant& p, Team& team, Member& m, uintptr_t frame)
{
    p.in_region = true;
    p.frame = frame;
    p.member = &m;
    p.site = team.site;
    p.mode = Mode::team;
    if (team.how & Team::has_bounds) {
        if (WS_LIKELY(team.is_split()))
            take_part(p, team.bounds);
        else
            m.bounds = team.bounds;
    }
    team.fn(team.data);
}

// The thread runs another region already: this one is inside that one's loop.
__attribute__((noinline)) void run_part_inside(Participant& p, Team& team, Member& m, uintptr_t frame)
{
    const Mode mode = p.mode;
    Member* const outer = p.member;
    ws_site* const site = p.site;
    const uintptr_t outer_frame = p.frame;
    const uint64_t lo = p.lo, hi = p.hi;
    run_part(p, team, m, frame);
    p.mode = mode;
    p.lo = lo;
    p.hi = hi;
    p.member = outer;
    p.site = site;
    p.frame = outer_frame;
}

} // namespace

void share_out(Team& team, unsigned number, unsigned threads)
{
    Participant& p = self;
    Member m;
    m.team = &team;
    m.number = number;
    m.threads = threads;
    m.turns = 0;
    m.first = true;
    m.took_last = false;
    if (WS_UNLIKELY(p.in_region)) {
        run_part_inside(p, team, m, own_frame());
        return;
    }
    run_part(p, team, m, own_frame());
    p.mode = Mode::done;
    p.in_region = false;
    p.member = nullptr;
    p.site = nullptr;
}

// ---- with guests

OwnThreads::OwnThreads(void (*fn)(void*), void* data, ws_site* site, uint64_t count)
    : fn_(fn), data_(data), site_(site), count_(count), slot_(unsigned(self.region - &region_in(0)))
{}

void OwnThreads::own(unsigned threads)
{
    Participant& p = self;
    Member m = {nullptr, 0, threads, {}, 0, true, false};
    p.member = &m;
    p.site = site_;
    p.in_region = true;
    p.frame = own_frame();
    open_region(p, fn_, data_, {0, 1, count_, count_}, site_, 0, 0); // publishes, as there are several threads
    // Release: the region is there. Pairs with help().
    Hardware::store_release(state_, Flag(p.mode == Mode::shared ? published : over));
    fn_(data_);
    p.member = nullptr;
    p.site = nullptr;
    p.mode = Mode::done;
    p.in_region = false;
    if (p.ending != Ending::nothing)
        close_region(p, site_);
}

// Another thread: a guest as long as there is something to do. It has joined since the region was published.
void OwnThreads::help()
{
    Flag state;
    for (unsigned turn = 0; (state = Hardware::load_acquire(state_)) == unknown; turn++) // pairs with own()
        turn < 2000 ? base::cpu_relax() : void(sched_yield());
    if (state == over)
        return;
    static const volatile Flag never = 0;
    Participant& p = self;
    Region* const own = p.region;
    Descriptor& loop = *region_in(slot_).descriptor;
    window::Lease lease;
    lease.slot = slot_;
    const Sizing sizing = Sizing::unpack(loop.look().sizing);
    const Claim claim = loop.claim(
        [&](uint64_t remaining, unsigned joiners) {
            return chaos ? 1 + chaos.random(remaining) : sizing.units(remaining, joiners + 1, p.host->participants);
        },
        lease.chunk);
    if (claim == Claim::taken)
        observe::add(p.host->board->process.worker_chunks, run_as_guest(lease, &never, 0).chunks);
    else
        loop.leave();
    p.region = own;
}

void OwnThreads::run(unsigned number, unsigned threads)
{
    if (number == 0)
        own(threads);
    else
        help();
}

void remember_team(const Team& team, unsigned threads, uint64_t opened_at)
{
    Learned& l = learned(team.site);
    observe::LoopRow& row = row_of(team.site);
    observe::bump(row.whole_executions);
    observe::bump(row.whole_iterations, team.iterations);
    const uint64_t took = ticks() - opened_at;
    count_execution(row, took);
    if (team.iterations) {
        const double each = double(took) / double(team.iterations);
        remember_cost(l, each * threads);
        remember_alone(l, each);
    }
    const bool is_short = took < host().short_ticks && team.iterations && measure_every > 1;
    poke(l.countdown, is_short ? 1 - measure_every : 0);
}

} // namespace ws::loop
