// SPDX-License-Identifier: MIT
//
// libgomp's functions that deal work inside a region, or let threads wait. libws stands before them; a thread that runs
// virtual threads gets its answers here, all others go on to libgomp, for a load and a branch more.
#include "directive/next.h"
#include "openmp/meet.h"
#include "loop/participant.h"
#include "openmp/team.h"

#include <cstdint>

namespace ws::openmp {

using directive::Next;
using loop::count_signed;
using loop::count_unsigned;

namespace {

#define WS_GNU(name, version) asm(".symver gnu_" #name "," #name "@" version)

using Ull = unsigned long long;

// A loop begins: the virtual threads that it is dealt to; null: the library deals it.
inline Unit* dealt(void* caller)
{
    if (WS_LIKELY(current == nullptr))
        return nullptr;
    if (current->team)
        return current;
    current->watch->note_deal(use::loop, caller);
    return nullptr;
}

// The thread's part of a loop begins; false: it has none.
template <class T> bool start_loop(Unit& unit, uint64_t n, T start, T end, T incr, T chunk, T* lo, T* hi)
{
    const Part part = part_of_loop(n, chunk > 0 ? uint64_t(chunk) : 0, unit.units);
    unit.has_part = false;
    if (part.empty())
        return false;
    *lo = T(uint64_t(start) + part.from * uint64_t(incr));
    *hi = part.to == n ? end : T(uint64_t(start) + part.to * uint64_t(incr));
    return true;
}

template <class T> bool next_part(Unit& unit, T* lo, T* hi)
{
    if (!unit.has_part)
        return false;
    unit.has_part = false;
    *lo = T(unit.lo);
    *hi = T(unit.hi);
    return true;
}

} // namespace

#define WS_GNU_START(name, version)                                                                                  \
    WS_EXPORTED bool gnu_##name(long start, long end, long incr, long chunk, long* lo, long* hi)                      \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        void* const caller = __builtin_return_address(0);                                                             \
        if (Unit* const unit = dealt(caller))                                                                         \
            return start_loop(*unit, count_signed(start, end, incr), start, end, incr, chunk, lo, hi);                \
        return next(caller)(start, end, incr, chunk, lo, hi);                                                         \
    }                                                                                                                 \
    WS_GNU(name, version)
#define WS_GNU_START_RUNTIME(name, version)                                                                          \
    WS_EXPORTED bool gnu_##name(long start, long end, long incr, long* lo, long* hi)                                  \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        void* const caller = __builtin_return_address(0);                                                             \
        if (Unit* const unit = dealt(caller))                                                                         \
            return start_loop(*unit, count_signed(start, end, incr), start, end, incr, 0L, lo, hi);                   \
        return next(caller)(start, end, incr, lo, hi);                                                                \
    }                                                                                                                 \
    WS_GNU(name, version)
#define WS_GNU_NEXT(name, version, type)                                                                             \
    WS_EXPORTED bool gnu_##name(type* lo, type* hi)                                                                   \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        if (current && current->team)                                                                                 \
            return next_part(*current, lo, hi);                                                                       \
        return next(__builtin_return_address(0))(lo, hi);                                                             \
    }                                                                                                                 \
    WS_GNU(name, version)
#define WS_GNU_ULL_START(name, version)                                                                                   \
    WS_EXPORTED bool gnu_##name(bool up, Ull start, Ull end, Ull incr, Ull chunk, Ull* lo, Ull* hi)                   \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        void* const caller = __builtin_return_address(0);                                                             \
        if (Unit* const unit = dealt(caller))                                                                         \
            return start_loop(*unit, count_unsigned(up, start, end, incr), start, end, incr, chunk, lo, hi);          \
        return next(caller)(up, start, end, incr, chunk, lo, hi);                                                     \
    }                                                                                                                 \
    WS_GNU(name, version)
#define WS_GNU_ULL_START_RUNTIME(name, version)                                                                           \
    WS_EXPORTED bool gnu_##name(bool up, Ull start, Ull end, Ull incr, Ull* lo, Ull* hi)                              \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        void* const caller = __builtin_return_address(0);                                                             \
        if (Unit* const unit = dealt(caller))                                                                         \
            return start_loop(*unit, count_unsigned(up, start, end, incr), start, end, incr, Ull(0), lo, hi);         \
        return next(caller)(up, start, end, incr, lo, hi);                                                            \
    }                                                                                                                 \
    WS_GNU(name, version)

WS_GNU_START(GOMP_loop_static_start, "GOMP_1.0");
WS_GNU_START(GOMP_loop_dynamic_start, "GOMP_1.0");
WS_GNU_START(GOMP_loop_guided_start, "GOMP_1.0");
WS_GNU_START(GOMP_loop_nonmonotonic_dynamic_start, "GOMP_4.5");
WS_GNU_START(GOMP_loop_nonmonotonic_guided_start, "GOMP_4.5");
WS_GNU_START_RUNTIME(GOMP_loop_runtime_start, "GOMP_1.0");
WS_GNU_START_RUNTIME(GOMP_loop_nonmonotonic_runtime_start, "GOMP_5.0");
WS_GNU_START_RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime_start, "GOMP_5.0");
WS_GNU_NEXT(GOMP_loop_static_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_dynamic_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_guided_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_runtime_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_nonmonotonic_dynamic_next, "GOMP_4.5", long);
WS_GNU_NEXT(GOMP_loop_nonmonotonic_guided_next, "GOMP_4.5", long);
WS_GNU_NEXT(GOMP_loop_nonmonotonic_runtime_next, "GOMP_5.0", long);
WS_GNU_NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next, "GOMP_5.0", long);
WS_GNU_ULL_START(GOMP_loop_ull_static_start, "GOMP_2.0");
WS_GNU_ULL_START(GOMP_loop_ull_dynamic_start, "GOMP_2.0");
WS_GNU_ULL_START(GOMP_loop_ull_guided_start, "GOMP_2.0");
WS_GNU_ULL_START(GOMP_loop_ull_nonmonotonic_dynamic_start, "GOMP_4.5");
WS_GNU_ULL_START(GOMP_loop_ull_nonmonotonic_guided_start, "GOMP_4.5");
WS_GNU_ULL_START_RUNTIME(GOMP_loop_ull_runtime_start, "GOMP_2.0");
WS_GNU_ULL_START_RUNTIME(GOMP_loop_ull_nonmonotonic_runtime_start, "GOMP_5.0");
WS_GNU_ULL_START_RUNTIME(GOMP_loop_ull_maybe_nonmonotonic_runtime_start, "GOMP_5.0");
WS_GNU_NEXT(GOMP_loop_ull_static_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_dynamic_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_guided_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_runtime_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_nonmonotonic_dynamic_next, "GOMP_4.5", Ull);
WS_GNU_NEXT(GOMP_loop_ull_nonmonotonic_guided_next, "GOMP_4.5", Ull);
WS_GNU_NEXT(GOMP_loop_ull_nonmonotonic_runtime_next, "GOMP_5.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next, "GOMP_5.0", Ull);

// ---- sections: the first ones come with the region, or by a start of their own

WS_EXPORTED unsigned gnu_GOMP_sections_start(unsigned count)
{
    static Next<decltype(gnu_GOMP_sections_start)> next("GOMP_sections_start");
    void* const caller = __builtin_return_address(0);
    if (Unit* const unit = dealt(caller)) {
        unit->sections = count;
        unit->section = first_section(count, unit->units);
        return unit->section;
    }
    return next(caller)(count);
}
WS_GNU(GOMP_sections_start, "GOMP_1.0");

WS_EXPORTED unsigned gnu_GOMP_sections_next()
{
    static Next<decltype(gnu_GOMP_sections_next)> next("GOMP_sections_next");
    if (current && current->team) {
        Unit& unit = *current;
        unit.section = unit.section == Unit::before_first ? first_section(unit.sections, unit.units)
                       : unit.section ? next_section(unit.sections, unit.section, unit.units)
                                      : 0;
        return unit.section;
    }
    return next(__builtin_return_address(0))();
}
WS_GNU(GOMP_sections_next, "GOMP_1.0");

// ---- single: the first virtual thread's

WS_EXPORTED bool gnu_GOMP_single_start()
{
    static Next<decltype(gnu_GOMP_single_start)> next("GOMP_single_start");
    if (current && current->team)
        return current->units.lo == 0;
    if (current)
        current->watch->note(use::single);
    return next(__builtin_return_address(0))();
}
WS_GNU(GOMP_single_start, "GOMP_1.0");

// copyprivate. All wait until the first one has said where its variables are.
WS_EXPORTED void* gnu_GOMP_single_copy_start()
{
    static Next<decltype(gnu_GOMP_single_copy_start)> next("GOMP_single_copy_start");
    if (current && current->team) {
        Unit& unit = *current;
        if (unit.units.lo == 0)
            return nullptr;
        unit.team->barrier(unit);
        return window::load_acquire(unit.team->copied);
    }
    if (current)
        current->watch->note(use::barrier);
    return next(__builtin_return_address(0))();
}
WS_GNU(GOMP_single_copy_start, "GOMP_1.0");

WS_EXPORTED void gnu_GOMP_single_copy_end(void* variables)
{
    static Next<decltype(gnu_GOMP_single_copy_end)> next("GOMP_single_copy_end");
    if (current && current->team) {
        window::store_release(current->team->copied, variables);
        current->team->barrier(*current);
        return;
    }
    next(__builtin_return_address(0))(variables);
}
WS_GNU(GOMP_single_copy_end, "GOMP_1.0");

// ---- waiting

#define WS_GNU_BARRIER(name, version, result, value)                                                                      \
    WS_EXPORTED result gnu_##name()                                                                                   \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        void* const caller = __builtin_return_address(0);                                                             \
        if (current && waited_for(caller, loop::own_frame()))                                                         \
            return value;                                                                                             \
        return next(caller)();                                                                                        \
    }                                                                                                                 \
    WS_GNU(name, version)
WS_GNU_BARRIER(GOMP_barrier, "GOMP_1.0", void, void());
WS_GNU_BARRIER(GOMP_loop_end, "GOMP_1.0", void, void());
WS_GNU_BARRIER(GOMP_sections_end, "GOMP_1.0", void, void());
WS_GNU_BARRIER(GOMP_barrier_cancel, "GOMP_4.0", bool, false);
WS_GNU_BARRIER(GOMP_loop_end_cancel, "GOMP_4.0", bool, false);
WS_GNU_BARRIER(GOMP_sections_end_cancel, "GOMP_4.0", bool, false);

#define WS_GNU_END_NOWAIT(name)                                                                                           \
    WS_EXPORTED void gnu_##name()                                                                                     \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        if (!(current && current->team))                                                                              \
            next(__builtin_return_address(0))();                                                                      \
    }                                                                                                                 \
    WS_GNU(name, "GOMP_1.0")
WS_GNU_END_NOWAIT(GOMP_loop_end_nowait);
WS_GNU_END_NOWAIT(GOMP_sections_end_nowait);

// ---- all others but critical sections, atomic operations and memory, which are the same for every thread

// They take integers and pointers, none more than 12.
#define WS_GNU_OTHER(name, version)                                                                                       \
    WS_EXPORTED long gnu_##name(WS_12(long, WS_NAMED))                                                                \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        if (current)                                                                                                  \
            meet_other(#name);                                                                                        \
        return next(__builtin_return_address(0))(WS_12(, WS_NAMED));                                                  \
    }                                                                                                                 \
    WS_GNU(name, version)

// A virtual thread goes on, as where OMP_CANCELLATION is not set.
WS_EXPORTED bool gnu_GOMP_cancel(int which, bool now)
{
    static Next<decltype(gnu_GOMP_cancel)> next("GOMP_cancel");
    if (current)
        meet_other("GOMP_cancel");
    return current && current->team ? false : next(__builtin_return_address(0))(which, now);
}
WS_GNU(GOMP_cancel, "GOMP_4.0");
WS_EXPORTED bool gnu_GOMP_cancellation_point(int which)
{
    static Next<decltype(gnu_GOMP_cancellation_point)> next("GOMP_cancellation_point");
    return current && current->team ? false : next(__builtin_return_address(0))(which);
}
WS_GNU(GOMP_cancellation_point, "GOMP_4.0");

WS_GNU_OTHER(GOMP_doacross_post, "GOMP_4.5");
WS_GNU_OTHER(GOMP_doacross_wait, "GOMP_4.5");
WS_GNU_OTHER(GOMP_doacross_ull_post, "GOMP_4.5");
WS_GNU_OTHER(GOMP_doacross_ull_wait, "GOMP_4.5");
WS_GNU_OTHER(GOMP_loop_doacross_dynamic_start, "GOMP_4.5");
WS_GNU_OTHER(GOMP_loop_doacross_guided_start, "GOMP_4.5");
WS_GNU_OTHER(GOMP_loop_doacross_runtime_start, "GOMP_4.5");
WS_GNU_OTHER(GOMP_loop_doacross_static_start, "GOMP_4.5");
WS_GNU_OTHER(GOMP_loop_doacross_start, "GOMP_5.0");
WS_GNU_OTHER(GOMP_loop_ull_doacross_dynamic_start, "GOMP_4.5");
WS_GNU_OTHER(GOMP_loop_ull_doacross_guided_start, "GOMP_4.5");
WS_GNU_OTHER(GOMP_loop_ull_doacross_runtime_start, "GOMP_4.5");
WS_GNU_OTHER(GOMP_loop_ull_doacross_static_start, "GOMP_4.5");
WS_GNU_OTHER(GOMP_loop_ull_doacross_start, "GOMP_5.0");
WS_GNU_OTHER(GOMP_loop_ordered_static_start, "GOMP_1.0");
WS_GNU_OTHER(GOMP_loop_ordered_dynamic_start, "GOMP_1.0");
WS_GNU_OTHER(GOMP_loop_ordered_guided_start, "GOMP_1.0");
WS_GNU_OTHER(GOMP_loop_ordered_runtime_start, "GOMP_1.0");
WS_GNU_OTHER(GOMP_loop_ordered_start, "GOMP_5.0");
WS_GNU_OTHER(GOMP_loop_ull_ordered_static_start, "GOMP_2.0");
WS_GNU_OTHER(GOMP_loop_ull_ordered_dynamic_start, "GOMP_2.0");
WS_GNU_OTHER(GOMP_loop_ull_ordered_guided_start, "GOMP_2.0");
WS_GNU_OTHER(GOMP_loop_ull_ordered_runtime_start, "GOMP_2.0");
WS_GNU_OTHER(GOMP_loop_ull_ordered_start, "GOMP_5.0");
WS_GNU_OTHER(GOMP_loop_start, "GOMP_5.0");
WS_GNU_OTHER(GOMP_loop_ull_start, "GOMP_5.0");
WS_GNU_OTHER(GOMP_ordered_start, "GOMP_1.0");
WS_GNU_OTHER(GOMP_ordered_end, "GOMP_1.0");
WS_GNU_OTHER(GOMP_scope_start, "GOMP_5.1");
WS_GNU_OTHER(GOMP_sections2_start, "GOMP_5.0");
WS_GNU_OTHER(GOMP_task, "GOMP_2.0");
WS_GNU_OTHER(GOMP_taskwait, "GOMP_2.0");
WS_GNU_OTHER(GOMP_taskyield, "GOMP_3.0");
WS_GNU_OTHER(GOMP_taskgroup_start, "GOMP_4.0");
WS_GNU_OTHER(GOMP_taskgroup_end, "GOMP_4.0");
WS_GNU_OTHER(GOMP_taskloop, "GOMP_4.5");
WS_GNU_OTHER(GOMP_taskloop_ull, "GOMP_4.5");
WS_GNU_OTHER(GOMP_taskwait_depend, "GOMP_5.0");
WS_GNU_OTHER(GOMP_task_reduction_remap, "GOMP_5.0");
WS_GNU_OTHER(GOMP_taskgroup_reduction_register, "GOMP_5.0");
WS_GNU_OTHER(GOMP_taskgroup_reduction_unregister, "GOMP_5.0");
WS_GNU_OTHER(GOMP_workshare_task_reduction_unregister, "GOMP_5.0");
WS_GNU_OTHER(GOMP_target, "GOMP_4.0");
WS_GNU_OTHER(GOMP_target_data, "GOMP_4.0");
WS_GNU_OTHER(GOMP_target_update, "GOMP_4.0");
WS_GNU_OTHER(GOMP_target_end_data, "GOMP_4.0");
WS_GNU_OTHER(GOMP_target_ext, "GOMP_4.5");
WS_GNU_OTHER(GOMP_target_data_ext, "GOMP_4.5");
WS_GNU_OTHER(GOMP_target_update_ext, "GOMP_4.5");
WS_GNU_OTHER(GOMP_target_enter_exit_data, "GOMP_4.5");
WS_GNU_OTHER(GOMP_teams, "GOMP_4.0");
WS_GNU_OTHER(GOMP_teams4, "GOMP_5.1");
WS_GNU_OTHER(GOMP_teams_reg, "GOMP_5.0");

} // namespace ws::openmp
