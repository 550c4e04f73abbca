// SPDX-License-Identifier: MIT
//
// What becomes of a parallel region that an unmodified program opens, under -workshare-openmp=help and =unseen: it is
// run by OpenMP and watched, or by OpenMP, or shared. Called by libws's functions that stand before the library's
// (directive/).
//
// A region known to be short is one call of its function, as long as nobody waits: what it costs more than the
// library's own is printed by benchmarks/region_cost.
#include "directive/openmp.h"
#include "loop/participant.h"
#include "openmp/team.h"
#include "openmp/watch.h"
#include "window/times.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ws::openmp {

using directive::openmp;
using loop::host;
using loop::self;
using window::ticks;

namespace {

// As many threads as the region is to have, as far as the program knows; whether it has said so itself.
struct Wanted {
    unsigned threads;
    bool said;
};

Wanted wanted_of(const RegionCall& region)
{
    const unsigned told = directive::openmp_told();
    // Of one thread may be what an if clause made of the region.
    if (WS_LIKELY((region.threads == told && told > 1) ||
                  (region.threads == 0 && !directive::openmp_threads_set_here())))
        return {told, false};
    const auto& library = openmp(nullptr);
    const unsigned said = region.threads ? region.threads : unsigned(std::max(1, library.max_threads()));
    return {library.thread_limit ? std::min(said, unsigned(library.thread_limit())) : said, true};
}

// What each thread of a region runs that lent cores may have joined.
struct Member {
    const directive::LentRegion& lent;
    directive::RegionCall::Body fn;
    void* data;
};
void run_member(void* argument)
{
    const Member& member = *static_cast<Member*>(argument);
    const unsigned number = unsigned(openmp(nullptr).thread_num());
    member.lent.member(number);
    member.fn(member.data);
    member.lent.member_done(number);
}

// A task that calls MPI may be run by a thread that the program has not asked for, whatever its level: as guests may.
class LetIn {
public:
    explicit LetIn(bool threads) : does_(threads && directive::openmp_own() == 1)
    {
        if (does_)
            host().let_threads_in(1);
    }
    ~LetIn()
    {
        if (does_)
            host().let_threads_in(0);
    }
    LetIn(const LetIn&) = delete;

private:
    const bool does_;
};

// It has as many threads as its number says (0: it is not to be seen how many), some of them on lent cores if there are
// any, or one more for each of at most `most` of these.
__attribute__((noinline)) void open_with_lent(RegionCall& region, RegionSite& site, unsigned number, unsigned most)
{
    const unsigned own = directive::openmp_own();
    const uint64_t began = ticks();
    unsigned cores;
    {
        const directive::LentRegion lent(most, region.site);
        cores = lent.cores();
        if (number == 0 && cores == 0)
            region.open(region.fn, region.data, region.threads);
        else {
            Member member = {lent, region.fn, region.data};
            const LetIn let_in(cores != 0);
            region.open(run_member, &member, number ? number : own + cores);
        }
    }
    // Its first execution, in which OpenMP may have begun its threads, is no measure for the next ones.
    const double took = double(ticks() - began) * (own + cores) / own;
    if (site.now() == State::own)
        window::store_relaxed(site.longest, std::max(took, window::load_relaxed(site.longest) / 2));
}

// A region that takes less than a thread more would cost asks for lent cores seldom: how long it is now is seen when it
// does. `as_it_is`: for a while the calling thread need not even come here.
bool asks_now(RegionSite& site, bool as_it_is)
{
    constexpr Flag seldom = 16;
    const Flag short_ones = Hardware::load_relaxed(site.short_ones) + 1; // relaxed: nothing follows from it
    Hardware::store_relaxed(site.short_ones, short_ones);
    if (WS_UNLIKELY(short_ones % seldom == 0))
        return true;
    if (as_it_is)
        directive::left_alone(site.function) = {
            site.function, ticks() + uint64_t(window::times::left_alone_us * host().ticks_per_us)};
    return false;
}

// Whether to ask for lent cores at all, by two loads: somebody waits, or will when a region that is as long as this one
// has begun.
bool may_have_lenders(RegionSite& site, bool as_it_is)
{
    const auto& h = host();
    if (!h.row || !h.sleepers)
        return false;
    const double took = window::load_relaxed(site.longest);
    if (took > 0 && took < window::times::thread_cost_us * h.ticks_per_us) // 0: it is not known
        return asks_now(site, as_it_is);
    return Hardware::load_relaxed(h.row->hunger.hungry) || Hardware::load_relaxed(*h.sleepers) || // hints, both
           took > window::times::borrow_wait_pays * window::times::borrow_wait_us * h.ticks_per_us;
}

// More threads than the rank has that may join this one of its regions, which is OpenMP's.
unsigned most_lent(const RegionSite& site)
{
    const Flag uses = Hardware::load_relaxed(site.uses);
    if (!site.may_be_lent || site.now() != State::own)
        return 0;
    if (directive::openmp_unseen() && !(uses & (use::pair | use::loop | use::tasks))) // each thread does the same
        return 0;
    const auto& library = openmp(nullptr);
    const unsigned limit = library.thread_limit ? unsigned(library.thread_limit()) : ~0u, own = directive::openmp_own();
    const unsigned most = directive::openmp_unseen() ? limit : std::min(limit, directive::openmp_told());
    return most > own ? most - own : 0;
}

// The calling thread is in no virtual thread.
void run_by_openmp(RegionCall& region, RegionSite* site, const Wanted& wanted)
{
    // Who keeps thread numbers finds the same ones in each region: as many as it was told from the start. But threads
    // that spin keep a core from those for which they wait: no more than there are cores, if the region asks how many
    // threads there are.
    const Flag uses = site ? Hardware::load_relaxed(site->uses) : 0;
    const bool spins = site && site->spins;
    const bool same = !wanted.said && (uses & use::numbers) && !(spins && (uses & use::counts)) &&
                      !directive::openmp_unseen();
    const unsigned number = same || wanted.said ? wanted.threads : 0, own = directive::openmp_own();
    // Where the number stays nobody sees where its threads are. Those that spin for others on the rank's own cores
    // would only keep a lent one busy.
    const bool may = site && directive::openmp_lender;
    unsigned most = 0;
    if (may && (number == 0 || (number > own && !spins)) && may_have_lenders(*site, number == 0))
        most = number ? number - own : most_lent(*site);
    if (WS_LIKELY(!may || (most == 0 && number <= own)))
        region.open(region.fn, region.data, same ? number : region.threads);
    else
        open_with_lent(region, *site, number, most);
}

__attribute__((noinline)) void run_watching(RegionCall& region, RegionSite& site, const Wanted& wanted)
{
    Watch watch = {site, region};
    const uint64_t began = ticks();
    if (region.loop || region.sections)
        watch.note(use::loop);
    {
        const Current none(nullptr);
        region.open(run_watched, &watch, wanted.said || directive::openmp_unseen() ? region.threads : wanted.threads);
    }
    settle(site, double(ticks() - began), Hardware::load_relaxed(watch.barriers));
}

// With several threads of its own a rank shares a region only where somebody waits, if nobody can tell.
bool stays_own(const RegionSite& site)
{
    if ((Hardware::load_relaxed(site.uses) & use::numbers) || host().share_all || !host().row)
        return false;
    const Flag hungry = Hardware::load_relaxed(host().row->hunger.hungry); // relaxed: a hint
    return !hungry || site.longest <= double(host().publish_ticks[hungry]);
}

void run_shared(RegionCall& region, RegionSite& site, const Wanted& wanted)
{
    const unsigned own = directive::openmp_own();
    if (own > 1 && stays_own(site)) {
        const Current none(nullptr);
        region.open(region.fn, region.data, region.threads);
        return;
    }
    const unsigned units = region.sections && site.free && !wanted.said ? std::min(region.sections, most_units)
                                                                        : units_of(site, wanted.threads, wanted.said);
    // With several threads of its own, or where it says how many it wants or asks how many there are, a program may
    // have some wait for others.
    const bool counted = wanted.said || (Hardware::load_relaxed(site.uses) & use::numbers);
    VirtualTeam team(site, region, units, wanted.threads, counted ? units : own > 1 ? own : 0);
    for (ws_site* phase = &site.site; phase; phase = team.next_phase())
        if (own > 1)
            ws_openmp_loop(VirtualTeam::take_part, &team, 0, long(team.units), 1, phase, 0, 0);
        else
            ws_parallel_loop(VirtualTeam::take_part, &team, 0, long(team.units), 1, phase, 0, 0);
}

// Why an execution is OpenMP's without a look at what it does; null: it is not.
const char* why_passed(const Wanted& wanted)
{
    if (WS_UNLIKELY(allocator_is_set()))
        return "the program has set a default allocator, which guests do not have";
    if (WS_LIKELY(!wanted.said))
        return nullptr;
    if (wanted.threads == 1)
        return "it has one thread";
    return wanted.threads <= directive::openmp_own() ? "the program wants no more threads than its own"
           : wanted.threads > most_units             ? "the program wants more threads than can be shared"
                                                     : nullptr;
}

// Before MPI has begun, in processes that are no ranks, where nobody is who could help; and where loops are shared to
// check them.
bool has_no_helpers() { return host().participants < 2 || !host().row || host().check; }

void run_region(RegionCall& region)
{
    if (WS_UNLIKELY(directive::openmp_unseen() && has_no_helpers())) {
        region.open(region.fn, region.data, region.threads);
        return;
    }
    const unsigned told = directive::openmp_told();
    if (WS_UNLIKELY(current != nullptr)) {
        if (current->watch)
            current->watch->note(use::nested);
        // OpenMP does not know that the thread is in a region already: one within has one thread, as usual.
        const unsigned threads = current->watch ? region.threads : 1;
        const Current none(nullptr);
        region.open(region.fn, region.data, threads);
        return;
    }
    const Wanted wanted = wanted_of(region);
    const char* const passed = why_passed(wanted);
    if (WS_UNLIKELY(!told || self.in_region || directive::openmp_level() != 0 || in_target_or_teams())) {
        region.open(region.fn, region.data, region.threads);
        return;
    }
    RegionSite* const site = find_site(region.site);
    const State state = site ? site->now() : State::own;
    if (WS_UNLIKELY(passed != nullptr)) {
        if (site)
            site->passed = passed;
        run_by_openmp(region, site, wanted);
    } else if (WS_LIKELY(state == State::shared))
        run_shared(region, *site, wanted);
    else if (state == State::own)
        run_by_openmp(region, site, wanted);
    else
        run_watching(region, *site, wanted);
}

// Before the program's first region: as it is preloaded, libws begins before the program.
__attribute__((constructor)) void begin_sharing()
{
    const char *enabled = std::getenv("WS_ENABLE"), *mode = std::getenv("WS_OPENMP");
    if (enabled && mode && std::strcmp(enabled, "1") == 0 &&
        (std::strcmp(mode, "help") == 0 || std::strcmp(mode, "unseen") == 0)) {
        directive::openmp_sharer = run_region;
        pthread_atfork(nullptr, nullptr, [] { directive::openmp_sharer = nullptr; }); // a child has no watchdog
    }
}

} // namespace

} // namespace ws::openmp
