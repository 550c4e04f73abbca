// SPDX-License-Identifier: MIT
//
// What libws tells a tool of the regions that it runs, in the order in which libomp tells of its own.
//
// A virtual thread's events come on its identity. Its last barrier ends, and with it its implicit task, when all others
// have come to it. By then the virtual thread has ended, so the thread that opened the region tells that, on the
// identity of each virtual thread.
#include "openmp/tool/tool.h"

#include "openmp/library/regions.h"
#include "openmp/shared/fiber.h"
#include "openmp/shared/team.h"

namespace ws::openmp::tool {

namespace {

struct Told {
    Watched* watched;
    UnitWords* words;
    explicit operator bool() const { return watched; }
};

Told told(const Unit* unit)
{
    Watched* const watched = unit ? watched_by(*unit->team) : nullptr;
    return {watched, watched ? &watched->units[unit->units.lo] : nullptr};
}

void tell_sync(ompt::Event event, const Told& its, int kind, ompt::Scope scope, const void* caller)
{
    if (const auto tell = callback<ompt::SyncRegion>(event))
        tell(kind, scope, &its.watched->region, &its.words->task, caller);
}

// How clang describes a construct: the start of libomp's ident_t.
struct Location {
    int32_t reserved, flags;
};
int flags_of(const void* location) { return static_cast<const Location*>(location)->flags; }

int barrier_kind(const void* location)
{
    constexpr int is_explicit = 0x20, is_implicit = 0x40; // KMP_IDENT_BARRIER_EXPL, KMP_IDENT_BARRIER_IMPL
    if (!location)
        return ompt::barrier_plain;
    const int flags = flags_of(location);
    return flags & is_explicit   ? ompt::barrier_explicit
           : flags & is_implicit ? kinds().implicit_barrier
                                 : ompt::barrier_implementation;
}

void set_exit(ompt::Frame& frame, const void* at)
{
    frame.exit.pointer = at;
    frame.exit_flags = at ? ompt::frame_of_runtime : 0;
}

// A virtual thread's part, in place of the region's function.
void run_part(void* argument)
{
    Watched& watched = *static_cast<Watched*>(argument);
    Unit& unit = *current;
    const Told its = told(&unit);
    begin_virtual();
    set_exit(its.words->frame, __builtin_frame_address(0));
    its.words->state = ompt::work_parallel;
    if (const auto tell = callback<ompt::ImplicitTask>(ompt::implicit_task))
        tell(ompt::scope_begin, &watched.region, &its.words->task, watched.threads, unsigned(unit.units.lo),
             ompt::task_implicit);
    watched.fn(watched.data);
    set_exit(its.words->frame, nullptr);
    if (watched.threads == 1) // libomp's regions of one thread have no barrier either
        return;
    its.words->state = ompt::wait_barrier_implicit_parallel;
    tell_sync(ompt::sync_region, its, kinds().last_barrier, ompt::scope_begin, watched.caller);
    tell_sync(ompt::sync_region_wait, its, kinds().last_barrier, ompt::scope_begin, watched.caller);
}

void end_part(const Unit& unit)
{
    const Told its = told(&unit);
    if (its.watched->threads > 1) {
        tell_sync(ompt::sync_region_wait, its, kinds().last_barrier, ompt::scope_end, its.watched->caller);
        tell_sync(ompt::sync_region, its, kinds().last_barrier, ompt::scope_end, its.watched->caller);
    }
    if (const auto tell = callback<ompt::ImplicitTask>(ompt::implicit_task))
        tell(ompt::scope_end, nullptr, &its.words->task, 0, unsigned(unit.units.lo), ompt::task_implicit);
}

// On the identity of that virtual thread, which has ended.
void end_part_there(void* argument)
{
    Unit& unit = *static_cast<Unit*>(argument);
    const Current there(&unit);
    end_part(unit);
}

} // namespace

// A region that a tool watches has another function than the program's.
Watched* watched_by(const VirtualTeam& team)
{
    return team.region.fn == run_part ? static_cast<Watched*>(team.region.data) : nullptr;
}

void run(VirtualTeam& team, RegionCall& region, unsigned asked)
{
    Watched watched;
    watched.fn = region.fn;
    watched.data = region.data;
    watched.caller = region.caller();
    watched.threads = team.units;
    watched.opener = library_task();
    watched.units.reset(new UnitWords[team.units]());
    for (int level = 0; level < Watched::levels; level++) {
        watched.tasks[level] = task_info(level);
        watched.regions[level] = region_info(level);
    }
    const TaskInfo& opener = watched.tasks[0];
    if (opener.frame) {
        opener.frame->enter.pointer = __builtin_frame_address(0);
        opener.frame->enter_flags = ompt::frame_of_runtime;
    }
    constexpr int flags = ompt::invoked_by_runtime | ompt::of_team;
    if (const auto tell = callback<ompt::ParallelBegin>(ompt::parallel_begin))
        tell(opener.task, opener.frame, &watched.region, asked, flags, watched.caller);
    region.fn = run_part;
    region.data = &watched;
    team.run();
    FiberCrew& crew = team.crew();
    for (unsigned number = 0; number < team.units; number++) {
        if (const Identity* const identity = crew[number].identity())
            run_as(identity->pointer(), end_part_there, &crew[number].unit);
        else
            end_part_there(&crew[number].unit);
    }
    region.fn = watched.fn; // the tool knows it no longer
    region.data = watched.data;
    if (const auto tell = callback<ompt::ParallelEnd>(ompt::parallel_end))
        tell(&watched.region, opener.task, flags, watched.caller);
    if (opener.frame) {
        opener.frame->enter.pointer = nullptr;
        opener.frame->enter_flags = 0;
    }
}

void wait(Unit& unit, const void* location, const void* caller)
{
    const Told its = told(&unit);
    const int kind = barrier_kind(location);
    if (its) {
        its.words->state = ompt::wait_barrier;
        tell_sync(ompt::sync_region, its, kind, ompt::scope_begin, caller);
        tell_sync(ompt::sync_region_wait, its, kind, ompt::scope_begin, caller);
    }
    unit.team->barrier(unit, caller);
    if (its) {
        tell_sync(ompt::sync_region_wait, its, kind, ompt::scope_end, caller);
        tell_sync(ompt::sync_region, its, kind, ompt::scope_end, caller);
        its.words->state = ompt::work_parallel;
    }
}

namespace {
void tell_work(const Told& its, int kind, ompt::Scope scope, uint64_t count, const void* caller)
{
    if (const auto tell = callback<ompt::WorkRegion>(ompt::work))
        tell(kind, scope, &its.watched->region, &its.words->task, count, caller);
}
} // namespace

void begin_work(int kind, uint64_t count, const void* caller)
{
    if (const Told its = told(current)) {
        its.words->work = kind;
        tell_work(its, kind, ompt::scope_begin, count, caller);
    }
}

void end_work(const void* caller)
{
    if (const Told its = told(current); its && its.words->work) {
        tell_work(its, its.words->work, ompt::scope_end, 0, caller);
        its.words->work = 0;
    }
}

void tell_single(bool is_executor, const void* caller)
{
    if (is_executor)
        begin_work(ompt::work_single_executor, 1, caller);
    else if (const Told its = told(current)) {
        tell_work(its, ompt::work_single_other, ompt::scope_begin, 1, caller);
        tell_work(its, ompt::work_single_other, ompt::scope_end, 1, caller);
    }
}

void tell_masked(ompt::Scope scope, const void* caller)
{
    if (const Told its = told(current))
        if (const auto tell = callback<ompt::Masked>(ompt::masked))
            tell(scope, &its.watched->region, &its.words->task, caller);
}

void tell_reduction(ompt::Scope scope, const void* caller)
{
    if (const Told its = told(current))
        tell_sync(ompt::reduction, its, ompt::sync_reduction, scope, caller);
}

// Nobody waits at its end: tasks have run when they were created.
void tell_taskgroup(ompt::Scope scope, const void* caller)
{
    const Told its = told(current);
    if (!its)
        return;
    if (scope == ompt::scope_end)
        for (const ompt::Scope of_wait : {ompt::scope_begin, ompt::scope_end})
            tell_sync(ompt::sync_region_wait, its, ompt::sync_taskgroup, of_wait, caller);
    tell_sync(ompt::sync_region, its, ompt::sync_taskgroup, scope, caller);
}

// Nobody waits inside: the pieces of such a loop are run one after the other.
void tell_ordered(ompt::Scope scope, const void* caller)
{
    const Told its = told(current);
    if (!its)
        return;
    const auto wait = uint64_t(uintptr_t(its.watched));
    if (scope == ompt::scope_end) {
        if (const auto tell = callback<ompt::MutexOther>(ompt::mutex_released))
            tell(ompt::mutex_ordered, wait, caller);
        return;
    }
    if (const auto tell = callback<ompt::MutexAcquire>(ompt::mutex_acquire))
        tell(ompt::mutex_ordered, 0, 0, wait, caller);
    if (const auto tell = callback<ompt::MutexOther>(ompt::mutex_acquired))
        tell(ompt::mutex_ordered, wait, caller);
}

int work_kind(const void* location, ompt::Work loop)
{
    constexpr int of_sections = 0x400; // KMP_IDENT_WORK_SECTIONS
    if (location && flags_of(location) & of_sections)
        return ompt::work_sections;
    return kinds().loop == ompt::work_loop_static ? loop : ompt::work_loop;
}

} // namespace ws::openmp::tool
