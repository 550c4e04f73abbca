// SPDX-License-Identifier: MIT
#include "group/part.h"

#include "base/times.h"
#include "loop/site.h"

#include <new>

__attribute__((visibility("default"))) __thread unsigned ws_group_depth = 0;

namespace ws::group {

using loop::chaos;
using loop::Participant;
using loop::self;
using base::cpu_relax;
using base::ticks;

__thread Part part __attribute__((tls_model("initial-exec")));

namespace {

Crew* volatile crews[window::max_slots]; // by the owner's slot; they stay

// A guest without tasks looks for new ones for so long, as the owner may be about to put some.
constexpr double hunt_us = 100;
// An owner that runs tasks looks whether thieves want guests or sleep.
constexpr double look_us = 20;
constexpr uint64_t turns = 1 << 30; // hours

void run_one(ws_deferred* task)
{
    ws_group* const group = task->group; // null: a directive's
    ws_group_depth++;
    if (part.member)
        Hardware::store_relaxed(part.member->busy, 1);
    task->run(task); // deletes it, unless it is a directive's
    ws_group_depth--;
    if (part.member && !ws_group_depth)
        Hardware::store_relaxed(part.member->busy, 0); // ordered by the next line: who sees the group done sees this
    if (group)
        // Full: what the task wrote comes before. Pairs with is_done().
        Hardware::fetch_add_full(group->waiting, Hardware::Word(0) - 1);
    else
        over(*static_cast<Task*>(task));
}

bool is_done(const ws_group& group) { return Hardware::load_acquire(group.waiting) == 0; } // pairs with run_one()

// A guest has found no task.
void withdraw(const Participant& p)
{
    Hardware::store_full(part.crew->offered, 0); // full: before the look below
    loop::offer_turns(p, false);
    if (part.crew->has_tasks())
        offer(p);
}

// A guest's turn: runs tasks for `long_enough`; if there are none, looks for some for a while. False if it found none
// in the end.
bool take_turn(Participant& p, uint64_t long_enough, uint64_t hunt)
{
    const uint64_t entered = ticks();
    uint64_t now = entered, idle_since = 0;
    const auto was_idle = [&] { p.idle_ticks += idle_since ? now - idle_since : 0; };
    for (;;) {
        if (ws_deferred* const task = part.crew->next(*part.member)) {
            was_idle();
            idle_since = 0;
            run(task);
        } else {
            if (!idle_since)
                idle_since = now;
            // Relaxed: hints.
            if (now - idle_since >= hunt || Hardware::load_relaxed(*p.recall) ||
                !p.region->descriptor->look().remaining) {
                was_idle();
                return false;
            }
            for (unsigned i = 0; i < 16; i++)
                cpu_relax();
        }
        now = ticks();
        if (!idle_since && now - entered >= long_enough)
            return true;
    }
}

// The body of the region, for guests: the owner is in the program, and comes here only when it waits.
void guest_part(void* crew)
{
    Participant& p = self;
    const Part outer = part;
    part = {static_cast<Crew*>(crew), static_cast<Crew*>(crew)->join(), false, 0, 0, 0, {}, nullptr, nullptr, 0};
    const uint64_t chunk = uint64_t(base::times::task_chunk_us * p.host->ticks_per_us),
                   hunt = uint64_t(hunt_us * p.host->ticks_per_us);
    for (long lo, hi; loop::next_chunk(&lo, &hi);)
        if (!part.member)
            loop::leave_after_chunk();
        else if (!take_turn(p, uint64_t(hi - lo) * chunk, hunt)) {
            loop::leave_after_chunk(); // this core may have other things to do
            if (p.region->descriptor->look().remaining) // the owner has not closed it
                withdraw(p);
        }
    if (part.member)
        Crew::leave(*part.member);
    part = outer;
}

// Returns for how long tasks that begin with one put at `site` will keep a helper busy, by what they took before.
uint64_t expected_ticks(ws_site* site)
{
    const loop::SiteRecord* const record = base::load_acquire(loop::learned(site).record);
    return record ? uint64_t(loop::peek(record->tasks_ticks)) : 0;
}

// It falls at once and rises by halves, because a helper that finds no work was woken in vain.
void remember_ticks(const Participant& p, ws_site* site, uint64_t took)
{
    const double before = double(expected_ticks(site)), now = double(took);
    if (before == 0 && took < p.host->publish_ticks[window::asleep_hungry])
        return;
    if (loop::SiteRecord* const record = loop::record_of(site))
        loop::poke(record->tasks_ticks, now < before ? now : (before + now) / 2);
}

// Opens a region of turns for the calling thread's tasks, and wakes a sleeping thief if it is worth that. False if it
// is not to be shared, or nobody waits any more.
__attribute__((noinline)) bool open(Participant& p, ws_site* site, bool wake)
{
    Crew* const crew = crew_of(p);
    if (!crew || !loop::open_turns(p, guest_part, crew, turns, site))
        return false;
    part.crew = crew;
    part.member = &crew->owner();
    part.owns = true;
    part.rung = ticks();
    Hardware::store_relaxed(crew->offered, 1); // no guest is there yet
    if (wake) {
        p.region->ring_at = 0;
        loop::ring_sleepers(p, part.rung);
    }
    return true;
}

// The outermost wait is over: no more turns, and what tasks are left runs here.
__attribute__((noinline)) void close(Participant& p)
{
    loop::take_all_turns(p);
    do
        while (ws_deferred* const task =
                   wait_for_one(p, "guests that finish", [&] { return p.region->descriptor->joiners() == 0; }))
            run(task);
    while (part.crew->has_tasks()); // of guests that have left since the last look
    part.crew->root.addresses.reset();
    part.crew = nullptr;
    part.member = nullptr;
    part.owns = false;
    loop::close_turns(p);
}

} // namespace

Crew* crew_of(const Participant& p)
{
    Crew* volatile& crew = crews[p.region - p.host->slots->regions];
    if (!crew) // only the thread with the slot comes here
        base::store_release(crew, Crew::make());
    return crew;
}

void run(ws_deferred* task)
{
    for (;;) {
        run_one(task);
        Task* const ready = part.ready;
        if (WS_LIKELY(!ready))
            return;
        part.ready = ready->next;
        task = ready;
    }
}

// A guest may withdraw the offer at the same time: the next task, or the next look of the owner that waits, repeats it.
void offer(const Participant& p)
{
    if (WS_LIKELY(Hardware::load_relaxed(part.crew->offered)))
        return;
    Hardware::store_full(part.crew->offered, 1); // full: before the bit that it stands for
    loop::offer_turns(p, true);
}

void look_after_thieves(Participant& p)
{
    const uint64_t now = ticks();
    if (double(now - part.rung) < look_us * p.host->ticks_per_us)
        return;
    part.rung = now;
    loop::make_wanted_guests();
    if (part.member->deque.size())
        offer(p);
    loop::ring_sleepers(p, now);
}

void end_wait()
{
    if (ws_group_depth)
        return;
    Participant& p = self;
    if (part.owns) {
        // With tasks of other groups left, the caller is in a function that puts tasks, called by another that waits
        // later.
        if (part.crew->has_tasks() || part.crew->is_busy(*part.member))
            return;
        close(p);
    }
    if (WS_UNLIKELY(part.began))
        remember_ticks(p, part.first, ticks() - part.began);
    part.began = 0;
}

Crew* Crew::make()
{
    Crew* const crew = new (std::nothrow) Crew;
    if (!crew)
        return nullptr;
    CrewMember* const own = crew->join();
    if (!own)
        delete crew;
    return own ? crew : nullptr;
}

CrewMember* Crew::join()
{
    for (unsigned i = 0; i < most_members; i++) {
        CrewMember* member = base::load_acquire(members_[i]); // pairs with keep_first()
        if (!member) {
            CrewMember* const made = new (std::nothrow) CrewMember;
            if (!made)
                return nullptr;
            made->number = i;
            member = base::keep_first(members_[i], made);
            for (Flag known = Hardware::load_relaxed(known_); known < i + 1; known = Hardware::load_relaxed(known_))
                Hardware::cas_full(known_, known, i + 1); // full: the member comes before. Pairs with steal()
        }
        if (!Hardware::load_relaxed(member->taken) && Hardware::cas_full(member->taken, 0, 1)) // pairs with leave()
            return member;
    }
    return nullptr;
}

bool Crew::has_tasks() const
{
    return any([](const CrewMember& m) { return m.deque.size() != 0; });
}

bool Crew::is_busy(const CrewMember& own) const
{
    return any([&](const CrewMember& m) { return &m != &own && Hardware::load_relaxed(m.busy); });
}

ws_deferred* Crew::next(CrewMember& member, bool any)
{
    ws_deferred* const own = member.deque.take();
    return own ? own : steal(member, any);
}

ws_deferred* Crew::steal(CrewMember& member, bool any)
{
    chaos.delay();
    const unsigned known = Hardware::load_acquire(known_); // pairs with join()
    for (unsigned i = 0; i < known; i++) {
        const unsigned victim = (member.victim + i) % known;
        CrewMember& other = *base::load_relaxed(members_[victim]); // ordered by the load above
        if (&other == &member || (!any && Hardware::load_relaxed(other.taken)))
            continue;
        if (ws_deferred* const task = other.deque.steal()) {
            member.victim = victim;
            return task;
        }
    }
    return nullptr;
}

WS_EXPORT int ws_group_wanted(void)
{
    if (CrewMember* const member = part.member)
        return member->deque.is_full() ? WS_GROUP_RUN : WS_GROUP_DEFER;
    Participant& p = self;
    if (!p.owner || p.in_region)
        return WS_GROUP_RUN;
    // Relaxed: a hint; the next task is soon enough. Pairs with the thieves' store in Chooser::choose().
    if (WS_LIKELY(!Hardware::load_relaxed(p.host->row->hunger.hungry) && !p.host->share_all)) {
        part.began = 0;
        return WS_GROUP_RUN;
    }
    return p.host->check ? WS_GROUP_RUN : WS_GROUP_ASK;
}

WS_EXPORT bool ws_group_begin(ws_site* site)
{
    Participant& p = self;
    const uint64_t now = ticks();
    if (!part.began) {
        part.began = now;
        part.first = site;
        part.expected = expected_ticks(site);
    }
    // What has lasted that long beside a waiting rank will most likely last as long again. What took that long the last
    // times will, too: the first task may be a large part of all, so the next may come too late.
    const uint64_t lasts = part.expected > now - part.began ? part.expected : now - part.began;
    const Flag hungry = Hardware::load_relaxed(p.host->row->hunger.hungry); // relaxed: a hint
    if (!p.host->share_all && hungry && lasts < p.host->publish_ticks[hungry])
        return false;
    return open(p, site, lasts >= p.host->publish_ticks[window::asleep_hungry]);
}

WS_EXPORT bool ws_group_put(ws_group* group, ws_deferred* task)
{
    CrewMember* const member = part.member;
    // A task that is deferred computes as the region's owner did when it opened.
    if (!member || !self.region->state.computes_as_now())
        return false;
    task->group = group;
    chaos.delay();
    Hardware::fetch_add_full(group->waiting, 1);
    if (!member->deque.put(task)) {
        Hardware::fetch_add_full(group->waiting, Hardware::Word(0) - 1);
        return false;
    }
    offer(self);
    if (part.owns)
        look_after_thieves(self);
    return true;
}

WS_EXPORT void ws_group_wait(ws_group* group)
{
    run_until("tasks of its group", [group] { return is_done(*group); });
    end_wait();
}

// MPI_Finalize begins: by the thread that called MPI_Init.
void end()
{
    if (part.owns && !ws_group_depth)
        close(self);
}

} // namespace ws::group
